# SPDX-License-Identifier: Apache-2.0
"""The child's side of the tuning messages: asks the parent once for each key and keeps the answer,
so that a timed section never waits for the channel."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from typing import Any

from ..channel import EXIT_PROTOCOL_ERROR, EXIT_STOPPED, Channel
from ..errors import first_line
from .configs import Fields, matches, plain
from .facts import Facts, facts_of, raw_key, tuning_timer
from .sweep import Sweep

# These are the device's or the host's state, not a configuration's fault.
_NOT_THE_CONFIG = ("OutOfMemoryError", "MemoryError")


class Entry:
    """One kernel at one key, as the parent and this process know it."""

    def __init__(self, number: int) -> None:
        self.id = number
        self.fields: Fields | None = None  # the winner
        self.replayed = False  # the parent named it
        self.ran = False
        self.checked = False  # that the parent's winner compiles
        self.excluded: list[Fields] = []
        self.only: list[Fields] = []  # where it is not empty: no others are candidates

    def obey(self, answer: dict[str, Any]) -> None:
        """An answer `tune`."""
        self.excluded = list(answer.get("exclude") or [])
        self.only = list(answer.get("only") or [])

    def excludes(self, config: Any) -> bool:
        if any(matches(config, fields) for fields in self.excluded):
            return True
        return bool(self.only) and not any(matches(config, fields) for fields in self.only)


def failure_kind(error: BaseException) -> str | None:
    """Of a configuration that does not compile or launch; None where it is not to blame."""
    cause: BaseException | None = error
    kind = "error"
    for _ in range(8):  # a chain of causes can be a circle
        if cause is None:
            break
        names = {part.__name__ for part in type(cause).__mro__}
        if names & set(_NOT_THE_CONFIG):
            return None
        if "OutOfResources" in names:
            kind = "out_of_resources"
        elif isinstance(cause, (TimeoutError, subprocess.TimeoutExpired)):
            kind = "timeout"
        cause = cause.__cause__
    return kind


class Desk:
    """Owns every entry; the caches and the hooks come here."""

    def __init__(
        self,
        channel: Channel,
        alive: Callable[[], bool],
        timer_name: Callable[[Any], str] = tuning_timer,
    ) -> None:
        self._channel = channel
        self._alive = alive
        self._timer_name = timer_name
        self._entries: dict[tuple[Any, ...], Entry] = {}
        self.launches = 0  # through tuners that have a choice
        self.lookups = 0
        self.asked = 0
        self.used = 0
        self.tuned = 0

    def counts(self) -> dict[str, int]:
        names = ("launches", "asked", "used", "tuned")
        return {name: getattr(self, name) for name in names}

    # -- winner -------------------------------------------------------------------------------
    def entry(self, tuner: Any, args: Any, kwargs: dict[str, Any], space: str, key: Any) -> Entry:
        """Of a tuner at a key. Two tuners with the same facts share it."""
        facts = facts_of(tuner)._replace(tuning_timer=self._timer_name(tuner))
        name = (facts, tuple(tuner.keys), space, key)
        entry = self._entries.get(name)
        if entry is None:
            entry = self._entries[name] = Entry(len(self._entries) + 1)
            self._ask(
                entry,
                facts,
                space=space,
                key=[plain(part) for part in key],
                raw_key=raw_key(tuner, args, kwargs, key),
                configs=len(tuner.configs),
            )
        return entry

    def _ask(self, entry: Entry, facts: Facts, **members: Any) -> None:
        self.asked += 1
        answer = self._channel.ask(
            "winner", id=entry.id, kernel=facts.kernel, facts=facts.message(), **members
        )
        if self._type_of(answer, "use", "tune") == "use":
            self.used += 1
            entry.fields = dict(answer["config"])
            entry.replayed = True
        else:
            entry.obey(answer)

    def _type_of(self, answer: dict[str, Any], *known: str) -> str:
        """The type of an answer; the child ends where it is told to or cannot understand."""
        type_ = str(answer["type"])
        if type_ == "stop":
            os._exit(EXIT_STOPPED)
        if type_ not in known:
            os._exit(EXIT_PROTOCOL_ERROR)
        return type_

    # -- tuned --------------------------------------------------------------------------------
    def tell_tuned(self, entry: Entry, sweep: Sweep, fields: Fields) -> None:
        self.tuned += 1
        for members in sweep.messages(fields):
            self._channel.tell("tuned", id=entry.id, **members)

    def warn(self, text: str) -> None:
        self._channel.tell("log", level="warning", text=text)

    # -- winner_failed ------------------------------------------------------------------------
    def evict(self, entry: Entry, error: BaseException, can_drop: bool) -> bool:
        """Tells of a replayed winner that does not run. True: forget it and tune live."""
        kind = failure_kind(error)
        if kind is None or not self._alive():
            return False
        answer = self._channel.ask(
            "winner_failed",
            id=entry.id,
            config=entry.fields,
            kind=kind,
            message=first_line(error, 2000),
            can_drop=can_drop,
        )
        if self._type_of(answer, "tune", "go") == "go" or not can_drop:
            return False
        entry.obey(answer)
        entry.fields = None
        entry.replayed = False
        return True
