#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tuning stores cost: `stores.py OPGAUGE [--flaggems CHECKOUT]`.

* Answering a winner to the child from a source of 50,000: whole replays by a scripted child with
  and without questions, taken in turn; the difference by question. Child and channel are in it.
* Merging 8 stores of 50,000 timings, against FlagGems' own, unmodified store code, which merges by
  a get from one store and a put into another for each row. That takes minutes, so it merges
  `--rows` of each store; both are compared by row, and on equal rows too.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path
from typing import Any

WINNERS = 50_000
KERNELS = 100
QUESTIONS = 5_000
STORES = 8
TIMINGS = 50_000
REPEATS = 5
FACTS = {"kernel_source_hash": "s", "config_list_digest": "l", "tuning_timer": "t", "compiler": "c"}
SCOPE = {**FACTS, "device_model": "Fake Accelerator", "driver": "1.0"}
KEY = ["key_0", "key_1", "key_2"]
CONFIG = ["BLOCK_M", "num_warps", "num_ctas", "num_stages"]


def line(what: str, value: str, bound: str = "") -> None:
    print(f"| {what} | {value} | {bound} |", flush=True)


def write_table(path: Path, space: str, columns: dict[str, str], keys: int, rows: list) -> None:
    """A table as FlagGems lays it out; its first `keys` columns are the primary key."""
    digest = hashlib.md5("".join(list(columns)[:keys]).encode()).hexdigest()
    declared = ", ".join(f'"{name}" {kind} NOT NULL' for name, kind in columns.items())
    primary = ", ".join(f'"{name}"' for name in list(columns)[:keys])
    marks = ", ".join("?" * len(columns))
    with sqlite3.connect(path) as database:
        database.execute(f'CREATE TABLE "{space}-{digest}" ({declared}, PRIMARY KEY ({primary}))')
        database.executemany(f'INSERT INTO "{space}-{digest}" VALUES ({marks})', rows)
    database.close()


def key_columns() -> dict[str, str]:
    return {name: "VARCHAR" if name == "key_2" else "BIGINT" for name in KEY}


def write_winners(path: Path) -> None:
    columns = {**key_columns(), **dict.fromkeys(CONFIG, "BIGINT")}
    of_each = WINNERS // KERNELS
    for kernel in range(KERNELS):
        rows = [(i, 64, "torch.float16", 64, 4, 1, 3) for i in range(of_each)]
        write_table(path, f"kernel_{kernel}_{'a' * 32}", columns, len(KEY), rows)


