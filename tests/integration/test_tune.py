# SPDX-License-Identifier: Apache-2.0
"""`opgauge tune` on files as FlagGems writes them, and on files made to do harm."""

from __future__ import annotations

import hashlib
import importlib
import os
import sqlite3
import sys
import types
from pathlib import Path

import pytest

FLAGGEMS = os.environ.get("OPGAUGE_FLAGGEMS", "")
# A real database, not part of the repository: by variable, else beside the checkout.
BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data" / "h200-flaggems"
REAL_FILE = Path(
    os.environ.get("OPGAUGE_FLAGGEMS_DB") or BESIDE / "TunedConfig_nvidia_triton_3_6.db"
)


def table_name(space: str, columns: list[str]) -> str:
    return f"{space}-{hashlib.md5(''.join(columns).encode()).hexdigest()}"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def write_table(path, space, key, config, times=()) -> str:
    """One table as FlagGems makes it; key and config map a column to (type, values)."""
    named = [*key, *config] if times else list(key)
    name = table_name(space, named)
    columns = {**key, **config, **{n: ("FLOAT", v) for n, v in dict(times).items()}}
    declared = ", ".join(f"{quoted(n)} {kind} NOT NULL" for n, (kind, _) in columns.items())
    primary = ", ".join(map(quoted, named))
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE {quoted(name)} ({declared}, PRIMARY KEY ({primary}))")
        marks = ", ".join("?" * len(columns))
        rows = zip(*(values for _, values in columns.values()), strict=True)
        database.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", list(rows))
    database.close()
    return name


def small_file(path: Path, space: str = "mm_" + "a" * 32) -> Path:
    key = {"key_0": ("BIGINT", [1, 2]), "key_1": ("FLOAT", [0.5, 1.0])}
    key["key_2"] = ("VARCHAR", ["torch.float16", "it's"])
    key["key_3"] = ("BOOLEAN", [0, 1])
    config = {"BLOCK_M": ("BIGINT", [64, 2**40]), "num_warps": ("BIGINT", [4, 8])}
    write_table(path, space, key, config)
    times = {"p50": [0.25, float("inf")], "p20": [0.2, 1.0], "p80": [0.3, 1.0]}
    write_table(path, "mm_" + "b" * 64 + "_benchmark_v2", key, config, times)
    return path


