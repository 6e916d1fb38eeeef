# SPDX-License-Identifier: Apache-2.0
"""Batches made by hand: what `opgauge report` shows, with names that no page may obey.

`python3 tests/support/made_reports.py` writes tests/data/report anew."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from made_runs import IDENTITY, identity, make_run, row, side  # noqa: E402

HOSTILE = "=evil|</script><img src=x onerror=alert(1)>\x1b[2J @team #1"
DTYPES = ("float16", "float32", "bfloat16")
CEILINGS = {"copy_bytes_per_s": 4e12, "matmul_flops_per_s": {"float16": 9e14}}


def full_side(median: float) -> dict[str, Any]:
    more = {"minimum_ns": median * 0.98, "maximum_ns": median * 1.05, "outliers": 1}
    more |= {"stopped_by": "precision", "first_call_ns": 1e6, "sm_clock_mhz": 1980.0}
    return {**side(median, spread=0.004), **more}


def case(operator: str, number: int, scale: float = 1.0, **changes: Any) -> dict[str, Any]:
    """Sizes grow with the number; the dtype goes around."""
    size = 2 ** (5 + number // 3 % 8)
    base = 2000.0 * (1 + size * size / 1e4)
    made = row(size, base / (scale * (1 + 0.1 * (number % 7))), operator=operator)
    made["case"]["dtype"] = DTYPES[number % 3]
    made["case_id"] = f"{operator[:8].encode().hex():0<12}{number:04d}"[-16:]
    made["base"] = full_side(base)
    made["candidate"] = full_side(made["candidate"]["median_ns"])
    made["work"] = {"bytes": 6 * size * size, "flops": 2 * size**3}
    return {**made, **changes}


def write_samples(folder: Path, count: int = 40) -> None:
    """As a run leaves them: bursts with a clock that falls towards the end."""
    lines = []
    for text in (folder / "rows.jsonl").read_text().splitlines():
        entry = json.loads(text)
        for name in ("base", "candidate"):
            if not entry[name]:
                continue
            median = entry[name]["median_ns"]
            values = [round(median * (1 + 0.004 * ((i * 7) % 11 - 5) / 5), 2) for i in range(count)]
            bursts = [
                {"samples": 10, "sm_clock_mhz": 1980.0 if i < count // 20 else 1965.0}
                for i in range(count // 10)
            ]
            line = {"index": entry["index"], "side": name, "timer": "graph", "calls_per_sample": 10}
            lines.append({**line, "bursts": bursts, "values_ns": values})
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def make_batch(folder: Path) -> Path:
    """Two operators that ran, one of them with a hostile name, and one that did not."""
    mm = [case("mm", number, 1.2) for number in range(6)]
    mm[4]["flags"] = ["throttled:sw_power_cap@1200"]
    failed = {"base": None, "candidate": None, "status": "failed", "reason": HOSTILE}
    odd = [case(HOSTILE, 0, 0.8), case(HOSTILE, 1, **failed)]
    facts = {**identity(run_id="mm-20261203T000000Z"), "ceilings": CEILINGS}
    write_samples(make_run(folder / "runs" / "mm", mm, facts))
    facts = {**facts, "run_id": HOSTILE}
    write_samples(make_run(folder / "runs" / "odd", odd, facts))
    operators = [
        {
            "name": "mm",
            "operator": "mm",
            "state": "finished",
            "status": "passed",
            "run_dir": "runs/mm",
        },
        {
            "name": "odd",
            "operator": HOSTILE,
            "state": "finished",
            "status": "passed",
            "run_dir": "runs/odd",
        },
        {"name": "bmm", "operator": "bmm", "state": "pending"},
    ]
    listing = {"schema_version": 1, "operators": operators}
    (folder / "batch.json").write_text(json.dumps(listing, indent=1) + "\n")
    return folder


def make_large_batch(folder: Path, operators: int, rows: int) -> Path:
    """As many rows as a whole corpus has."""
    for number in range(operators):
        name = f"op_{number:04d}"
        cases = [case(name, k, 0.7 + number % 10 * 0.1) for k in range(rows)]
        if number % 20 == 0:
            cases[0]["flags"] = ["throttled:sw_power_cap@1200"]
        run = make_run(folder / "runs" / name, cases, {**IDENTITY, "run_id": f"{name}-1"})
        write_samples(run)
    return folder


if __name__ == "__main__":
    data = Path(__file__).resolve().parent.parent / "data" / "report"
    shutil.rmtree(data, ignore_errors=True)
    make_batch(data)
