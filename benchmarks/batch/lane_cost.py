#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a lane of a batch costs by itself: its own CPU time for each operator, beside that of the
child. The child plays a script, so that it costs next to nothing and the lane is alone with its
work: planning, the run folder, the channel, the row files. Takes a corpus of pytest files where one
is named, so that the scan and the probe of the interpreter are in it; its child is then real.

    benchmarks/batch/lane_cost.py build/release/bin/opgauge [--operators 50] [--cases 10]
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

TIMES = [1000.0 + i for i in range(20)]


def own_cpu_seconds(pid: int) -> float:
    """All threads of the process, its children left out."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def script(cases: int) -> str:
    side = {"values_ns": TIMES, "estimate_ns": 1000}
    one = [
        {
            "case": {"operator": "mm", "dtype": "float16", "shapes": [[i + 1, i + 1]]},
            "base": side,
            "candidate": side,
        }
        for i in range(cases)
    ]
    return json.dumps({"tests": [{"node": "fake::mm", "cases": one}]})


def until(lines: Any, kind: str) -> dict[str, Any]:
    for line in lines:
        message = json.loads(line)
        if message["type"] == kind:
            return message
    raise SystemExit("the lane is gone")


def measure(binary: Path, folder: Path, operators: int, options: list[str], name: str) -> None:
    ours, theirs = socket.socketpair()
    lane = subprocess.Popen(
        [binary, "batch-lane", *options, str(theirs.fileno())],
        cwd=folder,
        env={
            **os.environ,
            "OPGAUGE_FAKE_SCRIPT": str(folder / "script.json"),
            "OPGAUGE_LOCKS": str(folder / "locks"),
        },
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    lines = ours.makefile()
    cpu, wall = [], []
    for index in range(operators):
        seq = until(lines, "ready")["seq"]
        cpu_before, wall_before = own_cpu_seconds(lane.pid), time.monotonic()
        job = {"type": "run", "to": seq, "index": index, "operator": name}
        line = json.dumps({**job, "run_dir": str(folder / f"run-{index}")}) + "\n"
        ours.sendall(line.encode())
        ended = until(lines, "ended")
        if ended["status"] != "passed":
            raise SystemExit(f"{name}: {ended['status']}: {ended['reason']}")
        cpu.append(own_cpu_seconds(lane.pid) - cpu_before)
        wall.append(time.monotonic() - wall_before)
    ours.sendall((json.dumps({"type": "end", "to": until(lines, "ready")["seq"]}) + "\n").encode())
    lane.wait()
    print(f"first operator       {1e3 * cpu[0]:7.2f} ms own CPU, {1e3 * wall[0]:7.2f} ms wall")
    later = statistics.median(cpu[1:]), statistics.median(wall[1:])
    print(f"later, median of {operators - 1:3} {1e3 * later[0]:7.2f} ms own CPU, "
          f"{1e3 * later[1]:7.2f} ms wall")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("binary", type=Path)
    parser.add_argument("--operators", type=int, default=50)
    parser.add_argument("--cases", type=int, default=10)
    parser.add_argument("--operator", default="mm")
    parser.add_argument("options", nargs="*", help="of the lane; default: --backend fake")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "script.json").write_text(script(given.cases))
        options = given.options or ["--backend", "fake"]
        measure(given.binary.resolve(), folder, given.operators, options, given.operator)


if __name__ == "__main__":
    main()
