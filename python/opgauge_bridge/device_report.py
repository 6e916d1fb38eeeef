# SPDX-License-Identifier: Apache-2.0
"""What this process really sees of its device and software, for the parent's guard."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import Any

from . import backends


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def device_report(job: dict[str, Any]) -> dict[str, Any]:
    """Members of the protocol's `device` message."""
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
