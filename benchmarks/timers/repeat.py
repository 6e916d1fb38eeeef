# SPDX-License-Identifier: Apache-2.0
"""How well timers repeat: each work in fresh processes, all of them counted.

usage: repeat.py OPGAUGE [--processes N] [--references N] [--timers graph event]; needs a device,
torch and triton. Prints one table: per timer and work the median over processes, the spread
(max - min) / median, and the seconds taken.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
Found = dict[str, dict[str, list[list[float]]]]


def measured(opgauge: str, timer: str) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [opgauge, "run", "--node", "test_timers.py", "--corpus", str(HERE)]
        command += ["--timer", timer, "--run-dir", str(run), "--python", sys.executable]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"repeat.py: opgauge exited with {done.returncode}: {done.stderr[-500:]}")
        rows = [json.loads(line) for line in (run / "rows.jsonl").read_text().splitlines()]
        return {
            row["case"]["attributes"]["name"]: [row["candidate"]["median_ns"], row["seconds"]]
            for row in rows
        }


def references() -> dict[str, dict[str, list[float]]]:
    command = [sys.executable, str(HERE / "reference.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=HERE)
    found: dict[str, dict[str, list[float]]] = json.loads(done.stdout)
    return found


def add(found: Found, timer: str, works: dict[str, list[float]]) -> None:
    for name, values in works.items():
        found.setdefault(timer, {}).setdefault(name, []).append(values)


def show(found: Found) -> None:
    print("| timer | work | median | spread | spread | seconds |")
    print("| --- | --- | --: | --: | --: | --: |")
    for timer, works in found.items():
        for name, values in works.items():
            times = [value for value, _ in values]
            median = statistics.median(times)
            spread = max(times) - min(times)
            taken = statistics.median(seconds for _, seconds in values)
            print(
                f"| {timer} | {name} | {median:.0f} ns | {spread:.0f} ns "
                f"| {100 * spread / median:.2f} % | {taken:.3f} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opgauge")
    parser.add_argument("--processes", type=int, default=10)
    parser.add_argument("--references", type=int, default=10)
    parser.add_argument("--timers", nargs="*", default=["graph", "event"])
    arguments = parser.parse_args()
    found: Found = {}
    for timer in arguments.timers:
        for _ in range(arguments.processes):
            add(found, timer, measured(arguments.opgauge, timer))
    for _ in range(arguments.references):
        for timer, works in references().items():
            add(found, timer, works)
    show(found)


if __name__ == "__main__":
    main()
