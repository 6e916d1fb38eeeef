# SPDX-License-Identifier: Apache-2.0
"""What opgauge's own bookkeeping costs while it measures: the time from each of the child's
questions to the parent's answer (deciding, reading the device, keeping rows), against the time in
samples.

usage: bookkeeping.py RUN...; needs only the events.jsonl of finished runs with a timer of opgauge.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ASKED_WHILE_MEASURING = ("case_begin", "side_begin", "samples")


def seconds(run: Path) -> tuple[float, float]:
    """(in answers, in samples) of one run."""
    lines = (run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    answering = sampling = 0.0
    for first, second in zip(events, events[1:], strict=False):
        message = first["message"]
        if message["type"] not in ASKED_WHILE_MEASURING:
            continue
        if first["from"] == "child" and second["from"] == "parent":
            answering += second["t_s"] - first["t_s"]
        if message["type"] == "samples":
            values = [value for value in message["values_ns"] if value is not None]
            sampling += sum(values) * message["calls_per_sample"] * 1e-9
    return answering, sampling


def main() -> None:
    print("| run | answers | samples | answers / samples |")
    print("| --- | --: | --: | --: |")
    for name in sys.argv[1:]:
        answering, sampling = seconds(Path(name))
        share = f"{100 * answering / sampling:.2f} %" if sampling else "no samples"
        times = f"{answering * 1e3:.1f} ms | {sampling * 1e3:.0f} ms"
        print(f"| {Path(name).name} | {times} | {share} |")


if __name__ == "__main__":
    main()
