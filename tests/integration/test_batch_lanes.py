# SPDX-License-Identifier: Apache-2.0
"""Whatever a lane does costs the operator that it runs and nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from conftest import Tool, scripted_case
from test_batch import NATIVE, Batches, wait_for


@pytest.fixture
def batches(opgauge: Tool) -> Batches:
    made = Batches(opgauge)
    made.script()
    return made


def others(batches: Batches) -> set[str]:
    return {status for op, status in batches.statuses().items() if op != "mm"}


def left_processes(batches: Batches) -> list[int]:
    pids = {line["pid"] for line in batches.lines()}
    pids |= {line["left_behind"] for line in batches.lines() if "left_behind" in line}
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


BAD = {
    "crash": "was killed by signal 11 (SIGSEGV)",
    "abort": "was killed by signal 6 (SIGABRT)",
    "exit_zero": "exited with 0",
    "exit_three": "exited with 3",
    "garbage": "a channel line is not JSON",
    "half_line": "exited with 0",
    "gigabyte": "a channel line is longer than 1 MiB",
    "flood": "it said more than 200000 messages",
    "wrong_seq": "a channel line should have seq",
    "other_index": "it told the end of what it was not given",
    "ask_again": "it asked for work before its last was told",
    "deep": "nests too deep",
    "not_an_object": "is not a JSON object",
    "leave_child": "was killed by signal 9 (SIGKILL)",
    "close": "it closed its channel and went on",
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_lane_costs_one_operator(batches, bad):
    batches.script(mm={"do": bad})
    done = batches("*")
    assert done.code == 1, done.err
    row = batches.rows()["mm"]
    assert row["status"] == "crashed"
    assert BAD[bad] in row["error"]
    assert others(batches) == {"passed"}
    assert sorted(batches.given()) == NATIVE
    assert left_processes(batches) == []


def test_what_a_killed_lane_had_measured_is_counted(batches, script):
    cases = [
        scripted_case(64, [5000, 5010], [4000, 4010]),
        scripted_case(128, end={"status": "failed", "error": {}}),
    ]
    assert batches.tool(*script(cases), OPGAUGE_LANE_PROGRAM="").code == 1
    batches.script(mm={"do": "crash", "like": str(batches.tool.one_run())})
    batches("mm", "add")
    row = batches.rows()["mm"]
    assert row["status"] == "crashed"
    assert (row["rows_ok"], row["rows_failed"], row["rows_flagged"]) == ("1", "1", "0")


@pytest.mark.parametrize("silent", ["hang", "stop_itself", "hang_for_good"])
def test_a_silent_lane_is_ended(batches, silent):
    batches.script(mm={"do": silent})
    begin = time.time()
    done = batches("*", "--lane-silence", "1")
    assert done.code == 1
    assert batches.statuses()["mm"] == "timeout"
    assert "it said nothing for 1 s" in batches.rows()["mm"]["error"]
    assert others(batches) == {"passed"}
    assert time.time() - begin < 40
    assert left_processes(batches) == []


@pytest.mark.parametrize(
    ("odd", "status"),
    [("ended_empty", "failed"), ("wrong_types", "failed"), ("unknown_message", "passed"),
     ("ended_then_garbage", "passed"), ("end_twice", "passed")],
)  # fmt: skip
def test_an_odd_end_is_taken_as_far_as_it_goes(batches, odd, status):
    batches.script(mm={"do": odd})
    batches("*")
    assert batches.statuses()["mm"] == status
    assert others(batches) == {"passed"}


def test_a_run_that_ended_before_its_lane_died_counts(batches):
    batches.script(mm={"do": "write_status_and_die"})
    assert batches("*").code == 0
    row = batches.rows()["mm"]
    assert (row["status"], row["seconds"], row["rows_ok"]) == ("passed", "2.500", "3")


def test_the_next_begins_when_the_old_process_is_gone(batches):
    batches.devices(1)
    batches.script(add={"do": "leave_child"})
    batches("add", "mm")
    left = next(line for line in batches.lines() if "left_behind" in line)
    assert not Path(f"/proc/{left['left_behind']}").exists()
    assert batches.given() == ["add", "mm"]


def test_three_crashes_in_a_row_take_the_device_out(batches):
    batches.devices(1)
    batches.script(**{op: {"do": "crash"} for op in ("add", "layer_norm", "mm")})
    done = batches("*")
    assert done.code == 4
    assert "device FAKE-0000 is taken out: its lane ended 3 times in a row" in done.err
    assert list(batches.statuses().values()) == ["crashed"] * 3 + ["not_run"] * 3
    assert batches.state()["state"] == "no_device"
    batches.script()
    assert batches.resume().code == 1
    assert list(batches.statuses().values()) == ["crashed"] * 3 + ["passed"] * 3


def test_a_crash_that_is_followed_by_an_end_starts_the_count_anew(batches):
    batches.devices(1)
    batches.script(**{op: {"do": "crash"} for op in ("add", "layer_norm", "relu", "softmax")})
    assert batches("*").code == 1
    assert list(batches.statuses().values()).count("crashed") == 4


def test_lanes_that_never_start_leave_everything_not_run(batches):
    done = batches("*", OPGAUGE_LANE_PROGRAM="/nonexistent/lane")
    assert done.code == 4
    assert set(batches.statuses().values()) == {"not_run"}
    assert done.err.count("is taken out") == 2


def test_a_sick_device_is_taken_out_and_its_operator_goes_to_another(batches):
    batches.script(
        add={"sleep": 0.5},
        mm={
            "only_on": ["FAKE-0000"], "status": "failed", "reason": "device lost",
            "health": {"ok": False, "problems": ["it does not answer"], "warnings": []},
        },
    )  # fmt: skip
    batches.devices(1)
    done = batches("mm", "add")
    assert done.code == 4
    assert "device FAKE-0000 is taken out: it does not answer" in done.err
    assert batches.statuses() == {"mm": "not_run", "add": "not_run"}
    batches.devices(2)
    assert batches.resume().code == 0
    assert batches.statuses() == {"mm": "passed", "add": "passed"}


def test_a_table_that_cannot_be_written_ends_the_batch(batches):
    batches.script(**{op: {"sleep": 0.3} for op in NATIVE})
    child = batches.tool.start(*batches.words("*"))
    wait_for(lambda: batches.log.exists())
    (batches.folder / "ops_status.csv").unlink()
    (batches.folder / "ops_status.csv").mkdir()
    _, err = child.communicate(timeout=30)
    assert child.returncode == 4
    assert "no more operators are begun" in err
    assert len(batches.given()) < 6
    (batches.folder / "ops_status.csv").rmdir()
    assert batches.resume().code == 0
    assert set(batches.statuses().values()) == {"passed"}
    assert sorted(batches.given()) == NATIVE
