# SPDX-License-Identifier: Apache-2.0
"""One process of a host measures at a time, whatever happens to the others."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from contextlib import contextmanager

import pytest
from conftest import rows_of, scripted_case, status_of
from lane import Lane

TIMES = [1000.0 + i for i in range(20)]


def slow_cases(count):
    side = {"values_ns": TIMES, "estimate_ns": 1000, "burst": {"delay_ms": 20}}
    return [scripted_case(i + 1) | {"base": side, "candidate": side} for i in range(count)]


def endless_case():
    return [scripted_case(1) | {"base": {"values_ns": TIMES, "burst": {"crash": "hang"}}}]


@contextmanager
def section_taken(tool):
    """This test measures, as far as others can see."""
    folder = tool.folder / "locks"
    folder.mkdir(exist_ok=True)
    with (folder / "measure.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def events(run):
    if not (run / "events.jsonl").exists():
        return []
    lines = (run / "events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}}")]


def sides_begun(run):
    """The numbers of the questions, and those of the answers to them."""
    asked = [e["message"]["seq"] for e in events(run) if e["message"].get("type") == "side_begin"]
    answers = {e["message"]["to"] for e in events(run) if e["from"] == "parent"}
    return asked, [seq for seq in asked if seq in answers]


def wait_for(condition):
    until = time.monotonic() + 50
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def start(tool, words, name, **env):
    run = tool.folder / name
    return tool.start(*words, "--run-dir", run, **env), run


def test_a_side_begins_when_the_section_is_free_and_the_wait_is_in_its_row(opgauge, script):
    words = script(slow_cases(2))
    with section_taken(opgauge):
        # The limit without progress is shorter than the wait.
        process, run = start(opgauge, [*words, "--stall", "1"], "a")
        wait_for(lambda: sides_begun(run)[0])
        time.sleep(1.3)
        assert sides_begun(run) == ([sides_begun(run)[0][0]], [])
    process.communicate(timeout=30)
    assert process.returncode == 0
    first, second = rows_of(run)
    assert first["waited_s"] >= 1.3
    assert first["seconds"] >= first["waited_s"]
    assert second["waited_s"] == 0
    assert [row["flags"] for row in (first, second)] == [[], []]


def test_two_processes_never_measure_at_once(opgauge, script):
    words = script(slow_cases(8))
    with Lane(opgauge, "--backend", "fake") as lane:
        with section_taken(opgauge):
            process, run = start(opgauge, words, "a")
            lane_run = lane.give("mm")
            wait_for(lambda: sides_begun(run)[0] and sides_begun(lane_run)[0])
        assert lane.until("ended")["status"] == "passed"
        process.communicate(timeout=30)
    rows = rows_of(run) + rows_of(lane_run)
    # Each counts who else is inside; none has ever seen another.
    assert [row["flags"] for row in rows] == [[]] * 16
    assert status_of(run)["status"] == "passed"
    identity = json.loads((run / "run_identity.json").read_text())
    assert identity["settings"]["parallel_measure"] is False


def test_parallel_measure_waits_for_nobody_and_counts_the_others(opgauge, script):
    other, run = start(opgauge, script(endless_case()), "endless")
    wait_for(lambda: sides_begun(run)[1])
    words = script(slow_cases(2))
    process, run = start(opgauge, [*words, "--parallel-measure"], "a")
    process.communicate(timeout=30)
    assert [row["flags"] for row in rows_of(run)] == [["neighbours=1"]] * 2
    assert [row["waited_s"] for row in rows_of(run)] == [0, 0]
    assert status_of(run)["markers"] == {"neighbours": 2}
    identity = json.loads((run / "run_identity.json").read_text())
    assert identity["settings"]["parallel_measure"] is True
    other.kill()
    other.communicate()


def test_one_that_is_killed_inside_gives_the_section_back(opgauge, script):
    victim, run = start(opgauge, script(endless_case()), "victim")
    wait_for(lambda: sides_begun(run)[1])
    other, other_run = start(opgauge, script(slow_cases(2)), "other")
    wait_for(lambda: sides_begun(other_run)[0])
    time.sleep(0.2)
    assert sides_begun(other_run)[1] == []
    victim.kill()
    victim.communicate()
    other.communicate(timeout=30)
    assert other.returncode == 0
    assert rows_of(other_run)[0]["waited_s"] >= 0.2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_waiting(opgauge, script, number):
    words = script(slow_cases(1))
    with section_taken(opgauge):
        process, run = start(opgauge, words, "a")
        wait_for(lambda: sides_begun(run)[0])
        process.send_signal(number)
        process.communicate(timeout=30)
    assert process.returncode == 128 + number
    assert status_of(run)["status"] == "interrupted"


def test_a_child_that_dies_ends_the_waiting(opgauge, script):
    words = script(slow_cases(1))
    with section_taken(opgauge):
        process, run = start(opgauge, words, "a")
        wait_for(lambda: sides_begun(run)[0])
        os.kill(events(run)[0]["message"]["pid"], signal.SIGKILL)
        process.communicate(timeout=30)
    assert status_of(run)["status"] == "crashed"
    assert rows_of(run)[0]["error"]["kind"] == "crashed"


def test_without_a_folder_for_locks_it_measures_and_says_so(opgauge, script):
    blocked = opgauge.folder / "a-file"
    blocked.write_text("")
    words = script(slow_cases(1))
    run = opgauge.folder / "a"
    assert opgauge(*words, "--run-dir", run, OPGAUGE_LOCKS=str(blocked)).code == 0
    identity = json.loads((run / "run_identity.json").read_text())
    assert str(blocked) in identity["unknown"]["measuring_section"]
