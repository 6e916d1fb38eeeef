# SPDX-License-Identifier: Apache-2.0
"""What a fork server does once: imports, and finds out whether a process forked from it can do all
that a fresh one can."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from . import backends
from .errors import first_line
from .fork_random import RandomStates
from .tuning.autotuner import remember_tuners
from .tuning.imports import after_import

_TRIAL_S = 20.0
_TRIAL_IN_USE = 3


class Refused(Exception):
    """Why this process is no fork server."""


class Imports:
    """The imports of one server. `problem` is "" where children may be forked."""

    def __init__(
        self,
        backend: str,
        modules: list[str],
        lend: dict[str, Any] | None,
        paths: list[str] | None = None,
    ) -> None:
        self._backend = backend
        self._lend = lend
        self._paths = paths or []
        begin = time.monotonic()
        self.modules: list[str] = []
        self.problem = ""
        try:
            self._import_all(modules)
            self._check()
        except Refused as reason:
            self.problem = str(reason)
        self.seconds = time.monotonic() - begin

    def ready(self) -> dict[str, Any]:
        """Members of the message `ready`."""
        return {
            "problem": self.problem or None,
            "seconds": self.seconds,
            "modules": self.modules,
            "threads": len(os.listdir("/proc/self/task")),
        }

    def _import_all(self, modules: list[str]) -> None:
        for name in ("pytest", "torch"):
            if name in ("pytest", *modules):
                self._import(name)
        loan = self._step("lend the device's facts", self._loan)
        self.random = RandomStates()
        after_import({"triton.runtime.autotuner": remember_tuners})
        with loan.lent() if loan is not None else contextlib.nullcontext(), _found_in(self._paths):
            try:
                for name in modules:
                    if name not in self.modules:
                        self._import(name)
            finally:
                # An import that goes on without the device has imported something else.
                if loan is not None and loan.refused:
                    raise Refused(f"the import uses the device at {loan.refused[0]}") from None
        self.random.imported()

    def _loan(self) -> backends.Loan | None:
        return backends.lend(self._backend, self._lend)

    def _import(self, name: str) -> None:
        self._step(f"import {name}", lambda: importlib.import_module(name))
        self.modules.append(name)

    def _step(self, what: str, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # also pytest's own, that a module raises to be left out
            raise Refused(f"cannot {what}: {first_line(error)}") from error

    def _check(self) -> None:
        why = self._step("ask the framework", lambda: backends.in_use(self._backend))
        if why:
            raise Refused(f"the import has initialised the device: {why}")
        main = threading.main_thread()
        others = [each.name for each in threading.enumerate() if each is not main]
        if others:
            raise Refused(f"the import left threads running, no fork has them: {', '.join(others)}")
        _close_databases()
        gc.collect()
        why = _trial(self._backend)
        if why:
            raise Refused(why)
        # What is imported is shared with every child and need not be searched by any.
        gc.freeze()


@contextlib.contextmanager
def _found_in(paths: list[str]) -> Iterator[None]:
    """Modules are looked for in `paths` first. A child's pytest adds these by itself."""
    sys.path[:0] = paths
    try:
        yield
    finally:
        for path in paths:
            with contextlib.suppress(ValueError):  # an import has taken it out
                sys.path.remove(path)


def _close_databases() -> None:
    """A connection must not be used by two processes: each child opens its own."""
    engine = getattr(sys.modules.get("sqlalchemy"), "Engine", None)
    if engine is None:
        return
    for each in gc.get_objects():
        if isinstance(each, engine):
            each.dispose()


def _trial(backend: str) -> str:
    """Forks one process that asks the framework and has the host's threads work; what they were
    before the fork can make them wait for ever."""
    pid = fork()
    if pid == 0:
        code = 1
        try:
            code = _TRIAL_IN_USE if backends.in_use(backend) else 0
            with contextlib.suppress(Exception):
                sys.modules["torch"].ones(1 << 20).sum().item()
        finally:
            os._exit(code)
    deadline = time.monotonic() + _TRIAL_S
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code == _TRIAL_IN_USE:
                return "a forked process cannot initialise the device"
            return f"a forked process ended with {code}" if code else ""
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return f"a forked process did no work in {_TRIAL_S:g} s: the import has used the host's threads"


def fork() -> int:
    """os.fork without the advice against threads: what those of libraries do is tried above."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()
