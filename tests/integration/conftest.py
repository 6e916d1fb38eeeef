# SPDX-License-Identifier: Apache-2.0
"""Drives the built tool as a user does: a clean environment, a fresh folder, real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parent.parent.parent
BINARY = Path(os.environ.get("OPGAUGE_BIN", SOURCE / "build/dev/bin/opgauge"))

CORPUS = SOURCE / "tests/data/corpus_flaggems"

# A shell starts what is in its background with interrupts ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Finished:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


class Tool:
    """The binary with an environment that holds nothing of the developer's machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "OPGAUGE_SYSFS": str(folder / "no-sysfs"),
            "OPGAUGE_LIBRARY_PATH": str(folder / "no-libraries"),
            "OPGAUGE_LOCKS": str(folder / "locks"),
        }

    def command(self, *words: str | Path) -> list[str]:
        return [str(BINARY), *map(str, words)]

    def __call__(self, *words: str | Path, timeout: float = 60, **env: str) -> Finished:
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def start(self, *words: str | Path, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env={**self.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def one_run(self) -> Path:
        """The only run folder that there is."""
        (run,) = (self.folder / "runs").iterdir()
        return run


@pytest.fixture
def opgauge(tmp_path: Path) -> Tool:
    return Tool(tmp_path)


@pytest.fixture
def corpus_tool(opgauge: Tool) -> Tool:
    """The tool with a corpus built like FlagGems, run by this interpreter's pytest."""
    opgauge.env |= {
        "PYTHONPATH": str(CORPUS / "stubs"),
        "OPGAUGE_CORPUS": str(CORPUS),
        "OPGAUGE_PYTHON": sys.executable,
        "PATH": os.environ["PATH"],
    }
    return opgauge


def rows_of(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "rows.jsonl").read_text().splitlines()]


def status_of(run: Path) -> dict[str, Any]:
    return json.loads((run / "status.json").read_text())


def scripted_case(
    index: int, base: list[float] | None = None, candidate: list[float] | None = None, **more: Any
) -> dict[str, Any]:
    """A case of a script (docs/fake_backend.md) whose sides hand out these times."""
    case: dict[str, Any] = {
        "case": {"operator": "mm", "dtype": "float16", "shapes": [[index, index]]}
    }
    if base is not None:
        case["base"] = {"values_ns": base, "estimate_ns": base[0]}
    if candidate is not None:
        case["candidate"] = {"values_ns": candidate, "estimate_ns": candidate[0]}
    return {**case, **more}


@pytest.fixture
def script(opgauge: Tool):
    """Makes the tool play a script on the hidden backend; returns the words to run it."""

    def write(cases: list[dict[str, Any]], **more: Any) -> list[str]:
        path = opgauge.folder / "script.json"
        test = {"node": "fake::mm", "cases": cases, **more.pop("test", {})}
        path.write_text(json.dumps({"tests": [test], **more}))
        opgauge.env["OPGAUGE_FAKE_SCRIPT"] = str(path)
        return ["run", "mm", "--backend", "fake"]

    return write
