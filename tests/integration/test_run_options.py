# SPDX-License-Identifier: Apache-2.0
"""Options that choose how a run measures: what is refused, and what reaches the rows."""

from __future__ import annotations

import json

import pytest
from conftest import BINARY, rows_of, scripted_case, status_of

STEADY = [1e6] * 20
FASTER = [5e5] * 20
needs_operators = pytest.mark.skipif(
    not (BINARY.parent / "opgauge-operators").exists(), reason="built without the native corpus"
)


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["--l2", "warm"], 2, "--l2 warm: it takes cold or hot"),
        (["--l2", "hot"], 3, "--l2 hot: timer host leaves the cache as it is; use --timer event"),
        (["--timer", "event"], 3, "--timer event: the native corpus is timed with host"),
        (["--timer", "graph"], 3, "--timer graph: the native corpus is timed with host"),
        (["--heat", "warm"], 2, "--heat: warm not in {burst,sustained}"),
        (["--stopping", "best"], 2, "--stopping: best not in {interval,stdrel,entropy}"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(opgauge, script, words, code, line):
    done = opgauge(*script([scripted_case(1, STEADY, FASTER)]), *words)
    assert done.code == code, done.err
    assert line in done.err
    assert done.err.count("\n") == 1
    assert not (opgauge.folder / "runs").exists()


def test_a_capability_that_the_backend_lacks_is_named(opgauge, script):
    words = [*script([scripted_case(1, STEADY, FASTER)]), "--timer", "event"]
    done = opgauge(*words, OPGAUGE_FAKE_CAPABILITIES="graph_capture")
    assert done.code == 3
    assert "backend fake has no capability event_timing; use host" in done.err


def test_exclusive_refuses_a_device_that_others_use(opgauge, script):
    words = [*script([scripted_case(1, STEADY, FASTER)]), "--exclusive"]
    devices = json.dumps([{"uuid": "FAKE-0000", "pids": [41, 42]}])
    done = opgauge(*words, OPGAUGE_FAKE_DEVICES=devices)
    assert done.code == 3
    assert (
        "--exclusive: device FAKE-0000 is used by 2 other processes, the first is 41 (other); "
        "wait for them or choose another device" in done.err
    )
    assert done.err.count("\n") == 1
    assert not (opgauge.folder / "runs").exists()
    assert opgauge(*words).code == 0


def test_exclusive_refuses_a_device_that_does_not_tell(opgauge):
    done = opgauge("run", "mm", "--exclusive")
    assert done.code == 3
    assert "does not tell which processes use device 0; leave it out" in done.err


def test_neighbours_flag_the_row_where_they_are_not_refused(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    devices = json.dumps([{"uuid": "FAKE-0000", "pids": [1]}])
    assert opgauge(*words, OPGAUGE_FAKE_DEVICES=devices).code == 0
    run = opgauge.one_run()
    assert [row["flags"] for row in rows_of(run)] == [["shared_device"]]
    assert status_of(run)["rows"]["flagged"] == 1


def test_a_device_that_stays_slow_has_its_rows_and_says_so(opgauge, script):
    words = script([scripted_case(i, STEADY, FASTER) for i in (1, 2)])
    slow = {"sm_clock_mhz": 1170, "max_sm_clock_mhz": 1980, "throttle_reasons": ["sw_power_cap"]}
    done = opgauge(*words, OPGAUGE_FAKE_TELEMETRY=json.dumps([slow]))
    assert done.code == 0, done.err
    rows = rows_of(opgauge.one_run())
    assert [row["flags"] for row in rows] == [["throttled:sw_power_cap@1170MHz"]] * 2
    assert [row["base"]["sm_clock_mhz"] for row in rows] == [1170, 1170]
    assert [row["base"].get("dropped_bursts", 0) for row in rows] == [3, 0]
    assert [row["speedup"] for row in rows] == [2.0, 2.0]


def test_a_slow_burst_is_measured_again(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    fast = {"sm_clock_mhz": 1980, "max_sm_clock_mhz": 1980, "throttle_reasons": []}
    slow = {**fast, "sm_clock_mhz": 1200, "throttle_reasons": ["sw_power_cap"]}
    telemetry = json.dumps([slow] * 3 + [fast])
    assert opgauge(*words, OPGAUGE_FAKE_TELEMETRY=telemetry).code == 0
    run = opgauge.one_run()
    (row,) = rows_of(run)
    assert row["flags"] == []
    assert row["base"]["sm_clock_mhz"] == 1980
    assert row["base"]["dropped_bursts"] >= 1
    samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    for side in samples:
        assert sum(burst["samples"] for burst in side["bursts"]) == len(side["values_ns"])


def test_a_published_rule_ends_each_side_of_a_script(opgauge, script):
    long = [1e8] * 20
    words = script([scripted_case(1, long, [5e7] * 20)])
    assert opgauge(*words, "--stopping", "stdrel", "--max-time", "10").code == 0
    (row,) = rows_of(opgauge.one_run())
    assert row["base"]["stopped_by"] == row["candidate"]["stopped_by"] == "stdrel"
    assert row["base"]["samples"] == 6  # the first number whose sum is above 0.5 s
    assert row["candidate"]["samples"] == 11


@needs_operators
@pytest.mark.parametrize("rule", ["stdrel", "entropy"])
def test_a_published_rule_runs_on_the_native_corpus(opgauge, rule):
    words = ["--dtypes", "float32", "--no-check", "--max-time", "0.02"]
    done = opgauge("run", "relu", "--stopping", rule, *words)
    assert done.code == 0, done.err
    rows = rows_of(opgauge.one_run())
    assert [row["status"] for row in rows] == ["ok"] * 3
    for row in rows:
        for side in ("base", "candidate"):
            assert row[side]["stopped_by"] in {rule, "max_time"}
