# SPDX-License-Identifier: Apache-2.0
"""A crash, a hang or a lack of memory costs one case: another child goes on behind it."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import rows_of, scripted_case, status_of

STEADY = [1e6] * 20
FASTER = [5e5] * 20


def good(index: int, **more: Any) -> dict[str, Any]:
    return scripted_case(index, STEADY, FASTER, **more)


def statuses(run: Path) -> list[str]:
    return [row["status"] for row in rows_of(run)]


def children(run: Path) -> int:
    lines = (run / "events.jsonl").read_text().splitlines()
    return sum('"type":"hello"' in line for line in lines)


def quarantine(opgauge) -> list[dict[str, Any]]:
    folder = opgauge.folder / ".cache/opgauge/quarantine"
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def test_a_crash_in_case_two_and_a_hang_in_case_three_cost_two_of_five_cases(opgauge, script):
    cases = [good(1), scripted_case(2, crash="segv"), scripted_case(3, crash="hang")]
    done = opgauge(*script([*cases, good(4), good(5)]), "--stall", "1")
    assert done.code == 1
    run = opgauge.one_run()
    assert statuses(run) == ["ok", "failed", "failed", "ok", "ok"]
    assert [row["index"] for row in rows_of(run)] == [1, 2, 3, 4, 5]
    assert [row["error"]["kind"] for row in rows_of(run)[1:3]] == ["crashed", "timeout"]
    status = status_of(run)
    assert status["status"] == "crashed"
    assert status["reason"] == (
        "1 of 5 cases crashed, first mm float16 2x2: the child was killed by signal 11 (SIGSEGV)"
        "; 1 of 5 cases timed out, first mm float16 3x3: the child was ended after its limit "
        "(stall 1 s)"
    )
    assert [test["outcome"] for test in status["tests"]] == ["passed"]
    assert status["rows"] == {"ok": 3, "failed": 2, "invalid": 0, "skipped": 0, "flagged": 0}
    assert children(run) == 3
    assert [entry["kind"] for entry in quarantine(opgauge)] == ["crashed", "timeout"]


def test_a_native_child_that_is_killed_costs_one_case(opgauge):
    run = opgauge.folder / "run"
    process = opgauge.start("run", "sum", "--corpus", "native", "--run-dir", run)
    events, killed = run / "events.jsonl", False
    until = time.monotonic() + 60
    while not killed:
        assert time.monotonic() < until
        text = events.read_text() if events.exists() else ""
        if text.count('"type":"case_begin"') >= 3 and text.endswith("\n"):
            hello = json.loads(text.splitlines()[0])["message"]
            os.kill(hello["pid"], signal.SIGKILL)
            killed = True
        time.sleep(0.01)
    process.communicate(timeout=120)
    rows = rows_of(run)
    assert len({json.dumps(row["case"], sort_keys=True) for row in rows}) == len(rows) == 6
    assert sorted(row["status"] for row in rows) == ["failed"] + ["ok"] * 5
    assert status_of(run)["reason"].startswith("1 of 6 cases crashed, first sum ")


def test_three_children_in_a_row_without_a_finished_case_end_the_run(opgauge, script):
    done = opgauge(*script([good(1), *(scripted_case(i, crash="kill") for i in range(2, 7))]))
    assert done.code == 1
    run = opgauge.one_run()
    assert statuses(run) == ["ok", "failed", "failed", "failed"]
    reason = status_of(run)["reason"]
    assert reason.startswith("3 of 4 cases crashed, first mm float16 2x2: ")
    assert reason.endswith("not measured: 3 children in a row finished no case")


def test_at_most_eight_children_are_replaced(opgauge, script):
    cases = []
    for index in range(1, 25, 2):
        cases += [good(index), scripted_case(index + 1, crash="kill")]
    assert opgauge(*script(cases)).code == 1
    run = opgauge.one_run()
    assert children(run) == 9
    assert statuses(run) == ["ok", "failed"] * 9
    assert status_of(run)["reason"].endswith("9 children were lost")


@pytest.mark.parametrize("crash", ["segv", "exit:3"])
def test_a_child_that_dies_outside_any_case_costs_its_test(opgauge, script, crash):
    words = script([good(1)])
    path = Path(opgauge.env["OPGAUGE_FAKE_SCRIPT"])
    tests = [
        {"node": "fake::dies", "cases": [good(1)], "crash": crash},
        {"node": "fake::mm", "cases": [good(2)]},
    ]
    path.write_text(json.dumps({"tests": tests}))
    assert opgauge(*words).code == 1
    run = opgauge.one_run()
    assert statuses(run) == ["ok", "ok"]
    assert [test["outcome"] for test in status_of(run)["tests"]] == ["error", "passed"]
    assert status_of(run)["status"] == ("crashed" if crash == "segv" else "failed")
    assert "outside any case" in status_of(run)["reason"]
    assert children(run) == 2


def test_a_child_that_dies_at_its_start_is_not_replaced(run_corpus, opgauge):
    (opgauge.folder / "conftest.py").write_text("import os\nos._exit(3)\n")
    (opgauge.folder / "test_it.py").write_text("def test_it():\n    pass\n")
    done = run_corpus("--node", "test_it.py::test_it", OPGAUGE_CORPUS=str(opgauge.folder))
    assert done.code == 1
    assert children(opgauge.one_run()) == 1
    assert status_of(opgauge.one_run())["status"] == "failed"


def oom(index: int) -> dict[str, Any]:
    error = {"kind": "oom", "message": "out of memory: 4 GiB"}
    return scripted_case(
        index, end={"status": "failed", "error": error}, after={"crash": "exit:89"}
    )


# Case C14: the device's free memory stays low for a while.
def test_after_a_lack_of_memory_the_next_child_waits_until_it_is_back(opgauge, script):
    gib = 2**30
    words = script([good(1), good(2), oom(3), good(4), good(5)])
    free = [{"memory_free_bytes": bytes} for bytes in (16 * gib, 2 * gib, 2 * gib, 16 * gib)]
    done = opgauge(*words, OPGAUGE_FAKE_TELEMETRY=json.dumps(free))
    assert done.code == 1
    run = opgauge.one_run()
    assert statuses(run) == ["ok", "ok", "failed", "ok", "ok"]
    assert status_of(run)["status"] == "oom"
    assert status_of(run)["reason"] == (
        "1 of 5 cases ran out of memory, first mm float16 3x3: out of memory: 4 GiB"
    )
    assert status_of(run)["log"] == []
    assert children(run) == 2
    assert quarantine(opgauge) == []


def test_memory_that_does_not_come_back_is_told(opgauge, script):
    gib = 2**30
    free = [{"memory_free_bytes": 16 * gib}, {"memory_free_bytes": 2 * gib}]
    words = script([oom(1), good(2)])
    assert opgauge(*words, OPGAUGE_FAKE_TELEMETRY=json.dumps(free)).code == 1
    run = opgauge.one_run()
    assert statuses(run) == ["failed", "ok"]
    assert status_of(run)["log"] == [
        "the device's memory has not come back after 10 s: 2.00 GiB free, 16.00 GiB before the "
        "run; going on all the same"
    ]


@pytest.fixture
def run_corpus(corpus_tool):
    def start(*words: str, **env: str):
        return corpus_tool("run", *words, "--backend", "fake", **env)

    return start


MM = ("mm", "--dtypes", "float16", "--shapes", "upstream")


@pytest.mark.parametrize(("variable", "kind"), [("KILL", "crashed"), ("OOM", "oom")])
def test_pytest_goes_on_behind_a_lost_case_in_the_same_test(run_corpus, opgauge, variable, kind):
    assert run_corpus(*MM).code == 0
    whole = rows_of(opgauge.one_run())
    opgauge.one_run().rename(opgauge.folder / "whole")
    # The stand-in counts measurements of a process, so that it strikes once only in case 3 of 4.
    assert run_corpus(*MM, **{f"FAKE_{variable}_CASE": str(len(whole) - 1)}).code == 1
    rows = rows_of(opgauge.one_run())
    assert [row["case_id"] for row in rows] == [row["case_id"] for row in whole]
    assert [row["status"] for row in rows] == ["ok"] * (len(whole) - 2) + ["failed", "ok"]
    assert rows[-2]["error"]["kind"] == kind
    assert status_of(opgauge.one_run())["status"] == kind


def test_a_hang_says_where_it_was_and_its_stacks_are_in_the_log(run_corpus, opgauge):
    done = run_corpus(*MM, "--stall", "4", FAKE_HANG_CASE="2")
    assert done.code == 1
    run = opgauge.one_run()
    row = rows_of(run)[1]
    assert row["error"]["kind"] == "timeout"
    assert row["reason"].startswith(
        "the child was ended after its limit (stall 4 s), at _script.py:"
    )
    assert row["reason"].endswith("in measurement_begins")
    assert "(most recent call first)" in (run / "child.log").read_text()


def test_py_spy_is_asked_where_it_is_installed(run_corpus, opgauge):
    tools = opgauge.folder / "tools"
    tools.mkdir()
    spy = tools / "py-spy"
    spy.write_text(
        '#!/bin/sh\necho "Process $3: asked with $1 $2"\n'
        "echo 'Thread 7 (idle): \"MainThread\"'\necho '    spied (kernel.py:12)'\n"
    )
    spy.chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    assert run_corpus(*MM, "--stall", "4", FAKE_HANG_CASE="2", PATH=path).code == 1
    run = opgauge.one_run()
    assert rows_of(run)[1]["reason"].endswith("(stall 4 s), at kernel.py:12 in spied")
    log = (run / "child.log").read_text()
    assert "asked with dump --pid" in log
    assert "(most recent call first)" not in log
