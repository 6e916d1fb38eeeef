# SPDX-License-Identifier: Apache-2.0
"""The device guard: before anything is measured, the parent compares the device that this process
really sees with the planned one, and ends the child where they differ."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Any

import pytest

from . import backends
from .channel import EXIT_PROTOCOL_ERROR, EXIT_STOPPED
from .session import session as our_session


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _report(job: dict[str, Any]) -> dict[str, Any]:
    gems = sys.modules.get("flag_gems")
    facts: dict[str, Any] = {
        "backend": "unknown",
        "count": None,
        "torch": getattr(sys.modules.get("torch"), "__version__", _version("torch")),
        "triton": getattr(sys.modules.get("triton"), "__version__", _version("triton")),
        "python": platform.python_version(),
        "corpus": {"flag_gems": getattr(gems, "__version__", None)} if gems else {},
    }
    try:
        facts.update(backends.describe(str(job.get("backend", "")), job.get("device") or {}))
    except Exception as error:  # a broken driver raises anything; the parent must hear of it
        facts["problem"] = f"{type(error).__name__}: {error}"
    return facts


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
    answer = ours.channel.ask("device", **_report(ours.job))
    if answer.get("type") == "go":
        return
    sys.stdout.flush()
    sys.stderr.flush()
    # At once: tearing down a framework on a wrong device may hang.
    os._exit(EXIT_STOPPED if answer.get("type") == "stop" else EXIT_PROTOCOL_ERROR)