def dump(path: Path) -> dict:
    """Tables with their columns and rows, in a fixed order."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        tables = "SELECT name FROM sqlite_master WHERE type='table'"
        names = [row[0] for row in database.execute(tables)]
        return {
            name: (
                list(database.execute("SELECT name, type, pk FROM pragma_table_info(?)", [name])),
                sorted(database.execute(f"SELECT * FROM {quoted(name)}")),
            )
            for name in names
        }


def round_trip(opgauge, source: Path) -> Path:
    before = source.read_bytes()
    done = opgauge("tune", "import", source, "--into", "tuning.db", "--json")
    assert done.code == 0, done.err
    assert source.read_bytes() == before
    out = opgauge.folder / "out.db"
    done = opgauge("tune", "export", "tuning.db", out, "--to", "flaggems", "--json")
    assert done.code == 0, done.err
    assert dump(out) == dump(source)
    return out


def test_a_file_of_flaggems_comes_back_as_it_was(opgauge):
    round_trip(opgauge, small_file(opgauge.folder / "in.db"))
    (store,) = opgauge("tune", "show", "tuning.db", "--json").json()["stores"]
    winner = store["winners"][0]
    assert (winner["kernel"], winner["key"]) == ("mm", [1, 0.5, "torch.float16", 0])
    assert (winner["config"], winner["p50_ms"]) == ({"BLOCK_M": 64, "num_warps": 4}, 0.25)
    assert [timing["p50_ms"] for timing in store["timings"]] == [0.25, "inf"]
    assert store["timings"][0]["scope"]["triton_source_hash"] == "b" * 64


def test_a_store_is_not_merged_into_itself_under_either_of_its_names(opgauge):
    (opgauge.folder / "run").mkdir()
    source = small_file(opgauge.folder / "in.db")
    assert opgauge("tune", "import", source, "--into", "run/tuning.db").code == 0
    for words in [("run", "run/tuning.db"), ("run/tuning.db", "run"), ("run", "run")]:
        done = opgauge("tune", "merge", words[0], "--into", words[1])
        assert done.code == 2, words
        assert f"cannot merge {words[1]} into itself: leave it out" in done.err


def test_hashed_keys_come_back_and_a_wrong_hash_is_refused(opgauge):
    blob = "_".join(["1"] * 70)
    digest = hashlib.sha256(blob.encode()).hexdigest()
    config = {"BLOCK_M": ("BIGINT", [64])}
    key = {"key_hash": ("VARCHAR", [digest]), "key_blob": ("VARCHAR", [blob])}
    write_table(opgauge.folder / "in.db", "mm_" + "a" * 32, key, config)
    round_trip(opgauge, opgauge.folder / "in.db")
    key["key_hash"] = ("VARCHAR", ["0" * 64])
    write_table(opgauge.folder / "bad.db", "mm_" + "a" * 32, key, config)
    done = opgauge("tune", "import", "bad.db", "--into", "x.db")
    assert (done.code, done.out) == (2, "")
    assert "'key_hash' is not the hash of its key_blob" in done.err


def test_hostile_names_are_data(opgauge):
    small_file(opgauge.folder / "in.db", 'a"; DROP TABLE x; --' + "_" + "c" * 32)
    round_trip(opgauge, opgauge.folder / "in.db")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("CREATE VIEW bad AS SELECT 1", "its view 'bad'"),
        ("CREATE TABLE bad (a)", "its table 'bad' has not the columns"),
        ("CREATE TABLE bad (key_0, a)", "its table 'bad' does not end with the digest"),
        ("CREATE VIRTUAL TABLE bad USING fts5(a)", "its virtual table 'bad'"),
    ],
)
def test_what_is_no_tuning_table_is_named(opgauge, statement, words):
    path = small_file(opgauge.folder / "in.db")
    with sqlite3.connect(path) as database:
        database.execute(statement)
    database.close()
    done = opgauge("tune", "import", path, "--into", "tuning.db")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not (opgauge.folder / "tuning.db").exists()


def test_triggers_are_named_and_do_not_run(opgauge):
    path = small_file(opgauge.folder / "in.db")
    with sqlite3.connect(path) as database:
        (table,) = database.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone()
        database.execute(f"CREATE TRIGGER bad AFTER INSERT ON {quoted(table)} BEGIN SELECT 1; END")
    database.close()
    done = opgauge("tune", "import", path, "--into", "tuning.db")
    assert (done.code, "its trigger 'bad'" in done.err) == (2, True)


def test_damaged_files_are_refused_by_name(opgauge):
    whole = small_file(opgauge.folder / "in.db").read_bytes()
    bad = opgauge.folder / "bad.db"
    for content, words in [
        (b"", "empty (0 bytes)"),
        (whole[: len(whole) // 2], "it was cut"),
        (b"x" * 500, "not an sqlite database"),
    ]:
        bad.write_bytes(content)
        done = opgauge("tune", "import", bad, "--into", "tuning.db")
        assert (done.code, words in done.err) == (2, True), done.err
    done = opgauge("tune", "list", "in.db")
    assert (done.code, "no tuning store of opgauge" in done.err) == (2, True)


def test_merge_diff_and_usage(opgauge):
    for name, block in (("a", 64), ("b", 128)):
        key = {"key_0": ("BIGINT", [1])}
        write_table(
            opgauge.folder / f"{name}.in", "mm_" + "a" * 32, key, {"BLOCK_M": ("BIGINT", [block])}
        )
        assert opgauge("tune", "import", f"{name}.in", "--into", f"{name}.db").code == 0
    merged = opgauge("tune", "merge", "a.db", "b.db", "--into", "m.db", "--json").json()
    assert [side["config"]["BLOCK_M"] for side in merged["disagreements"][0]["sides"]] == [64, 128]
    differs = opgauge("tune", "diff", "a.db", "b.db")
    assert (differs.code, "1 keys, 1 differ" in differs.out) == (1, True)
    assert opgauge("tune", "merge", "a.db").code == 2
    assert opgauge("tune", "merge", "a.db", "--into", "a.db").code == 2
    assert opgauge("tune", "export", "a.db", "b.in").code == 3


@pytest.mark.skipif(not REAL_FILE.is_file(), reason="OPGAUGE_FLAGGEMS_DB names no real database")
def test_the_real_file_comes_back_as_it_was(opgauge):
    round_trip(opgauge, REAL_FILE)
    (store,) = opgauge("tune", "show", "tuning.db", "--json").json()["stores"]
    assert (len(store["winners"]), len(store["timings"])) == (4, 648)
    assert all(winner["p50_ms"] for winner in store["winners"])


class StubConfig:
    """The part of triton.Config that FlagGems' store uses, with its parameters' names."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None):
        self.kwargs = kwargs
        self.rest = {"num_warps": num_warps, "num_ctas": num_ctas, "num_stages": num_stages}

    def all_kwargs(self):
        return {**self.kwargs, **self.rest}


def flaggems_store(monkeypatch, path: Path):
    """FlagGems' own store code, unmodified; only the compiler is a stand-in."""
    pytest.importorskip("sqlalchemy")
    monkeypatch.setitem(sys.modules, "triton", types.SimpleNamespace(Config=StubConfig))
    monkeypatch.syspath_prepend(str(Path(FLAGGEMS) / "src/flag_gems/utils"))
    models = importlib.import_module("models")
    return models.SQLPersistantModel(f"sqlite:///{path}")


@pytest.mark.skipif(not FLAGGEMS, reason="OPGAUGE_FLAGGEMS names no checkout")
def test_flaggems_own_code_reads_what_was_exported(opgauge, monkeypatch):
    source = REAL_FILE if REAL_FILE.is_file() else small_file(opgauge.folder / "in.db")
    out = round_trip(opgauge, source)
    (store,) = opgauge("tune", "show", "tuning.db", "--json").json()["stores"]
    model = flaggems_store(monkeypatch, out)
    for winner in store["winners"]:
        config = model.get_config(winner["space"], tuple(winner["key"]))
        assert config is not None
        got = config.all_kwargs()
        assert {name: got[name] for name in winner["config"]} == winner["config"]
    if source == REAL_FILE:
        for timing in store["timings"]:
            rest = dict(timing["config"])
            known = {n: rest.pop(n) for n in ("num_warps", "num_ctas", "num_stages")}
            times = model.get_benchmark(
                timing["space"], tuple(timing["key"]), StubConfig(rest, **known)
            )
            assert times == (timing["p50_ms"], timing["p20_ms"], timing["p80_ms"])
