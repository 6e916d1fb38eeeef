# SPDX-License-Identifier: Apache-2.0
"""Stands between a corpus's autotuners and their memory (docs/tuning.md): the parent names winners
or has them tuned live, and learns every configuration's times. The corpus's files stay untouched
and its own store is neither read nor written."""

from __future__ import annotations

import sys
from typing import Any

from .. import backends
from ..channel import Channel
from ..session import Session
from .ahead import Ahead
from .autotuner import TunerHooks
from .desk import Desk
from .flaggems import LaunchHooks, StoreHooks
from .imports import after_import
from .racing import Racing
from .runs import Runs


class Hooks:
    """All tuning hooks of one child."""

    def __init__(self, channel: Channel, backend: str, tune: dict[str, Any] | None = None) -> None:
        self._channel = channel
        self._backend = backend
        racing = Racing(channel.tell, backend, tune or {})
        self._desk = Desk(channel, self._alive, racing.timer_name)
        self.runs = Runs(self._desk, Ahead(channel.tell, backend, tune or {}), racing)
        self._tuners = TunerHooks(self.runs, self._desk.warn)
        self._store = StoreHooks(self.runs)
        self._launches = LaunchHooks(self.runs)

    def _alive(self) -> bool:
        try:
            device = backends.device(self._backend)
            return device is None or bool(device.alive())
        except Exception:  # not even its object can be made
            return False

    def install(self) -> None:
        after_import(
            {
                "triton.runtime.autotuner": self._tuners.hook,
                "flag_gems.utils.models.sql": self._store.hook,
                "flag_gems.utils.libentry": self._launches.hook,
            }
        )

    def tell_hooked(self) -> None:
        """After collection. A corpus may have the classes under another name."""
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", {})
            if "SQLPersistantModel" in names:
                self._store.hook(module)
            if "LibEntry" in names:
                self._launches.hook(module)
        self._channel.tell(
            "event",
            name="tuning_hooks",
            tuners=len(self._tuners.classes),
            model=self._store.hooked,
        )

    def tell_end(self) -> None:
        self._channel.tell("event", name="tuning", **self._desk.counts())
        launched = self._desk.launches or self._tuners.launched_unseen()
        if launched and not self._desk.lookups and not self._desk.asked:
            self._channel.tell(
                "log",
                level="error",
                text="tuned kernels were launched, but no tuning hook intercepted anything: no "
                "winner was recorded or replayed; run with --tune off to measure all the same",
            )


_hooks: Hooks | None = None


def install(session: Session) -> None:
    """Before the corpus is imported. With mode "off" there is no hook at all."""
    global _hooks
    tune = session.job.get("tune") or {}
    if tune.get("mode", "off") != "off" and _hooks is None:
        _hooks = Hooks(session.channel, str(session.job.get("backend", "")), tune)
        _hooks.install()


def tell_hooked() -> None:
    if _hooks is not None:
        _hooks.tell_hooked()


def tell_end() -> None:
    if _hooks is not None:
        _hooks.tell_end()


def begin_case() -> None:
    """What was launched between cases, while inputs were made, belongs to no case."""
    if _hooks is not None:
        _hooks.runs.launched.clear()


def winners() -> list[int] | None:
    """The ids of all keys whose kernels this case launched; None without hooks."""
    return sorted(_hooks.runs.launched) if _hooks is not None else None
