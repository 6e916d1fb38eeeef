# SPDX-License-Identifier: Apache-2.0
"""A run that was ended in any way goes on in its folder and measures nothing twice."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Tool, rows_of, scripted_case, status_of

STEADY = [1e6] * 20
FASTER = [5e5] * 20
# The first and the third case of a test are the same: each is measured.
SHAPES = ((1, 2, 1, 3), (4, 5))


def write_tests(opgauge: Tool, delay_ms: int, shapes=SHAPES) -> None:
    tests = [
        {
            "node": f"fake::test_{number}",
            "cases": [scripted_case(n, STEADY, FASTER, delay_ms=delay_ms) for n in sizes],
        }
        for number, sizes in enumerate(shapes)
    ]
    Path(opgauge.env["OPGAUGE_FAKE_SCRIPT"]).write_text(json.dumps({"tests": tests}))


@pytest.fixture
def words(opgauge, script) -> list[str]:
    return script([])


def cases(run: Path) -> list[tuple[Any, Any, Any]]:
    return [(row["index"], row["case"]["shapes"], row["status"]) for row in rows_of(run)]


def measured(run: Path) -> list[Any]:
    """The shapes of every candidate side that some child has finished."""
    shapes: list[Any] = []
    open_case = None
    for line in (run / "events.jsonl").read_text().splitlines():
        message = json.loads(line)["message"]
        if message["type"] == "case_begin":
            open_case = message["case"]["shapes"]
        if message["type"] == "case_end":
            shapes.append(open_case)
    return shapes


def rows_so_far(run: Path) -> int:
    path = run / "rows.jsonl"
    return path.read_text().count('"status":"ok"') if path.exists() else 0


def end_after(opgauge: Tool, words: list[str], run: Path, rows: int, number: int) -> None:
    """Ends a run once it has so many rows more."""
    before = rows_so_far(run)
    process = opgauge.start(*words)
    deadline = time.monotonic() + 30
    while rows_so_far(run) < before + rows and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(number)
    process.communicate(timeout=30)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_again_and_again_has_the_rows_of_an_unbroken_one(
    opgauge, words, number
):
    write_tests(opgauge, 0)
    assert opgauge(*words, "--run-dir", "whole").code == 0
    whole = opgauge.folder / "whole"
    write_tests(opgauge, 300)
    run = opgauge.folder / "broken"
    end_after(opgauge, [*words, "--run-dir", "broken"], run, 1, number)
    for _ in range(3):
        end_after(opgauge, [*words, "--resume", "broken"], run, 1, number)
    write_tests(opgauge, 0)
    done = opgauge(*words, "--resume", "broken")
    assert done.code == 0, done.err
    assert cases(run) == cases(whole)
    assert measured(run) == measured(whole)
    status, expected = status_of(run), status_of(whole)
    for name in ("status", "rows", "geomean_speedup", "geomean_n"):
        assert status[name] == expected[name]
    assert [test["node"] for test in status["tests"]] == ["fake::test_0", "fake::test_1"]
    assert status["kept_rows"] >= 4
    identity = json.loads((run / "run_identity.json").read_text())
    assert len(identity["resumed_utc"]) == 4
    samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    assert [line["index"] for line in samples] == [n for n in range(1, 7) for _ in "ab"]


def test_a_torn_line_is_cut_off_and_its_case_measured_again(opgauge, words):
    write_tests(opgauge, 0)
    assert opgauge(*words, "--run-dir", "run").code == 0
    run = opgauge.folder / "run"
    (run / "status.json").unlink()
    whole = cases(run)
    text = (run / "rows.jsonl").read_text()
    (run / "rows.jsonl").write_text(text[: len(text) - 50])
    events = (run / "events.jsonl").read_text()
    (run / "events.jsonl").write_text(events[: events.index('"type":"test_end"', 9) + 5])
    assert opgauge(*words, "--resume", "run").code == 0
    assert cases(run) == whole
    for line in (run / "events.jsonl").read_text().splitlines():
        json.loads(line)


def test_a_finished_run_is_refused_and_untouched(opgauge, words):
    write_tests(opgauge, 0)
    assert opgauge(*words, "--run-dir", "run").code == 0
    before = {path.name: path.read_bytes() for path in (opgauge.folder / "run").iterdir()}
    done = opgauge(*words, "--resume", "run")
    assert done.code == 3
    assert "cannot be resumed: it is finished (passed)" in done.err
    assert before == {path.name: path.read_bytes() for path in (opgauge.folder / "run").iterdir()}


def test_another_caliber_is_refused_with_each_fact_that_differs(opgauge, words):
    write_tests(opgauge, 0)
    assert opgauge(*words, "--run-dir", "run").code == 0
    (opgauge.folder / "run/status.json").unlink()
    done = opgauge(*words, "--resume", "run", "--heat", "sustained", OMP_NUM_THREADS="3")
    assert done.code == 3
    assert 'heat (was "burst", is "sustained")' in done.err
    assert '"OMP_NUM_THREADS":"3"' in done.err
    assert "settings" not in done.err
    assert len(cases(opgauge.folder / "run")) == 6


def test_a_folder_that_no_run_left_is_refused_and_one_without_an_identity_starts_anew(
    opgauge, words
):
    write_tests(opgauge, 0)
    mine = opgauge.folder / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("kept")
    done = opgauge(*words, "--resume", "mine")
    assert done.code == 3
    assert "it is no run's folder, it has no run_identity.json" in done.err
    assert (mine / "thesis.txt").read_text() == "kept"
    early = opgauge.folder / "early"
    early.mkdir()
    (early / "rows.jsonl").write_text("")
    assert opgauge(*words, "--resume", "early").code == 0
    assert len(cases(early)) == 6
    assert opgauge(*words, "--resume", "absent").code == 2


def test_winners_of_the_earlier_part_are_not_tuned_again(opgauge, words):
    key = {
        "id": 1,
        "kernel": "mm_kernel",
        "space": "",
        "key": [64],
        "raw_key": [64],
        "facts": {"kernel_source_hash": "h", "compiler": "c"},
        "configs": 2,
    }
    tuned = {
        "id": 1,
        "config": {"BLOCK": 64},
        "times": [1.0, 1.0, 1.0],
        "seconds": 2.0,
        "timed": 1,
        "timings": [{"config": {"BLOCK": 64}, "times": [1.0, 1.0, 1.0]}],
        "failed": [],
    }
    end = {"status": "ok", "winners": [1]}
    step = {"winner": key, "tuned": [tuned]}
    both = [scripted_case(n, STEADY, FASTER, tuning=[step], end=end) for n in (1, 2)]
    path = Path(opgauge.env["OPGAUGE_FAKE_SCRIPT"])
    record = [*words, "--tune", "record"]
    stuck = [both[0], {**both[1], "delay_ms": 20000}]
    path.write_text(json.dumps({"tests": [{"node": "fake::mm", "cases": stuck}]}))
    run = opgauge.folder / "run"
    end_after(opgauge, [*record, "--run-dir", "run"], run, 1, signal.SIGKILL)
    path.write_text(json.dumps({"tests": [{"node": "fake::mm", "cases": both}]}))
    done = opgauge(*record, "--resume", "run")
    assert done.code == 0, done.err
    events = (run / "events.jsonl").read_text()
    assert events.count('"type":"tuned"') == 1
    assert events.count('"type":"use"') == 1
    first, second = rows_of(run)
    assert first["winners_digest"] == second["winners_digest"] != ""
    identity = json.loads((run / "run_identity.json").read_text())
    assert identity["tuning"]["winners_digest"] == first["winners_digest"]
