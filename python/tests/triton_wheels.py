# SPDX-License-Identifier: Apache-2.0
"""Scenes run on real Triton wheels (tools/triton_wheels.sh), one process a version."""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parents[1]
SCRIPT = ROOT / "tools" / "triton_wheels.sh"
_LIST = re.search(r"^versions=\((.*)\)$", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)
VERSIONS = _LIST[1].split() if _LIST else []


@functools.cache
def wheel(version: str) -> Path:
    """The folder of one version, got now where it is missing: no version is ever left out."""
    folder = ROOT / ".triton" / version
    if not folder.is_dir():
        done = subprocess.run([SCRIPT, version], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return folder


def _environment(
    version: str, folders: tuple[Path, ...], checkout: str, late: str
) -> dict[str, str]:
    path = [str(folder) for folder in (wheel(version), TESTS, *folders)]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "OPGAUGE_FLAGGEMS": checkout,
        "OPGAUGE_LATE_HOOKS": late,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@functools.cache
def _scenes(
    version: str, modules: str, folders: tuple[Path, ...], checkout: str, late: str
) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(TESTS / "tuned_process.py"), *modules.split()],
        env=_environment(version, folders, checkout, late),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def play(
    version: str, modules: str, scene: str, *folders: Path, checkout: str = "", late: str = ""
) -> Any:
    """What a scene of one of the modules returned with this Triton. `late`, where it is not empty:
    the hooks were put on after the imports."""
    outcome = _scenes(version, modules, folders, checkout, late)[f"scene_{scene}"]
    if "error" in outcome:
        pytest.fail(f"triton {version}, {scene}:\n{outcome['error']}")
    return copy.deepcopy(outcome["value"])