def timing(store: int, i: int) -> tuple[Any, ...]:
    """Half of the keys are in the next store too."""
    key = (store * TIMINGS // 2 + i) // 8
    return key, 64, "torch.float16", 16 << i % 8, 4, 1, 3, 0.01 + i % 7 / 1e3, 0.01, 0.02


def write_timings(path: Path, store: int, count: int) -> None:
    columns = {**key_columns(), **dict.fromkeys(CONFIG, "BIGINT")}
    columns |= dict.fromkeys(("p50", "p20", "p80"), "FLOAT")
    rows = [timing(store, i) for i in range(count)]
    keys = len(KEY) + len(CONFIG)
    write_table(path, f"kernel_{'b' * 64}_benchmark_v2", columns, keys, rows)


def tool(binary: str, *words: str | Path, **env: str) -> None:
    command = [binary, *map(str, words)]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")


def script_of(questions: int) -> dict[str, Any]:
    steps = []
    for i in range(questions):
        key = [i // KERNELS, 64, "torch.float16"]
        winner = {"id": i + 1, "kernel": f"kernel_{i % KERNELS}", "facts": FACTS, "key": key}
        steps.append({"winner": {**winner, "space": f"{winner['kernel']}_{'a' * 32}"}})
    side = {"values_ns": [1e6], "estimate_ns": 1e6}
    case = {"case": {"operator": "mm", "dtype": "float16", "shapes": [[8, 8]]}}
    return {"tests": [{"cases": [{**case, "base": side, "candidate": side, "tuning": steps}]}]}


def parents_part(run: Path) -> float:
    """From a question's arrival to its answer on the channel, in s: what the parent takes of it."""
    lines = [json.loads(text) for text in (run / "events.jsonl").read_text().splitlines()]
    return statistics.median(
        answer["t_s"] - question["t_s"]
        for question, answer in zip(lines, lines[1:], strict=False)
        if question["message"]["type"] == "winner"
    )


def answer(binary: str, folder: Path) -> None:
    write_winners(folder / "winners.db")
    words = [word for fact, value in SCOPE.items() for word in ("--scope", f"{fact}={value}")]
    source = folder / "source.db"
    tool(binary, "tune", "import", folder / "winners.db", "--into", source, *words)
    times: dict[int, list[float]] = {0: [], QUESTIONS: []}
    for questions in times:
        (folder / f"{questions}.json").write_text(json.dumps(script_of(questions)))
    for _ in range(REPEATS):
        for questions, taken in times.items():
            env = {"OPGAUGE_FAKE_SCRIPT": str(folder / f"{questions}.json")}
            begin = time.perf_counter()
            words = ["mm", "--backend", "fake", "--from", source, "--root", folder / "runs"]
            tool(binary, "run", *words, **env)
            taken.append(time.perf_counter() - begin)
    parent = parents_part(max((folder / "runs").iterdir(), key=lambda run: run.stat().st_mtime))
    without, with_ = (statistics.median(taken) for taken in times.values())
    each = (with_ - without) / QUESTIONS * 1e3
    line(f"a winner of {WINNERS:,}, question to answer", f"{each:.3f} ms", "below 0.2")
    line("of it in the parent, arrival to answer, both logged", f"{parent * 1e3:.3f} ms")
    line("the whole replay without a question", f"{without:.2f} s")


def ours(binary: str, folder: Path, count: int) -> float:
    stores = []
    for store in range(STORES):
        file, into = folder / f"{count}-{store}.db", folder / f"{count}-{store}.own.db"
        write_timings(file, store, count)
        tool(binary, "tune", "import", file, "--into", into)
        stores.append(into)
    taken = []
    for i in range(3):
        begin = time.perf_counter()
        tool(binary, "tune", "merge", *stores, "--into", folder / f"{count}-merged-{i}.db")
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


class Config:
    """The part of triton.Config that the store code uses, with its parameters' names."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None):
        self.kwargs = kwargs
        self.rest = {"num_warps": num_warps, "num_ctas": num_ctas, "num_stages": num_stages}

    def all_kwargs(self) -> dict[str, Any]:
        return {**self.kwargs, **self.rest}


def theirs(checkout: str, folder: Path, count: int) -> float:
    sys.modules["triton"] = types.SimpleNamespace(Config=Config)  # type: ignore[assignment]
    sys.path.insert(0, str(Path(checkout) / "src/flag_gems/utils"))
    models = __import__("models")
    space = f"kernel_{'b' * 64}_benchmark_v2"
    sources = []
    for store in range(STORES):
        sources.append(models.SQLPersistantModel(f"sqlite:///{folder}/{count}-{store}.db"))
    target = models.SQLPersistantModel(f"sqlite:///{folder}/{count}-theirs.db")
    begin = time.perf_counter()
    for store, source in enumerate(sources):
        for i in range(count):
            row = timing(store, i)
            config = Config({"BLOCK_M": row[3]}, num_warps=4)
            times = source.get_benchmark(space, row[:3], config)
            target.put_benchmark(space, row[:3], config, times)
    return time.perf_counter() - begin


def merge(binary: str, checkout: str | None, folder: Path, few: int) -> None:
    all_ = ours(binary, folder, TIMINGS)
    rows = STORES * TIMINGS
    line(f"merging {STORES} stores of {TIMINGS:,} timings", f"{all_:.2f} s")
    line("the same, by row", f"{all_ / rows * 1e6:.1f} us")
    if not checkout:
        return
    few_ours, few_theirs = ours(binary, folder, few), theirs(checkout, folder, few)
    line(f"FlagGems' store code, {STORES} of {few:,}", f"{few_theirs:.2f} s")
    line("the same, by row", f"{few_theirs / (STORES * few) * 1e6:.1f} us")
    line("FlagGems / opgauge by row", f"{few_theirs / (STORES * few) / (all_ / rows):.0f} x")
    line(f"FlagGems / opgauge, both {STORES} of {few:,}", f"{few_theirs / few_ours:.0f} x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("opgauge")
    parser.add_argument("--flaggems")
    parser.add_argument("--only", choices=["answer", "merge"])
    parser.add_argument("--rows", type=int, default=500)
    options = parser.parse_args()
    print("| what | measured | bound |\n| --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        if options.only != "merge":
            answer(options.opgauge, Path(folder))
        if options.only != "answer":
            merge(options.opgauge, options.flaggems, Path(folder), options.rows)


if __name__ == "__main__":
    main()
