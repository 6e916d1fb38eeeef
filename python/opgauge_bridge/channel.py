# SPDX-License-Identifier: Apache-2.0
"""The channel to the parent: one JSON object a line over an inherited socket.

docs/child_protocol.md is the specification. Without OPGAUGE_CHANNEL_FD there is no parent and the
plugins do nothing.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import signal
import socket
from typing import Any

from . import spent

PROTOCOL = 1
VARIABLE = "OPGAUGE_CHANNEL_FD"  # holds the number of the channel's socket
EXIT_PARENT_GONE = 86
EXIT_STOPPED = 87
EXIT_PROTOCOL_ERROR = 88
EXIT_UNTRUSTED = 89
# Whether a fork server (fork_child.py) has made this process.
forked = False
_PR_SET_PDEATHSIG = 1
_LONGEST_TEXT = 4000


def die_with_parent() -> None:
    """Asks the kernel for SIGKILL at the parent's death; harmless where there is no prctl."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def jsonable(value: Any) -> Any:
    """`value` as JSON can hold it: NaN and infinity become None, other objects text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {_text(str(key)): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    return _text(str(value))


def _text(value: str) -> str:
    """Cut to a bearable length; half a surrogate pair (a file name not in UTF-8) is no JSON."""
    return value[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8")


class Channel:
    """One conversation with the parent. `tell` sends, `ask` sends and waits for the answer."""

    def __init__(self, fd: int) -> None:
        os.set_inheritable(fd, False)
        self._socket = socket.socket(fileno=fd)
        self._socket.setblocking(True)
        self._buffer = b""
        self._seq = 0
        die_with_parent()

    def tell(self, type_: str, **members: Any) -> int:
        """Sends one message and returns its number. Ends the process if the parent is gone."""
        self._seq += 1
        message = {"type": type_, "seq": self._seq, **jsonable(members)}
        if taken := spent.take():
            message["spent"] = taken
        line = json.dumps(message, allow_nan=False, separators=(",", ":")) + "\n"
        try:
            self._socket.sendall(line.encode("utf-8", "replace"))
        except OSError:
            os._exit(EXIT_PARENT_GONE)
        return self._seq

    def ask(self, type_: str, **members: Any) -> dict[str, Any]:
        """Sends a question and returns the parent's answer."""
        seq = self.tell(type_, **members)
        with spent.waiting():
            answer = self._read_line()
        if answer.get("to") != seq or "type" not in answer:
            os._exit(EXIT_PROTOCOL_ERROR)
        return answer

    def _read_line(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            try:
                data = self._socket.recv(65536)
            except OSError:
                data = b""
            if not data:
                os._exit(EXIT_PARENT_GONE)
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        try:
            answer = json.loads(line)
        except ValueError:
            os._exit(EXIT_PROTOCOL_ERROR)
        if not isinstance(answer, dict):
            os._exit(EXIT_PROTOCOL_ERROR)
        return answer


def open_channel() -> Channel | None:
    """The channel that the parent left open, or None where the plugin runs without a parent."""
    number = os.environ.pop(VARIABLE, "")
    return Channel(int(number)) if number.isdigit() else None
