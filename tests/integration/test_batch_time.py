# SPDX-License-Identifier: Apache-2.0
"""Where the time of runs and batches went: the parts sum to what the clock says."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from conftest import Tool, scripted_case, status_of
from lane import Lane
from test_batch import NATIVE, Batches, wait_for

TIMES = [1000.0 + i for i in range(20)]
WORDS = ["--backend", "fake", "--devices", "all", "--run-dir", "a"]


@pytest.fixture
def batches(opgauge: Tool) -> Batches:
    made = Batches(opgauge)
    made.script()
    return made


def total(parts: dict[str, float]) -> float:
    return sum(parts.values())


def check_sums(state: dict[str, Any]) -> None:
    """All lanes' time is that of the operators and what is outside of them."""
    known = sum(total(item["time"]) for item in state["operators"] if "time" in item)
    known += total(state["time"]["outside"])
    # A microsecond for each number that was rounded.
    assert known == pytest.approx(state["time"]["lane_seconds"], abs=1e-4)


def test_a_run_says_what_its_seconds_went_to(opgauge, script):
    case = scripted_case(4, TIMES, TIMES, delay_ms=150)
    case["base"]["burst"] = {"delay_ms": 120}
    words = script([case])
    assert opgauge(*words).code == 0
    status = status_of(opgauge.one_run())
    parts = status["time"]
    assert set(parts) == {
        "start", "import", "inputs", "first_calls", "compile", "tune", "measure", "check", "wait",
        "end", "other",
    }  # fmt: skip
    assert total(parts) == pytest.approx(status["seconds"], abs=1e-4)
    assert parts["measure"] >= 0.12
    assert parts["inputs"] + parts["first_calls"] >= 0.15
    assert parts["compile"] == parts["tune"] == 0


def test_a_lane_adds_what_is_before_and_behind_the_run(opgauge, script):
    script([scripted_case(4, TIMES, TIMES)])
    with Lane(opgauge, "--backend", "fake") as lane:
        ended, run = lane.run("mm")
        status = status_of(run)
        assert total(ended["time"]) >= status["seconds"] - 1e-4
        assert ended["time"]["measure"] == pytest.approx(status["time"]["measure"], abs=1e-5)
        unknown, _ = lane.run("softmx")
        assert {name for name, value in unknown["time"].items() if value > 0} == {"start"}


def test_the_parts_of_all_lanes_sum_to_the_clock(batches):
    batches.script(
        mm={"sleep": 0.4, "time": {"start": 0.05, "measure": 0.1, "tune": 0.15}},
        relu={"sleep": 0.1, "time": {"measure": 1e6, "wait": 1e6}},
        add={"sleep": 0.1, "time": {"measure": "long", "tune": -4, "lunch": 0.01}},
    )
    assert batches("*").code == 0
    state = batches.state()
    check_sums(state)
    items = {item["name"]: item["time"] for item in state["operators"]}
    assert list(items) == NATIVE
    assert items["mm"]["measure"] == 0.1
    assert items["mm"]["tune"] == 0.15
    assert items["mm"]["other"] >= 0.1
    # No lane knows more than the clock.
    assert items["relu"]["measure"] == pytest.approx(items["relu"]["wait"], abs=1e-5)
    assert total(items["relu"]) < 60
    # One that says nothing of use.
    assert {name for name, value in items["add"].items() if value > 0} == {"other"}
    assert state["time"]["lane_seconds"] > 0.5
    assert state["time"]["outside"]["start"] > 0


def test_a_lane_that_dies_has_lost_its_time(batches):
    batches.script(mm={"do": "crash", "sleep": 0.2})
    assert batches("*").code == 1
    state = batches.state()
    check_sums(state)
    (mm,) = [item for item in state["operators"] if item["name"] == "mm"]
    assert mm["time"]["lost"] >= 0.2
    assert total(mm["time"]) == pytest.approx(mm["time"]["lost"], abs=1e-3)


def test_an_attempt_that_is_repeated_is_lost(batches):
    sick = {"ok": False, "problems": ["it is lost"], "warnings": []}
    bad = {"status": "failed", "health": sick}
    batches.script(mm={"sleep": 0.3, "only_on": ["FAKE-0000"], **bad})
    assert batches("mm").code == 0
    state = batches.state()
    check_sums(state)
    assert state["time"]["outside"]["lost"] >= 0.3


def test_a_batch_that_went_on_counts_both_parts(batches):
    batches.devices(1)
    batches.script(**{op: {"sleep": 0.3} for op in NATIVE})
    child = batches.tool.start(*batches.words("*"))
    wait_for(lambda: batches.log.exists() and len(batches.given()) == 3)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    first = batches.state()
    check_sums(first)
    batches.script()
    assert batches.resume().code == 0
    second = batches.state()
    check_sums(second)
    assert second["time"]["lane_seconds"] > first["time"]["lane_seconds"]
    assert second["time"]["outside"]["lost"] > 0  # the one that was interrupted


def test_real_lanes_of_a_shared_device_account_for_their_lane_seconds(corpus_tool):
    corpus_tool.env["OPGAUGE_LOCKS"] = str(corpus_tool.folder / "locks")
    done = corpus_tool("batch", "mm", "abs", *WORDS, "--lanes-per-device", "2")
    assert done.code == 0, done.out + done.err
    folder = corpus_tool.folder / "a"
    state = json.loads((folder / "batch.json").read_text())
    check_sums(state)
    for item in state["operators"]:
        parts = item["time"]
        status = status_of(folder / item["run_dir"])
        assert total(status["time"]) == pytest.approx(status["seconds"], abs=1e-4)
        for name in ("import", "inputs", "measure"):
            assert parts[name] == pytest.approx(status["time"][name], abs=1e-5)
            assert parts[name] > 0
        # What no part explains is little of what the lane spent on it.
        assert parts["other"] <= 0.03 * total(parts) + 0.05


def measured_by_events(run: Path) -> float:
    """Seconds between each answer `more` and the child's next message."""
    seconds, since = 0.0, None
    for line in (run / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        kind = event["message"].get("type")
        if since is not None:
            seconds += event["t_s"] - since
            since = None
        if kind in ("more", "cool_down"):
            since = event["t_s"]
    return seconds


def test_the_measuring_of_a_real_child_is_what_its_conversation_shows(corpus_tool):
    done = corpus_tool("run", "mm", "--backend", "fake", "--root", "runs")
    assert done.code == 0, done.out + done.err
    run = corpus_tool.one_run()
    status = status_of(run)
    seen = measured_by_events(run)
    assert seen > 0
    # Both are read in one process, a few microseconds apart for each message.
    assert status["time"]["measure"] == pytest.approx(seen, rel=0.2, abs=0.05)
