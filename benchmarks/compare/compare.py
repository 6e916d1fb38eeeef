#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time and memory of comparing two batches: `compare.py OPGAUGE [--operators N] [--rows N]`.

Makes two batches of run folders as opgauge writes them, equal but for noise of 0.2 % and one case
in sixty that is 10 % slower in B.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEATS = 7
SAMPLES = 60
BURST = 10
PEAK = (
    "import resource,subprocess,sys;subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL);"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss/1024)"
)


def identity(operator: str) -> dict:
    return {
        "schema_version": 1,
        "run_id": f"{operator}-1",
        "created_utc": "2026-12-03T00:00:00Z",
        "opgauge_version": "0.1.0",
        "argv": ["opgauge", "run", operator],
        "backend": {"name": "fake", "why": "asked for"},
        "device": {"token": "0", "name": "Fake 1", "memory_total_bytes": 1 << 37},
        "driver": "1.0",
        "runtime": "1.0",
        "software": {"python": "3.12.1", "torch": "2.9.0", "triton": "3.6.0"},
        "corpus": {"name": "flaggems", "commit": "1a2b3c4d", "dirty_digest": None},
        "timer": {"name": "graph", "settings": {}},
        "tuning": {"mode": "off", "winners_digest": None},
        "settings": {"mode": "kernel", "heat": "burst", "parallel_measure": False},
        "environment": {"OMP_NUM_THREADS": "1"},
        "host": {"name": "host", "cpu_model": "CPU", "cores": 16},
        "clocks": {"policy": None},
        "setup_id": "0123456789abcdef",
        "caliber_id": "0123456789abcdef",
    }


def side(values: list[float]) -> dict:
    ordered = sorted(values)
    median = statistics.median(ordered)
    return {
        "timer": "graph",
        "timer_settings": {"calls_per_graph": 100},
        "calls_per_sample": 100,
        "stopped_by": "precision",
        "first_call_ns": 1e8,
        "invalid_samples": 0,
        "sm_clock_mhz": 1980.0,
        "samples": len(ordered),
        "median_ns": median,
        "lower_quartile_ns": ordered[len(ordered) // 4],
        "upper_quartile_ns": ordered[3 * len(ordered) // 4],
        "minimum_ns": ordered[0],
        "maximum_ns": ordered[-1],
        "outliers": 0,
        "median_interval_ns": [ordered[22], ordered[37]],
        "relative_precision": (ordered[37] - ordered[22]) / 2 / median,
    }


def row(index: int, operator: str, base: list[float], candidate: list[float]) -> dict:
    shapes = [[64 * index, 1024], [1024, 4096]]
    sides = {"base": side(base), "candidate": side(candidate)}
    medians = {name: value["median_ns"] for name, value in sides.items()}
    return {
        "schema_version": 1,
        "index": index,
        "case": {
            "operator": operator,
            "dtype": "float16",
            "shapes": shapes,
            "layout": None,
            "attributes": {},
            "node": f"benchmark/test_{operator}.py::test_{operator}",
        },
        "case_id": hashlib.sha256(f"{operator}{shapes}".encode()).hexdigest()[:16],
        "caliber_id": "0123456789abcdef",
        "winners_digest": "",
        "status": "ok",
        "reason": "",
        **sides,
        "speedup": medians["base"] / medians["candidate"],
        "relative_precision": 0.002,
        "fallback": None,
        "fallback_detail": None,
        "flags": [],
        "error": None,
        "check": {"max_abs_error": 1e-4, "max_rel_error": 1e-3, "ok": True},
        "work": {"bytes": 1e6, "flops": 1e8},
        "seconds": 0.5,
    }


def samples(index: int, name: str, values: list[float]) -> dict:
    burst = {"samples": BURST, "sm_clock_mhz": 1980.0, "throttle_reasons": []}
    bursts = [burst] * (SAMPLES // BURST)
    return {"index": index, "side": name, "timer": "graph", "values_ns": values, "bursts": bursts}


def write_run(folder: Path, operator: str, rows: int, slower: float, rng: random.Random) -> None:
    folder.mkdir(parents=True)
    (folder / "run_identity.json").write_text(json.dumps(identity(operator), indent=2) + "\n")
    (folder / "status.json").write_text('{"schema_version": 1, "status": "passed"}\n')
    with (folder / "rows.jsonl").open("w") as out, (folder / "samples.jsonl").open("w") as raw:
        for index in range(1, rows + 1):
            scale = 1e4 * index
            factor = slower if index == 1 else 1
            both = [
                [round(rng.gauss(s, s / 500), 1) for _ in range(SAMPLES)]
                for s in (scale, scale * factor)
            ]
            out.write(json.dumps(row(index, operator, *both), separators=(",", ":")) + "\n")
            for name, values in zip(("base", "candidate"), both, strict=True):
                raw.write(json.dumps(samples(index, name, values), separators=(",", ":")) + "\n")


def write_batch(root: Path, operators: int, rows: int, slower: float, seed: int) -> None:
    rng = random.Random(seed)
    for number in range(operators):
        name = f"op_{number:04d}"
        factor = slower if number % 4 == 0 else 1
        write_run(root / f"{name}-20261203T000000Z", name, rows, factor, rng)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opgauge")
    parser.add_argument("--operators", type=int, default=1050)
    parser.add_argument("--rows", type=int, default=15)
    parser.add_argument("--keep", type=Path, help="make the batches here, or take them from here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = options.keep or Path(name)
        if not (root / "a").exists():
            write_batch(root / "a", options.operators, options.rows, 1.0, 1)
            write_batch(root / "b", options.operators, options.rows, 1.1, 2)
        command = [options.opgauge, "compare", str(root / "a"), str(root / "b")]
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True)
            times.append(time.perf_counter() - begin)
        assert done.returncode == 0, done.stderr
        peak = subprocess.run(
            [sys.executable, "-c", PEAK, *command], capture_output=True, text=True
        )
        counts = next(line for line in done.stdout.splitlines() if line.startswith("compared"))
        print(counts)
        print(f"| median wall time of {REPEATS} | {statistics.median(times):.2f} s | below 1 |")
        print(f"| peak memory | {float(peak.stdout):.0f} MB | below 200 |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
