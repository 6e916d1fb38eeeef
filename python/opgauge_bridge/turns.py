# SPDX-License-Identifier: Apache-2.0
"""The turn of this process on a device that other children use too: whoever has it may launch work
there. A test has it but while Triton compiles or a compiled kernel is awaited, so that one child
measures while others start, compile and end. docs/child_protocol.md, "Turns".
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import backends
from .session import Session, session


class Turn:
    """Does nothing where the parent's job says that the device is not shared, or without one."""

    def __init__(self, own: Session | None) -> None:
        self._session = own
        # Whether other children use the device.
        self.shared = own is not None and bool(own.job.get("turns"))
        self._pid = os.getpid()
        self._device: Any = None
        self._has = False
        self._kept = 0
        self._compiling = 0
        self._left = False  # for the compilation that goes on

    def begin(self) -> None:
        """Waits for the turn."""
        if self.shared and self._session is not None and not self._has:
            self._session.channel.ask("turn")
            self._has = True

    def end(self) -> None:
        """Gives it to another child, once all that was launched is done."""
        if self._session is None or not self._has:
            return
        self._synchronize(self._session)
        self._has = False
        self._session.channel.tell("turn_end")

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """While a side is recorded or timed: no compilation gives the turn away."""
        self._kept += 1
        try:
            yield
        finally:
            self._kept -= 1

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """While nothing is launched: others may have it."""
        leaves = self._may_leave()
        if leaves:
            self.end()
        try:
            yield
        finally:
            if leaves:
                self.begin()

    def _may_leave(self) -> bool:
        """A compile worker or another thread must not use the channel."""
        mine = os.getpid() == self._pid and threading.current_thread() is threading.main_thread()
        return mine and self._has and not self._kept

    def _synchronize(self, own: Session) -> None:
        # An error of the work comes again where the corpus waits for it.
        with contextlib.suppress(Exception):
            if self._device is None:
                self._device = backends.device(str(own.job.get("backend", "")))
            if self._device is not None:
                self._device.synchronize()

    # -- compiling ----------------------------------------------------------------------------
    def watch(self) -> None:
        """Hooks Triton's compiler: what it does is done without the turn, unless it finds the
        kernel in its cache folder."""
        from .tuning import compiles  # which waits for turns itself

        if not self.shared or not compiles.watch():
            return
        compiles.listener = self._compilation_begins
        # A kernel takes `compile` from the package when it is launched for the first time.
        for name in ("triton.compiler", "triton.compiler.compiler"):
            module = sys.modules.get(name)
            original = getattr(module, "compile", None)
            if callable(original) and not hasattr(original, "opgauge_turn"):
                module.compile = self._around(original)  # type: ignore[union-attr]

    def _around(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile_(*args: Any, **kwargs: Any) -> Any:
            self._compiling += 1
            try:
                return original(*args, **kwargs)
            finally:
                self._compiling -= 1
                if self._left and not self._compiling:
                    self._left = False
                    self.begin()

        compile_.opgauge_turn = True  # type: ignore[attr-defined]
        return compile_

    def _compilation_begins(self) -> None:
        # Outside of `compile_` nothing would take the turn back.
        if self._compiling and self._may_leave():
            self._left = True
            self.end()


_turn: Turn | None = None


def turn() -> Turn:
    """That of this process."""
    global _turn
    if _turn is None:
        _turn = Turn(session())
    return _turn
