# SPDX-License-Identifier: Apache-2.0
"""The host's processor: no framework is asked."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any


def _model() -> str:
    """As the parent reads it; machines whose kernel names no model are called CPU there too."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return "CPU"
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return "CPU"


def describe() -> dict[str, Any]:
    return {"backend": "cpu", "vendor": platform.machine(), "count": 1, "name": _model()}
