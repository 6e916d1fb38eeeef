#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opgauge's own cost, as medians and ratios of one run: `run.py --bin opgauge [--corpus DIR]`.

Everything is wall time of whole processes, taken in turn, so that drift hits all alike.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 15
ROWS = 2000
NVML_ONLY = (
    "import ctypes,time;n=ctypes.CDLL('libnvidia-ml.so.1');b=time.perf_counter();"
    "n.nvmlInit_v2();print(time.perf_counter()-b);n.nvmlShutdown()"
)


def wall_ms(command: list[str], env: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def nvml_init_ms(env: dict[str, str]) -> float:
    """nvmlInit alone, timed inside a process of its own: no start-up of anything is in it."""
    command = [sys.executable, "-c", NVML_ONLY]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    return float(done.stdout) * 1e3


def line(what: str, value: float, unit: str, bound: str) -> None:
    print(f"| {what} | {value:.2f} {unit} | {bound} |")


def devices(binary: str, env: dict[str, str]) -> None:
    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return
    init, ours, tool = [], [], []
    for _ in range(REPEATS):
        init.append(nvml_init_ms(env))
        ours.append(wall_ms([binary, "devices", "--backend", "cuda"], env))
        tool.append(wall_ms(["nvidia-smi", "-L"], env))
    medians = [statistics.median(values) for values in (init, ours, tool)]
    line("nvmlInit alone", medians[0], "ms", "")
    line("`opgauge devices`, whole process", medians[1], "ms", "")
    line("`nvidia-smi -L`, whole process", medians[2], "ms", "")
    line("devices / nvmlInit", medians[1] / medians[0], "x", "at most 1.3")
    line("devices / nvidia-smi -L", medians[1] / medians[2], "x", "below 1")


def plan(binary: str, corpus: str, env: dict[str, str]) -> None:
    words = [binary, "plan", "mm", "--corpus", corpus, "--backend", "fake"]
    times = [wall_ms(words, env) for _ in range(REPEATS)]
    line("`opgauge plan` on the whole corpus", statistics.median(times), "ms", "at most 60")
    peak = subprocess.run(
        [sys.executable, "-c", PEAK, *words], env=env, capture_output=True, text=True
    ).stdout
    line("its peak memory", float(peak), "MB", "below 40")


PEAK = (
    "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss/1024)"
)


def rows(binary: str, env: dict[str, str]) -> None:
    side = {"values_ns": [1e6], "estimate_ns": 1e6}
    case = {"case": {"operator": "mm", "dtype": "float16", "shapes": [[8, 8]]}}
    case.update(base=side, candidate=side)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.json"
        script.write_text(json.dumps({"tests": [{"cases": [case] * ROWS}]}))
        env = {**env, "OPGAUGE_FAKE_SCRIPT": str(script)}
        begin = time.perf_counter()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [binary, "run", "mm", "--backend", "fake", "--root", f"{folder}/runs"],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = (time.perf_counter() - begin) * 1e3
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
    line(f"wall time a row, parent and scripted child, {ROWS} rows", wall / ROWS, "ms", "below 1")
    line("CPU time a row, parent and scripted child", cpu / ROWS, "ms", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--corpus")
    options = parser.parse_args()
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPGAUGE_")}
    print("| what | measured | bound |\n| --- | --- | --- |")
    devices(options.bin, env)
    if options.corpus:
        plan(options.bin, options.corpus, env)
    rows(options.bin, env)


if __name__ == "__main__":
    main()
