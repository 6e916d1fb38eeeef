# SPDX-License-Identifier: Apache-2.0
"""A lane of a batch: operators one after the other, told over its channel."""

from __future__ import annotations

import json
import signal

import pytest
from conftest import rows_of, scripted_case, status_of
from lane import Lane

# The native corpus measures for real.
QUICK = ["--min-samples", "3", "--max-time", "0.001"]
TIMES = [1000.0 + i for i in range(20)]
FASTER = [500.0 + i for i in range(20)]


def two_cases():
    return [scripted_case(4, TIMES, FASTER), scripted_case(8, TIMES, TIMES)]


def test_operators_run_one_after_the_other_and_each_has_its_folder(opgauge, script):
    script(two_cases())
    with Lane(opgauge, "--backend", "fake") as lane:
        for index in (0, 1):
            ended, run = lane.run("mm")
            assert ended["index"] == index
            assert ended["status"] == "passed"
            assert ended["reason"] == ""
            assert ended["exit_code"] == 0
            assert ended["outcome"] == {"exit": 0, "signal": None}
            assert ended["rows"] == {"ok": 2, "failed": 0, "invalid": 0, "skipped": 0, "flagged": 0}
            assert ended["geomean_n"] == 2
            assert ended["markers"] == {}
            assert (ended["backend"], ended["device"]) == ("fake", "FAKE-0000")
            assert (ended["timer"], ended["tuning"]) == ("host", "off")
            status = status_of(run)
            assert ended["geomean_speedup"] == status["geomean_speedup"]
            identity = json.loads((run / "run_identity.json").read_text())
            assert ended["setup_id"] == identity["setup_id"]
            assert len(rows_of(run)) == 2
        assert lane.end() == 0


def test_what_happens_in_a_run_is_told_in_order(opgauge, script):
    script([scripted_case(4, TIMES, FASTER), scripted_case(8, TIMES, [0.0])])
    with Lane(opgauge, "--backend", "fake") as lane:
        ended, _ = lane.run("mm")
        told = [m for m in lane.messages if m["type"] in ("case", "row")]
        assert [(m["type"], m.get("name"), m.get("index"), m.get("status")) for m in told] == [
            ("case", "mm float16 4x4", 1, None),
            ("row", None, None, "ok"),
            ("case", "mm float16 8x8", 2, None),
            ("row", None, None, "invalid"),
        ]
        assert ended["status"] == "failed"
        assert ended["exit_code"] == 1
        assert lane.messages[0]["type"] == "ready"
        assert lane.messages[0]["fork_server"] is True or lane.messages[0]["fork_server"]
        assert "starting the child" in [m["text"] for m in lane.messages if m["type"] == "phase"]


def test_an_unknown_operator_is_ended_and_the_lane_lives_on(opgauge):
    with Lane(opgauge, *QUICK) as lane:
        ended, run = lane.run("no_such_operator")
        assert ended["status"] == "no_tests"
        assert "no_such_operator" in ended["reason"]
        assert not run.exists()
        ended, run = lane.run("add")
        assert ended["status"] == "passed"
        assert status_of(run)["status"] == "passed"
        assert lane.end() == 0


def test_what_cannot_be_planned_is_ended_with_the_planners_words(opgauge, script):
    script(two_cases())
    with Lane(opgauge, "--backend", "fake", "--devices", "7") as lane:
        ended, _ = lane.run("mm")
        assert ended["status"] == "failed"
        assert "7" in ended["reason"]
        assert lane.end() == 0


def test_variables_that_name_an_operator_are_not_a_lanes(opgauge):
    with Lane(opgauge, *QUICK, OP="mm", OP_FILE="test_mm.py", TEST_NODE="native::mm") as lane:
        ended, run = lane.run("add")
        assert ended["status"] == "passed"
        assert {row["case"]["operator"] for row in rows_of(run)} == {"add"}
        assert lane.end() == 0


def test_the_plan_of_a_lane_is_that_of_the_plan_command(opgauge):
    planned = {}
    for operator in ("add", "mm"):
        planned[operator] = opgauge("plan", operator, "--json").json()
    with Lane(opgauge, *QUICK) as lane:
        for operator in ("add", "mm", "add"):
            ended, run = lane.run(operator)
            assert ended["status"] == "passed"
            executed = json.loads((run / "plan.json").read_text())
            # Only who named the operator is another: the lane is told, as `run` is by its words.
            assert executed == planned[operator]
        assert lane.end() == 0


def test_a_folder_that_is_not_empty_is_left_alone(opgauge, script):
    script(two_cases())
    with Lane(opgauge, "--backend", "fake") as lane:
        _, run = lane.run("mm")
        before = (run / "status.json").read_text()
        ended, _ = lane.run("mm", run_dir=str(run))
        assert ended["status"] == "failed"
        assert str(run) in ended["reason"]
        assert (run / "status.json").read_text() == before
        assert lane.end() == 0


def test_a_crash_is_the_operators_and_not_the_lanes(opgauge, script):
    script([scripted_case(4, TIMES, FASTER), scripted_case(8, TIMES, TIMES, crash="segv")])
    with Lane(opgauge, "--backend", "fake", "--no-quarantine") as lane:
        ended, run = lane.run("mm")
        assert ended["status"] == "crashed"
        assert "signal 11 (SIGSEGV)" in ended["reason"]
        # That of the last child, which went on behind the crash.
        assert ended["outcome"] == {"exit": 0, "signal": None}
        assert [row["status"] for row in rows_of(run)] == ["ok", "failed"]
        assert lane.run("mm")[0]["status"] == "crashed"
        assert lane.end() == 0


