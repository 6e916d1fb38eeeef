# SPDX-License-Identifier: Apache-2.0
"""The device guard: before anything is measured, the parent compares the device that this process
really sees with the planned one, and ends the child where they differ."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from . import conformance
from .channel import EXIT_PROTOCOL_ERROR, EXIT_STOPPED, EXIT_UNTRUSTED
from .device_report import device_report
from .session import session as our_session
from .turns import turn


# After the corpus is imported (the framework is loaded then) and before the first test.
@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: Any) -> None:
    ours = our_session()
    option = session.config.option
    if ours is None or not session.items or option.collectonly:
        return
    # pytest runs nothing then, and the reason is the collection, not the device.
    if session.testsfailed and not option.continue_on_collection_errors:
        return
    answer = ours.channel.ask("device", **device_report(ours.job))
    code = EXIT_STOPPED if answer.get("type") == "stop" else EXIT_PROTOCOL_ERROR
    if answer.get("type") == "go":
        if not ours.job.get("conformance"):
            return
        turn().begin()
        trusted = conformance.check(ours.channel, ours.job)
        turn().end()
        if trusted:
            return
        code = EXIT_UNTRUSTED  # another child measures
    sys.stdout.flush()
    sys.stderr.flush()
    # At once: tearing down a framework on a wrong device may hang.
    os._exit(code)
