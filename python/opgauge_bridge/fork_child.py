# SPDX-License-Identifier: Apache-2.0
"""A child of the fork server: forked twice, so that it becomes a child of the process above the
server, and from then on what `python -m pytest` would have been."""

from __future__ import annotations

import atexit
import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from . import channel as process
from . import spent
from .channel import EXIT_PARENT_GONE, die_with_parent
from .fork_imports import fork

_PID_BYTES = 4
_GO = b"g"
# Variables of ours change from child to child; others may have had a say in the imports.
_OURS = "OPGAUGE_"


def variables(entries: list[str]) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in entries if "=" in entry)


@dataclass
class Birth:
    """What all children of one server have in common."""

    server: socket.socket
    parent: int  # whose child each is to be
    interpreter: str
    directory: str
    environment: dict[str, str]  # the server's own, as it was given
    forked: Callable[[], None]  # run in each child

    def refusal(self, request: dict[str, Any]) -> str:
        """Why a request would not get what it asks for; "" where it does."""
        argv, wanted = request["argv"], variables(request["environment"])
        if argv[:1] != [self.interpreter]:
            return f"its interpreter is not {self.interpreter}"
        if argv[1:3] != ["-m", "pytest"]:
            return "it does not run pytest"
        if request["working_directory"] != self.directory:
            return f"its working directory is not {self.directory}"
        for name in sorted(wanted.keys() | self.environment.keys()):
            if not name.startswith(_OURS) and wanted.get(name) != self.environment.get(name):
                return f"its variable {name} is another"
        return ""

    def start(self, request: dict[str, Any], channel: int, log: int) -> int:
        """The number of a new child. It begins its work once this has returned."""
        go_reader, go_writer = os.pipe()
        pid_reader, pid_writer = os.pipe()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        _flush()
        try:
            between = fork()
            if between == 0:
                _fork_again(
                    lambda: self._live(request, channel, log, go_reader),
                    pid_writer,
                    (go_writer, pid_reader),
                )
            # Its end hands the child on to the process above, which has asked to adopt orphans.
            os.waitpid(between, 0)
            os.set_blocking(pid_reader, False)
            number = os.read(pid_reader, _PID_BYTES)
            os.write(go_writer, _GO)
        except BlockingIOError:
            raise OSError("the second fork failed") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
            for fd in (go_reader, go_writer, pid_reader, pid_writer):
                os.close(fd)
        return int.from_bytes(number, "little")

    def _live(self, request: dict[str, Any], channel: int, log: int, go: int) -> NoReturn:
        code = 1
        try:
            self._become_a_child(request, channel, log, go)
            code = _run_pytest(request["argv"][3:])
            atexit._run_exitfuncs()
        except BaseException:
            traceback.print_exc()
        finally:
            _flush()
            os._exit(code)

    def _become_a_child(self, request: dict[str, Any], channel: int, log: int, go: int) -> None:
        process.forked = True
        spent.begin_process()
        self.server.close()
        if os.read(go, 1) != _GO:
            os._exit(EXIT_PARENT_GONE)
        os.close(go)
        die_with_parent()
        if os.getppid() != self.parent:
            os._exit(EXIT_PARENT_GONE)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        self._set_environment({**variables(request["environment"]), process.VARIABLE: str(channel)})
        os.chdir(request["working_directory"])
        self.forked()
        signal.pthread_sigmask(signal.SIG_SETMASK, [])

    def _set_environment(self, wanted: dict[str, str]) -> None:
        """Only what differs from the server's: what an import has set stays set."""
        for name in self.environment.keys() - wanted.keys():
            os.environ.pop(name, None)
        for name, value in wanted.items():
            if self.environment.get(name) != value:
                os.environ[name] = value


def _fork_again(live: Callable[[], None], numbers: int, others: tuple[int, ...]) -> NoReturn:
    """The process between: tells the child's number through the pipe `numbers` and ends. A child
    closes the ends that are its server's."""
    try:
        pid = fork()
        if pid == 0:
            for fd in (numbers, *others):
                os.close(fd)
            live()
        # Here, so that the group exists before anybody signals it.
        os.setpgid(pid, pid)
        os.write(numbers, pid.to_bytes(_PID_BYTES, "little"))
    finally:
        os._exit(0)


def _run_pytest(arguments: list[str]) -> int:
    sys.argv = ["pytest", *arguments]
    try:
        runpy.run_module("pytest", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0)
        print(end.code, file=sys.stderr)
        return 1
    return 0


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # closed by a test
            continue
