# SPDX-License-Identifier: Apache-2.0
"""What the plugins of one child share: the channel and the parent's job."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
from typing import Any

from . import backends
from . import channel as process
from .channel import EXIT_PROTOCOL_ERROR, PROTOCOL, Channel, open_channel


def _tell_stacks() -> None:
    """The parent sends this signal to a child that hangs. A number of its own: pytest may put a
    file in the place of stderr."""
    with contextlib.suppress(OSError, ValueError):
        faulthandler.register(signal.SIGUSR1, file=os.dup(2), all_threads=True, chain=False)


class Session:
    """One child's conversation, begun before the corpus is imported."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        _tell_stacks()
        # Read now: a variable set after the framework's import would show nothing.
        visible = {name: os.environ[name] for name in backends.VISIBILITY if name in os.environ}
        self.job: dict[str, Any] = channel.ask(
            "hello",
            protocol=PROTOCOL,
            pid=os.getpid(),
            child="pytest",
            version=os.environ.get("OPGAUGE_VERSION", "unknown"),
            visible=visible,
            forked=process.forked,
        )
        if self.job.get("type") != "job" or self.job.get("protocol") != PROTOCOL:
            os._exit(EXIT_PROTOCOL_ERROR)


_session: Session | None = None
_opened = False


def session() -> Session | None:
    """The one session of this process, or None without a parent."""
    global _session, _opened
    if not _opened:
        _opened = True
        channel = open_channel()
        _session = Session(channel) if channel else None
    return _session
