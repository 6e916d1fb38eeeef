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
    batches.script(mm={"sleep": 0.3, "status": "failed", "health": sick})
    batches("mm")
    assert batches.given() == ["mm", "mm"]
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


def test_status_says_where_the_time_went_and_what_would_shorten_it(batches):
    batches.script(
        mm={"sleep": 0.5, "time": {"tune": 0.3, "measure": 0.1}},
        relu={"sleep": 0.3, "time": {"measure": 0.25}},
    )
    assert batches("mm", "relu", "add").code == 0
    where = batches.tool("batch", "status", "a", "--where", "--json").json()["where"]
    state = batches.state()
    assert where["lane_seconds"] == state["time"]["lane_seconds"]
    assert where["seconds"] == pytest.approx(where["lane_seconds"], abs=1e-4)
    assert where["parts"]["tune"] == pytest.approx(0.3)
    assert where["parts"]["measure"] == pytest.approx(0.35)
    assert (where["known"], where["unknown"], where["unfinished"]) == (3, 0, 0)
    first, second, third = where["operators"]
    assert (first["name"], first["largest"]) == ("mm", "tune")
    assert (second["name"], second["largest"]) == ("relu", "measure")
    assert third["name"] == "add"
    assert "--max-time" in second["hint"]

    text = batches.tool("batch", "status", "a", "--where").out
    assert "where the time went: " in text
    assert "lanes that run side by side count each" in text
    (line,) = [line for line in text.splitlines() if line.startswith("mm ")]
    assert "tune" in line and "--from THIS_BATCH" in line
    assert "where the time went" not in batches.tool("batch", "status", "a").out


def test_a_report_shows_where_the_time_went(batches):
    batches.script(mm={"sleep": 0.2, "time": {"compile": 0.15}})
    assert batches("mm").code == 0
    # Stub lanes leave no run that a report could read.
    (batches.folder / "runs/mm/run_identity.json").unlink()
    made = scripted_case(4, TIMES, TIMES)
    script = batches.tool.folder / "script.json"
    script.write_text(json.dumps({"tests": [{"node": "fake::mm", "cases": [made]}]}))
    run = ["run", "mm", "--backend", "fake", "--run-dir", "a/runs/made"]
    assert batches.tool(*run, OPGAUGE_FAKE_SCRIPT=str(script)).code == 0
    text = batches.tool("report", "a").out
    assert "where the time went: " in text
    assert "TRITON_CACHE_DIR" in text
    markdown = batches.tool("report", "a", "--format", "markdown").out
    assert "<summary>Where the time went</summary>" in markdown
    assert "| compile |" in markdown
    report = batches.tool("report", "a", "--format", "json").json()
    assert report["time"]["operators"][0]["largest"] == "compile"
    assert report["time"]["parts"]["compile"] == 0.15
    page = batches.tool("report", "a", "--format", "html").out
    assert '"head":["where the time went: ' in page


def test_a_batch_that_runs_and_one_that_never_kept_its_time_are_shown(batches):
    batches.devices(1)
    batches.script(relu={"sleep": 60})
    child = batches.tool.start(*batches.words("add", "relu"))
    wait_for(lambda: batches.log.exists() and batches.given() == ["add", "relu"])
    wait_for(lambda: [item["state"] for item in batches.state()["operators"]][1] == "running")
    where = batches.tool("batch", "status", "a", "--where", "--json").json()["where"]
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert (where["known"], where["unfinished"]) == (1, 1)
    assert where["seconds"] <= where["lane_seconds"] + 1e-4

    state = batches.state()
    state.pop("time")
    for item in state["operators"]:
        item.pop("time")
    (batches.folder / "batch.json").write_text(json.dumps(state))
    text = batches.tool("batch", "status", "a", "--where").out
    assert "where the time went: unknown; it was measured by an opgauge that kept no such" in text
    old = batches.tool("batch", "status", "a", "--where", "--json").json()["where"]
    assert (old["lane_seconds"], old["seconds"], old["unknown"]) == (None, 0, 2)
