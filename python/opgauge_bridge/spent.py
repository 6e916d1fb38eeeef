# SPDX-License-Identifier: Apache-2.0
"""What this process spends its time on where the parent cannot see it from the messages alone:
compiling, timing a tuner's configurations, comparing outputs. Each second counts once, for the
innermost of what goes on; the channel adds the sums to the next message (its member `spent`)."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator

COMPILE = "compile"
TUNE = "tune"
CHECK = "check"

_SHORTEST_S = 1e-6


class Spent:
    """Sums of the innermost open part; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: list[str] = []  # "": what goes on is no part
        self._since = 0.0
        self._sums: dict[str, float] = {}

    def _settle(self) -> None:
        now = self._clock()
        if self._open and self._open[-1]:
            name = self._open[-1]
            self._sums[name] = self._sums.get(name, 0.0) + now - self._since
        self._since = now

    @contextlib.contextmanager
    def on(self, part: str) -> Iterator[None]:
        """While it goes on, what is around it does not count."""
        self._settle()
        self._open.append(part)
        try:
            yield
        finally:
            self._settle()
            self._open.pop()

    def take(self) -> dict[str, float]:
        """The sums since the last call, also of what still goes on."""
        self._settle()
        taken = {name: round(each, 6) for name, each in self._sums.items() if each >= _SHORTEST_S}
        self._sums = {}
        return taken


_spent = Spent()
_pid = os.getpid()


def _counts() -> bool:
    """A compile worker's time passes beside the main thread's, and it tells nothing."""
    return os.getpid() == _pid and threading.current_thread() is threading.main_thread()


def on(part: str) -> contextlib.AbstractContextManager[None]:
    return _spent.on(part) if _counts() else contextlib.nullcontext()


def waiting() -> contextlib.AbstractContextManager[None]:
    """While the parent is asked: it knows itself how long it took."""
    return on("")


def take() -> dict[str, float]:
    return _spent.take() if _counts() else {}


def begin_process() -> None:
    """In a child of a fork server: what the server did is not the child's."""
    global _spent, _pid
    _spent = Spent()
    _pid = os.getpid()
