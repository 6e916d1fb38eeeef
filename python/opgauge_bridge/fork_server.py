# SPDX-License-Identifier: Apache-2.0
"""`python -m opgauge_bridge.fork_server`: imports once and forks a pytest child a request, over the
socket whose number is in OPGAUGE_FORK_SERVER_FD (docs/fork_server.md). It ends with its parent, or
when the parent closes the socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from typing import Any

from .channel import EXIT_PARENT_GONE, EXIT_PROTOCOL_ERROR, die_with_parent, jsonable
from .fork_child import Birth, variables
from .fork_imports import Imports

PROTOCOL = 1
_FDS = 2  # channel and log


class Link:
    """Messages of the parent, one JSON line each, with the files that came along."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self.socket = socket.socket(fileno=fd)

    def receive(self) -> tuple[dict[str, Any], list[int]]:
        """Ends the process where there is no more."""
        data, fds, _, _ = socket.recv_fds(self.socket, 1 << 16, _FDS)
        while data and not data.endswith(b"\n"):
            more = self.socket.recv(1 << 16)
            data = data + more if more else b""
        if not data:
            os._exit(0)
        try:
            message = json.loads(data)
        except ValueError:
            os._exit(EXIT_PROTOCOL_ERROR)
        return message, fds

    def send(self, type_: str, **members: Any) -> None:
        line = json.dumps({"type": type_, **jsonable(members)}, separators=(",", ":")) + "\n"
        try:
            self.socket.sendall(line.encode())
        except OSError:
            os._exit(EXIT_PARENT_GONE)


def _serve(link: Link, birth: Birth) -> None:
    while True:
        request, fds = link.receive()
        try:
            reason = birth.refusal(request) if len(fds) == _FDS else "its files did not come"
            if reason:
                link.send("refused", reason=reason)
            else:
                link.send("forked", pid=birth.start(request, *fds))
        except (OSError, KeyError, TypeError, ValueError) as error:
            link.send("refused", reason=f"{type(error).__name__}: {error}")
        finally:
            for fd in fds:
                with contextlib.suppress(OSError):
                    os.close(fd)


def main() -> None:
    link = Link(int(os.environ.pop("OPGAUGE_FORK_SERVER_FD")))
    die_with_parent()
    start, _ = link.receive()
    if start.get("protocol") != PROTOCOL:
        os._exit(EXIT_PROTOCOL_ERROR)
    if os.getppid() != start["parent"]:
        os._exit(EXIT_PARENT_GONE)
    imports = Imports(start["backend"], start["imports"], start.get("lend"), start.get("paths", []))
    link.send("ready", protocol=PROTOCOL, **imports.ready())
    if imports.problem:
        sys.exit(0)
    birth = Birth(
        server=link.socket,
        parent=start["parent"],
        interpreter=start["interpreter"],
        directory=start["working_directory"],
        environment=variables(start["environment"]),
        forked=imports.random.forked,
    )
    _serve(link, birth)


if __name__ == "__main__":
    main()
