# SPDX-License-Identifier: Apache-2.0
"""Run folders made by hand: what `opgauge compare` reads, without measuring anything."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

IDENTITY: dict[str, Any] = {
    "schema_version": 1,
    "run_id": "mm-1",
    "created_utc": "2026-12-01T10:00:00Z",
    "opgauge_version": "0.1.0",
    "backend": {"name": "fake"},
    "device": {"name": "Fake 1", "memory_total_bytes": 1 << 34},
    "driver": "1.0",
    "software": {"python": "3.12", "torch": "2.9", "triton": "3.6"},
    "corpus": {"name": "flaggems", "commit": "aaaa1111", "dirty_digest": None},
    "timer": {"name": "graph", "settings": {}},
    "tuning": {"mode": "off", "winners_digest": None},
    "settings": {"mode": "kernel", "heat": "burst", "parallel_measure": False},
    "environment": {"OMP_NUM_THREADS": "1"},
    "clocks": {"policy": None},
    "caliber_id": "0123456789abcdef",
}


def identity(**changes: Any) -> dict[str, Any]:
    """The identity with members changed by path: identity(corpus__commit="b")."""
    result = copy.deepcopy(IDENTITY)
    for path, value in changes.items():
        *folders, name = path.split("__")
        place = result
        for folder in folders:
            place = place[folder]
        place[name] = value
    return result


def side(median: float, timer: str = "graph", spread: float = 0.001) -> dict[str, Any]:
    return {
        "timer": timer,
        "timer_settings": {},
        "calls_per_sample": 10,
        "samples": 40,
        "median_ns": median,
        "lower_quartile_ns": median * (1 - spread),
        "upper_quartile_ns": median * (1 + spread),
        "median_interval_ns": [median * (1 - spread), median * (1 + spread)],
    }


def row(size: int, candidate: float, **changes: Any) -> dict[str, Any]:
    """A row of mm of one size. `timer` sets both sides'; other changes are members of the row."""
    operator = changes.pop("operator", "mm")
    timer = changes.pop("timer", "graph")
    case = {"operator": operator, "dtype": "float16", "shapes": [[size, size]], "attributes": {}}
    result = {
        "schema_version": 1,
        "index": 0,
        "case": case,
        "case_id": hashlib.sha256(json.dumps(case).encode()).hexdigest()[:16],
        "caliber_id": "0123456789abcdef",
        "status": "ok",
        "reason": "",
        "base": side(1000.0 * size, timer),
        "candidate": side(candidate, timer),
        "flags": [],
    }
    result.update(changes)
    return result


def samples_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Forty samples a side, in four bursts, around each median."""
    lines = []
    for entry in rows:
        for name in ("base", "candidate"):
            if not entry[name]:
                continue
            median = entry[name]["median_ns"]
            values = [median * (1 + 0.001 * ((i * 7) % 11 - 5) / 5) for i in range(40)]
            bursts = [{"samples": 10}] * 4
            lines.append({"index": entry["index"], "side": name, "timer": entry[name]["timer"]})
            lines[-1].update(values_ns=values, bursts=bursts)
    return lines


def make_run(folder: Path, rows: list[dict[str, Any]], facts: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True)
    rows = [{**entry, "index": number} for number, entry in enumerate(rows, 1)]
    (folder / "run_identity.json").write_text(json.dumps(facts or IDENTITY, indent=1) + "\n")
    (folder / "rows.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in rows))
    lines = samples_of(rows)
    (folder / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "status.json").write_text('{"schema_version": 1, "status": "passed"}\n')
    return folder
