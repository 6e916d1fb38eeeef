# SPDX-License-Identifier: Apache-2.0
"""`opgauge doctor --timers` and what a run makes of it, on the device with a virtual clock."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import SOURCE, rows_of

CORPUS = SOURCE / "tests/data/corpus_flaggems"
CLOCK = (SOURCE / "python/tests", CORPUS / "stubs")
# Fills that take the same whatever they write.
NONCONFORMING = json.dumps({"gap_ns": 1600, "fill_ns_per_byte": 0})
CONFORMING = json.dumps({"gap_ns": 1600})


@pytest.fixture
def doctor(opgauge):
    opgauge.env |= {
        "ZL_BACKEND": "fake",
        "OPGAUGE_PYTHON": sys.executable,
        "OPGAUGE_FAKE_CLOCK": "fake_clock",
        "FAKE_CLOCK": CONFORMING,
        "PYTHONPATH": os.pathsep.join(map(str, CLOCK)),
        "PATH": os.environ["PATH"],
    }
    return lambda *words, **env: opgauge("doctor", "--timers", *words, **env)


def record_of(opgauge) -> Path:
    (record,) = (opgauge.folder / ".cache/opgauge/conformance").glob("*.json")
    return record


def values_of(done) -> dict[str, float | None]:
    (found,) = done.json()
    return {check["name"]: check["value"] for check in found["conformance"]["checks"]}


def run(opgauge, *words: str, **env: str):
    return opgauge(
        *("run", "abs", "--dtypes", "float16", "--corpus", str(CORPUS), "--no-check", *words),
        timeout=120,
        **env,
    )


def identity_of(opgauge) -> dict:
    return json.loads((opgauge.one_run() / "run_identity.json").read_text())


# -- the command ----------------------------------------------------------------------------------
def test_a_device_is_measured_once_and_then_shown(doctor, opgauge):
    first = doctor("--json")
    assert first.code == 0, first.err
    (found,) = first.json()
    assert found["measured_now"] is True
    assert found["conformance"]["ok"] is True
    assert found["conformance"]["floor_ns"] == pytest.approx(1600)
    assert values_of(first) == {
        "null_pair_ns": pytest.approx(1600),
        "resolution_ns": None,
        "short_fill_ns": pytest.approx(0.4 * 4096),
        "twice_the_work_ratio": pytest.approx(2),
        "event_host_ratio": pytest.approx(1, abs=0.01),
        "graph_event_ratio": pytest.approx(1, abs=0.01),
    }
    kept = json.loads(record_of(opgauge).read_text())
    assert kept["schema_version"] == 1
    assert kept["setup"]["device"] == "FAKE-0000"
    assert found["file"] == str(record_of(opgauge))

    # No clock is needed to show it.
    second = doctor("--json", OPGAUGE_FAKE_CLOCK="")
    (again,) = second.json()
    assert again["measured_now"] is False
    assert again["measured_utc"] == kept["measured_utc"]
    assert again["conformance"] == found["conformance"]


def test_again_measures_what_is_kept_anew(doctor):
    assert doctor().code == 0
    done = doctor("--again", "--json", FAKE_CLOCK=json.dumps({"gap_ns": 800}))
    assert done.json()[0]["measured_now"] is True
    assert values_of(done)["null_pair_ns"] == pytest.approx(800)
    assert values_of(doctor("--json"))["null_pair_ns"] == pytest.approx(800)


@pytest.mark.parametrize("text", ["", "{", '{"schema_version": 0}', '{"schema_version": 1}'])
def test_a_broken_record_is_made_again(doctor, opgauge, text):
    doctor()
    record_of(opgauge).write_text(text)
    assert doctor("--json").json()[0]["measured_now"] is True
    assert json.loads(record_of(opgauge).read_text())["schema_version"] == 1


def test_a_device_that_fails_a_check_is_named_with_it_and_the_exit_code_is_1(doctor):
    done = doctor(FAKE_CLOCK=NONCONFORMING)
    assert done.code == 1
    lines = [line for line in done.out.splitlines() if line.endswith("FAILED")]
    assert len(lines) == 1
    assert lines[0].startswith("a fill of 2n bytes over one of n")


def test_a_device_that_records_no_graphs_fails_only_the_graph(doctor):
    clock = json.dumps({"gap_ns": 1600, "records_graphs": False})
    done = doctor("--json", FAKE_CLOCK=clock)
    assert done.code == 1
    bad = [check for check in done.json()[0]["conformance"]["checks"] if not check["ok"]]
    assert [check["timer"] for check in bad] == ["graph"]
    assert bad[0]["problem"].startswith("capture_refused: ")


def test_without_the_capability_no_graph_is_tried(doctor):
    done = doctor("--json", OPGAUGE_FAKE_CAPABILITIES="event_timing,device_hold")
    assert "graph_event_ratio" not in values_of(done)
    assert "null_pair_ns" in values_of(done)


def test_each_selected_device_has_its_own_record(doctor):
    devices = json.dumps([{"name": "Fake", "uuid": uuid} for uuid in ("FAKE-0", "FAKE-1")])
    done = doctor("--devices", "all", "--json", OPGAUGE_FAKE_DEVICES=devices)
    assert done.code == 0, done.err
    found = done.json()
    assert [one["device"]["uuid"] for one in found] == ["FAKE-0", "FAKE-1"]
    assert len({one["file"] for one in found}) == 2


def test_what_cannot_be_measured_is_one_line_with_the_log_and_nothing_is_kept(doctor, opgauge):
    done = doctor(OPGAUGE_FAKE_CLOCK="absent")
    assert done.code == 4
    (line,) = [line for line in done.out.splitlines() if line.startswith("PROBLEM")]
    log = opgauge.folder / ".cache/opgauge/conformance"
    assert "ModuleNotFoundError: No module named 'absent'" in line
    assert f"its output is in {log}" in line
    assert list(log.glob("*.json")) == []


def test_another_device_than_planned_is_not_measured(doctor):
    done = doctor("--json", OPGAUGE_FAKE_SEEN='{"uuid": "FAKE-9999"}')
    assert done.code == 4
    assert done.json()[0]["problem"].startswith("device guard: ")


def test_backends_without_timers_of_ours_say_so_and_no_device_is_4(doctor):
    host = doctor("--backend", "cpu")
    assert host.code == 0, host.err
    assert "not measured: timer host has no floor of its own" in host.out
    none = doctor(OPGAUGE_FAKE_DEVICES="[]")
    assert none.code == 4
    assert none.err.count("\n") == 1


def test_again_needs_timers(opgauge):
    done = opgauge("doctor", "--again")
    assert done.code == 2
    assert "--timers" in done.err


# -- a run ----------------------------------------------------------------------------------------
def test_a_run_checks_the_timers_once_and_says_so_beside_the_caliber(doctor, opgauge):
    done = run(opgauge, "--timer", "graph")
    assert done.code == 0, done.err
    assert {tuple(row["flags"]) for row in rows_of(opgauge.one_run())} == {()}
    first = identity_of(opgauge)
    assert first["timer"]["conformance"]["floor_ns"] == pytest.approx(1600)
    assert first["timer"]["conformance"]["failed"] == []
    shown = doctor("--json").json()[0]
    assert shown["measured_now"] is False
    assert shown["measured_utc"] == first["timer"]["conformance"]["measured_utc"]

    (opgauge.one_run()).rename(opgauge.folder / "first")
    record_of(opgauge).write_text(
        record_of(opgauge).read_text().replace('"measured_utc": "2', '"measured_utc": "1')
    )
    assert run(opgauge, "--timer", "event").code == 0
    second = identity_of(opgauge)
    assert second["timer"]["conformance"]["measured_utc"].startswith("1")
    events = (opgauge.one_run() / "events.jsonl").read_text()
    assert '"conformance"' not in events
    # Neither the floor nor the date is in the caliber.
    assert second["setup_id"] == first["setup_id"]


def test_samples_below_the_floor_of_the_record_are_invalid(doctor, opgauge):
    # A pair of events and the work of the shortest case, 4096 ns, stay below this floor.
    assert doctor(FAKE_CLOCK=json.dumps({"gap_ns": 9000, "least_fill_ns": 9000})).code == 0
    done = run(opgauge, "--timer", "event", "--shapes", "upstream")
    assert done.code == 1
    rows = rows_of(opgauge.one_run())
    assert [row["status"] for row in rows] == ["invalid", "ok", "ok"]
    assert "below the timer's floor of 9000" in rows[0]["reason"]


def test_rows_of_a_device_that_fails_a_check_are_flagged(doctor, opgauge):
    done = run(opgauge, "--timer", "event", FAKE_CLOCK=NONCONFORMING)
    assert done.code == 0, done.err
    assert {tuple(row["flags"]) for row in rows_of(opgauge.one_run())} == {("timer_nonconforming",)}
    assert identity_of(opgauge)["timer"]["conformance"]["failed"] == ["twice_the_work_ratio"]


def test_a_run_on_a_device_that_records_no_graphs_goes_on_in_another_child(doctor, opgauge):
    clock = json.dumps({"gap_ns": 1600, "records_graphs": False})
    done = run(opgauge, "--timer", "graph", FAKE_CLOCK=clock)
    assert done.code == 0, done.err
    rows = rows_of(opgauge.one_run())
    assert {row["candidate"]["timer"] for row in rows} == {"event"}
    assert {tuple(row["flags"]) for row in rows} == {()}
    assert identity_of(opgauge)["timer"]["conformance"]["failed"] == ["graph_event_ratio"]


def test_timers_that_are_not_ours_are_not_checked(doctor, opgauge):
    assert run(opgauge, "--timer", "direct").code == 0
    identity = identity_of(opgauge)
    assert identity["timer"]["conformance"] is None
    assert identity["unknown"]["timer.conformance"] == "timer direct has no floor of its own"
    assert not (opgauge.folder / ".cache/opgauge/conformance").exists()