@pytest.mark.parametrize("options", [[], ["--no-quarantine"]])
def test_a_case_that_crashed_is_left_out_unless_it_is_asked_for(opgauge, script, options):
    script([scripted_case(4, TIMES, FASTER), scripted_case(8, TIMES, TIMES, crash="segv")])
    with Lane(opgauge, "--backend", "fake", *options) as lane:
        assert lane.run("mm")[0]["status"] == "crashed"
        ended, run = lane.run("mm")
        crashes = bool(options)
        assert ended["status"] == ("crashed" if crashes else "passed")
        assert ended["rows"]["skipped"] == (0 if crashes else 1)
        first, second = rows_of(run)
        assert first["status"] == "ok"
        assert second["status"] == ("failed" if crashes else "skipped")
        assert second["reason"].startswith("quarantined: crashed on ") != crashes
        assert lane.end() == 0
    listed = opgauge("batch", "--quarantine", "--json").json()
    ((setup, cases),) = listed["setups"].items()
    assert setup == ended["setup_id"]
    assert [(one["operator"], one["dtype"], one["shapes"], one["kind"]) for one in cases] == [
        ("mm", "float16", "8x8", "crashed")
    ]
    text = opgauge("batch", "--quarantine").out
    assert f"setup {setup}\n  {cases[0]['date']}  mm float16 8x8  crashed: the child" in text


def test_no_quarantined_case_is_said_in_a_line(opgauge):
    done = opgauge("batch", "--quarantine")
    assert (done.code, done.out) == (0, "no case is quarantined\n")
    assert opgauge("batch", "--quarantine", "--json").json() == {"setups": {}}


def test_a_folder_of_a_lane_that_was_killed_goes_on(opgauge, script):
    script([scripted_case(4, TIMES, FASTER), scripted_case(8, TIMES, TIMES, delay_ms=60000)])
    with Lane(opgauge, "--backend", "fake") as lane:
        run = lane.give("mm")
        lane.until("row")
        lane.process.kill()
        lane.process.wait(timeout=30)
    assert not (run / "status.json").exists()
    script(two_cases())
    with Lane(opgauge, "--backend", "fake") as lane:
        ended, again = lane.run("mm", run_dir=str(run), resume=True)
        assert ended["status"] == "passed"
        assert ended["rows"]["ok"] == 2
        assert status_of(run)["kept_rows"] == 1
        assert [row["index"] for row in rows_of(run)] == [1, 2]
        # Only what was not there is told.
        assert [m["index"] for m in lane.messages if m["type"] == "case"] == [2]
        assert lane.end() == 0


def test_a_batch_that_is_gone_ends_the_lane(opgauge):
    with Lane(opgauge) as lane:
        lane.until("ready")
        lane.close()
        assert lane.process.wait(timeout=30) == 0


def test_an_answer_that_names_no_folder_ends_the_lane_with_a_word(opgauge):
    with Lane(opgauge) as lane:
        lane.until("ready")
        lane.answer(type="run", operator="add")
        _, err = lane.process.communicate(timeout=30)
        assert lane.process.returncode == 1
        assert "names no operator and folder" in err


def test_an_interrupt_ends_the_running_operator_and_then_the_lane(opgauge, script):
    script([scripted_case(4, TIMES, FASTER), scripted_case(8, TIMES, TIMES, crash="hang")])
    with Lane(opgauge, "--backend", "fake") as lane:
        run = lane.give("mm")
        lane.until("row")
        lane.process.send_signal(signal.SIGINT)
        ended = lane.until("ended")
        assert ended["status"] == "interrupted"
        assert ended["exit_code"] == 130
        assert lane.process.wait(timeout=30) == 130
        assert status_of(run)["status"] == "interrupted"
        assert rows_of(run)[0]["status"] == "ok"


def test_an_interrupt_between_operators_ends_the_lane(opgauge):
    with Lane(opgauge) as lane:
        lane.until("ready")
        lane.process.send_signal(signal.SIGTERM)
        assert lane.process.wait(timeout=30) == 143


def telemetry(*readings):
    return json.dumps([{"health": {"memory_used_bytes": 1 << 30}}, *readings])


def test_a_well_device_is_told_as_well(opgauge, script):
    script(two_cases())
    readings = telemetry({"health": {"memory_used_bytes": 1 << 30, "uncorrected_errors": 3}})
    with Lane(opgauge, "--backend", "fake", OPGAUGE_FAKE_TELEMETRY=readings) as lane:
        ended, _ = lane.run("mm")
        assert ended["health"] == {"ok": True, "problems": [], "warnings": []}


def test_a_lost_device_is_a_problem(opgauge, script):
    script(two_cases())
    readings = telemetry({"error": "GPU is lost"})
    with Lane(opgauge, "--backend", "fake", OPGAUGE_FAKE_TELEMETRY=readings) as lane:
        ended, _ = lane.run("mm")
        assert ended["health"]["ok"] is False
        assert "GPU is lost" in ended["health"]["problems"][0]


def test_a_backend_without_telemetry_leaves_health_unknown(opgauge):
    with Lane(opgauge, *QUICK) as lane:
        ended, _ = lane.run("add")
        assert ended["health"] == {
            "ok": None,
            "problems": [],
            "warnings": [],
            "unknown": "backend cpu has no telemetry",
        }
