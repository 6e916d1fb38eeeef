# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of cases/*.cmd and scrubs what changes from run to run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
BINARY = Path(os.environ.get("OPGAUGE_BIN", SOURCE / "build/dev/bin/opgauge"))

# The one list of volatile fields: pattern, what stands in its place. Order matters.
VOLATILE = [
    (re.compile(r"\d{8}T\d{6}Z(-\d+)?"), "UTC"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "UTC"),
    (re.compile(r"conformance/[0-9a-f]{16}"), "conformance/DIGEST"),
    (re.compile(r"(?<=caliber  )[0-9a-f]{16}"), "CALIBER"),
    (re.compile(r"shapes/[0-9a-f]{16}\.yaml"), "shapes/DIGEST.yaml"),
    (re.compile(r"(compile jobs +)\d+"), r"\1CORES"),
    (re.compile(r"opgauge \d+\.\d+\.\d+"), "opgauge VERSION"),
]


def scrub(text: str, folder: Path) -> str:
    text = text.replace(str(folder), "FOLDER").replace(str(SOURCE), "SOURCE")
    text = text.replace(str(BINARY.parent), "BIN")
    for pattern, word in VOLATILE:
        text = pattern.sub(word, text)
    # A column is as wide as its widest cell, and that may be a path of this machine.
    return re.sub(r" {2,}", "  ", text)


def cases() -> list[Path]:
    return sorted((HERE / "cases").glob("*.cmd"))


def run(case: Path) -> str:
    """Output, errors and exit code of each command of a case, scrubbed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": name,
            "OPGAUGE_SYSFS": f"{name}/none",
            "OPGAUGE_PYTHON": str(HERE / "cases" / "python_with_torch"),
            "OPGAUGE_LIBRARY_PATH": str(BINARY.parent.parent / "tests/fake_vendor/now"),
        }
        parts = []
        for line in case.read_text().splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            line_here = line.replace("$SOURCE", str(SOURCE)).replace("$CASES", str(case.parent))
            words = shlex.split(line_here)
            env = dict(environment)
            while "=" in words[0]:
                key, value = words.pop(0).split("=", 1)
                env[key] = value
            assert words[0] == "opgauge", line
            done = subprocess.run(
                [str(BINARY), *words[1:]],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
            )
            parts.append(f"$ {line}\n{done.stdout}{done.stderr}[exit {done.returncode}]\n")
        return scrub("\n".join(parts), folder)


def approved_file(case: Path) -> Path:
    return HERE / "approved" / f"{case.stem}.txt"
