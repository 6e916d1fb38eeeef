# SPDX-License-Identifier: Apache-2.0
"""What the plugins of one child share: the channel and the parent's job."""

from __future__ import annotations

import os
from typing import Any

from . import backends
from .channel import EXIT_PROTOCOL_ERROR, PROTOCOL, Channel, open_channel


class Session:
    """One child's conversation, begun before the corpus is imported."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        # Read now: a variable set after the framework's import would show nothing.
        visible = {name: os.environ[name] for name in backends.VISIBILITY if name in os.environ}
        self.job: dict[str, Any] = channel.ask(
            "hello",
            protocol=PROTOCOL,
            pid=os.getpid(),
            child="pytest",
            version=os.environ.get("OPGAUGE_VERSION", "unknown"),
            visible=visible,
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
