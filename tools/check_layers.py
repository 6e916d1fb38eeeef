#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the rules of the layout: who may include whom, where a vendor may be named, file sizes,
file heads, and what only cli/ may do. Prints one line a fault and exits with 1 if there is any."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# A folder may use its own files and exactly these (ARCHITECTURE.md shows the same table).
STAGES = ("base", "device", "corpus", "tuning", "measure", "plan", "run", "warmup", "record",
          "compare", "report", "batch")
ALLOWED: dict[str, set[str]] = {
    "base": set(),
    "device": {"base"},
    "corpus": {"base"},
    "tuning": {"base"},
    "measure": {"base", "device"},
    "plan": {"base", "device", "corpus", "tuning"},
    "run": {"base"},
    "warmup": {"base", "plan", "run", "tuning"},
    "record": {"base", "device", "corpus", "measure"},
    "compare": {"base", "measure", "record", "session"},
    # report shows devices, corpora and batches as well as rows.
    "report": {"base", "device", "corpus", "measure", "record", "compare", "batch"},
    "batch": {"base", "device", "corpus", "plan", "run", "record", "session"},
    "session": set(STAGES),
    # One experiment of many runs, written down as the comparison that it is.
    "ab": {"base", "corpus", "plan", "run", "record", "compare", "report", "session"},
    "cli": {*STAGES, "session", "ab"},
    "operators": {"base"},
}

VENDOR_WORDS = {"nvidia", "cuda", "nvml", "musa", "mtml", "mthreads", "rocm", "rocr", "hip", "amd",
                "ascend", "npu", "dcmi", "cann"}
# The words that an identifier is made of: CudaThing and CUDAThing are two each, snake_case too.
WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z0-9]+")
VENDOR_PLACES = ("opgauge/device/", "python/opgauge_bridge/backends/", "opgauge/corpus/flaggems",
                 "cli/options", "tests/", "python/tests/", "tools/", "benchmarks/", "examples/")
CODE = {".cpp", ".h", ".py", ".cmake", ".sh"}
LONGEST_FILE = 600
Rule = Callable[[Path, str], list[str]]
ONLY_CLI = re.compile(r"std::cerr|std::cout|(?<![\w.>])exit\(|fmt::print\((?!stream_)")
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|root|home)/")
# In quotes or in angle brackets; of the latter, only ours.
INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*(?:"(?:opgauge/)?|<opgauge/|<(?=(?:cli|operators)/))([^/">]+)/',
    re.MULTILINE,
)


def folder_of(path: Path) -> str | None:
    """The layer that a source file belongs to, or None for tests and tools."""
    parts = path.parts
    if parts[0] == "opgauge" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] in ("cli", "operators") else None


def include_faults(path: Path, text: str) -> list[str]:
    layer = folder_of(path)
    if layer is None:
        return []
    if layer not in ALLOWED:
        return [f"{path}: folder '{layer}' is not in the include table"]
    faults = []
    for match in INCLUDE.finditer(text):
        used = match.group(1)
        if used != layer and used not in ALLOWED[layer]:
            line = text.count("\n", 0, match.start()) + 1
            faults.append(f"{path}:{line}: {layer} may not include {used}")
    return faults


def vendor_word(line: str) -> str | None:
    """The first vendor word of a line, as it is written there."""
    return next((word for word in WORD.findall(line) if word.lower() in VENDOR_WORDS), None)


def vendor_faults(path: Path, text: str) -> list[str]:
    if str(path).startswith(VENDOR_PLACES):
        return []
    return [
        f"{path}:{number}: names the vendor word '{word}'"
        for number, line in enumerate(text.splitlines(), 1)
        if (word := vendor_word(line))
    ]


def head_faults(path: Path, text: str) -> list[str]:
    faults = []
    lines = text.splitlines()
    if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
        faults.append(f"{path}: no SPDX line at its head")
    if path.suffix == ".h" and "#pragma once" not in text:
        faults.append(f"{path}: no #pragma once")
    if len(lines) > LONGEST_FILE:
        faults.append(f"{path}: {len(lines)} lines, at most {LONGEST_FILE}")
    return faults


def cli_only_faults(path: Path, text: str) -> list[str]:
    if folder_of(path) in (None, "cli", "operators"):
        return []
    return [
        f"{path}:{number}: only cli/ prints or exits"
        for number, line in enumerate(text.splitlines(), 1)
        if ONLY_CLI.search(line.split("//")[0])
    ]


def path_faults(path: Path, text: str) -> list[str]:
    if str(path).startswith(("tests/", "python/tests/", "tools/")):
        return []
    return [
        f"{path}:{number}: names a folder of one machine"
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]


def name_faults(paths: list[Path]) -> list[str]:
    faults = []
    for path in paths:
        plain = re.fullmatch(r"[a-z0-9_]+", path.stem)
        if path.suffix in (".cpp", ".h", ".py") and not plain:
            faults.append(f"{path}: file names are snake_case")
    tests = [path.name for path in paths if path.name.endswith("_test.cpp")]
    twice = sorted({name for name in tests if tests.count(name) > 1})
    faults += [f"two tests are called {name}" for name in twice]
    return faults


def tracked_files(root: Path) -> list[Path]:
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [Path(line) for line in output.splitlines() if (root / line).is_file()]


def rules_for(path: Path) -> tuple[Rule, ...]:
    if path.suffix in CODE:
        return (include_faults, vendor_faults, head_faults, cli_only_faults, path_faults)
    if path.name == "CMakeLists.txt":  # needs no head of its own
        return (vendor_faults, path_faults)
    return ()


def check(root: Path) -> list[str]:
    paths = tracked_files(root)
    faults = name_faults(paths)
    for path in paths:
        rules = rules_for(path)
        text = (root / path).read_text(encoding="utf-8") if rules else ""
        for rule in rules:
            faults += rule(path, text)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    faults = check(parser.parse_args().root)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
