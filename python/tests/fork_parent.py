# SPDX-License-Identifier: Apache-2.0
"""A process with a fork server, as a lane is one, and children of the server beside plain ones."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fake_parent import BRIDGE, DATA, DEADLINE_S, Child, Message, Rule, serve

_SUBREAPER = 36
STUBS = DATA / "corpus_flaggems" / "stubs"


@contextlib.contextmanager
def adopting_orphans() -> Iterator[None]:
    """A grandchild becomes a child of this process when its parent ends."""
    libc = ctypes.CDLL(None)
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SUBREAPER, 0, 0, 0, 0)


def variables(*folders: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    path = os.pathsep.join(str(folder) for folder in (BRIDGE, *folders))
    return {**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **more}


class Server:
    """Started and ready, or with a `problem`."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str],
        *imports: str,
        backend: str = "fake",
        lend: Message | None = None,
    ) -> None:
        self.folder = folder
        self.environment = environment
        self._ours, theirs = socket.socketpair()
        self._ours.settimeout(DEADLINE_S)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "opgauge_bridge.fork_server"],
            cwd=folder,
            env={**environment, "OPGAUGE_FORK_SERVER_FD": str(theirs.fileno())},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        self.ready = self.ask(
            {
                "type": "start",
                "protocol": 1,
                "parent": os.getpid(),
                "interpreter": sys.executable,
                "working_directory": str(folder),
                "environment": self._entries(environment),
                "backend": backend,
                "imports": list(imports),
                "lend": lend,
            }
        )
        self.problem = self.ready["problem"]

    def ask(self, message: Message, *fds: int) -> Message:
        line = json.dumps(message).encode() + b"\n"
        if fds:
            sent = socket.send_fds(self._ours, [line], list(fds))
            line = line[sent:]
        self._ours.sendall(line)
        data = b""
        while not data.endswith(b"\n"):
            more = self._ours.recv(65536)
            assert more, "the server has ended"
            data += more
        answer: Message = json.loads(data)
        return answer

    @staticmethod
    def _entries(environment: dict[str, str]) -> list[str]:
        return [f"{name}={value}" for name, value in environment.items()]

    def fork(self, channel: int, log: int, *arguments: str, **changes: Any) -> Message:
        """The answer to a request; `changes` replaces members of it."""
        environment = changes.pop("environment", self.environment)
        request = {
            "type": "fork",
            "argv": [sys.executable, "-m", "pytest", *arguments],
            "working_directory": str(self.folder),
            "environment": self._entries({**environment, "OPGAUGE_CHANNEL_FD": "999"}),
            **changes,
        }
        return self.ask(request, channel, log)

    def run(
        self,
        log: Path,
        *arguments: str,
        rules: dict[str, Message | Rule] | None = None,
        **more: Any,
    ) -> Child:
        """One child from start to end."""
        child = Child()
        ours, theirs = socket.socketpair()
        thread = threading.Thread(target=serve, args=(ours, rules or {}, child), daemon=True)
        with theirs, log.open("wb") as file:
            answer = self.fork(theirs.fileno(), file.fileno(), *arguments, **more)
        assert answer["type"] == "forked", answer
        thread.start()
        child.exit_code = wait_for(answer["pid"])
        thread.join(DEADLINE_S)
        child.output = log.read_text(encoding="utf-8", errors="replace")
        return child

    def close(self) -> int:
        self._ours.close()
        return self.process.wait(DEADLINE_S)


def wait_for(pid: int) -> int:
    """The exit code of a child of this process, negative for a signal."""
    fd = os.pidfd_open(pid)
    try:
        assert select.select([fd], [], [], DEADLINE_S)[0], "the child does not end"
    finally:
        os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def idle_files_of(pid: int) -> int:
    """How many files a server has open once it has closed those of its last child, which it does
    after it has answered: the fewest seen in half a second."""
    until = time.monotonic() + 0.5
    fewest = len(os.listdir(f"/proc/{pid}/fd"))
    while time.monotonic() < until:
        fewest = min(fewest, len(os.listdir(f"/proc/{pid}/fd")))
        time.sleep(0.01)
    return fewest


def resident_kib(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"process {pid} has no memory")


def until_ended(pid: int) -> bool:
    """Of a process that is no child of this one."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        except OSError:
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.01)
    return False
