# SPDX-License-Identifier: Apache-2.0
"""Whole runs on the hidden backend, whose times and misbehaviour are scripted."""

from __future__ import annotations

import csv
import json
import os
import signal
import time
from pathlib import Path

import pytest
from conftest import rows_of, scripted_case, status_of

STEADY = [1e6] * 20
FASTER = [5e5] * 20


def no_process_mentions(text: Path) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str(text).encode() in (entry / "cmdline").read_bytes():
                    return False
            except OSError:
                continue
    return True


def wait_until(condition, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_a_run_leaves_every_file_and_a_table_with_the_scripted_numbers(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER), scripted_case(2, STEADY, [2e6] * 20)])
    done = opgauge(*words)
    assert done.code == 0, done.err
    run = opgauge.one_run()
    assert sorted(path.name for path in run.iterdir()) == [
        "child.log",
        "digests.json",
        "events.jsonl",
        "latency.csv",
        "latency.txt",
        "plan.json",
        "rows.jsonl",
        "run_identity.json",
        "samples.jsonl",
        "status.json",
    ]
    rows = rows_of(run)
    assert [row["speedup"] for row in rows] == [2.0, 0.5]
    assert [row["base"]["median_ns"] for row in rows] == [1e6, 1e6]
    assert rows[0]["relative_precision"] == 0.0
    assert rows[0]["base"]["stopped_by"] == "precision"
    assert "geometric mean of the speed-up 1.000 (n = 2 of 2 rows)" in done.out
    assert f"files: {run}" in done.out
    assert (run / "latency.txt").read_text() in done.out
    with (run / "latency.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [row["candidate_median_ns"] for row in table] == ["500000", "2e+06"] or [
        float(row["candidate_median_ns"]) for row in table
    ] == [5e5, 2e6]
    status = status_of(run)
    assert (status["status"], status["exit_code"]) == ("passed", 0)
    assert status["geomean_n"] == 2


def test_the_identity_says_who_measured_what_and_how(opgauge, script):
    opgauge(*script([scripted_case(1, STEADY, FASTER)]))
    run = opgauge.one_run()
    identity = json.loads((run / "run_identity.json").read_text())
    assert identity["backend"] == {"name": "fake", "why": "--backend fake"}
    assert identity["device"]["uuid"] == "FAKE-0000"
    assert identity["child"]["uuid"] == "FAKE-0000"
    assert identity["driver"] == "1.0"
    assert identity["argv"][1:] == ["run", "mm", "--backend", "fake"]
    assert len(identity["setup_id"]) == 16
    assert len(identity["caliber_id"]) == 16
    for pointer, reason in identity["unknown"].items():
        assert reason, pointer
    assert rows_of(run)[0]["caliber_id"] == identity["caliber_id"]


def test_two_runs_of_one_setup_share_their_caliber_and_another_driver_does_not(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    devices = '[{"name":"Fake Accelerator","uuid":"FAKE-0000","memory_total_bytes":1}]'
    for env in ({}, {}, {"OPGAUGE_FAKE_DEVICES": devices}):
        assert opgauge(*words, **env).code == 0
    runs = sorted((opgauge.folder / "runs").iterdir(), key=lambda path: path.stat().st_ctime_ns)
    ids = [json.loads((run / "run_identity.json").read_text())["caliber_id"] for run in runs]
    assert ids[0] == ids[1] != ids[2]


def test_another_device_than_planned_ends_the_run_before_anything_is_measured(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)], device={"uuid": "FAKE-9999"})
    done = opgauge(*words)
    assert done.code == 4
    assert "device guard: planned device has uuid FAKE-0000, the child sees FAKE-9999" in done.err
    assert rows_of(opgauge.one_run()) == []


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ({"count": 0}, "the child sees 0 devices, planned is exactly 1"),
        ({"count": 2}, "the child sees 2 devices, planned is exactly 1"),
        ({"backend": "cuda"}, "planned backend is fake, the child's framework drives 'cuda'"),
    ],
)
def test_no_device_two_devices_and_another_vendor_are_refused(opgauge, script, device, words):
    done = opgauge(*script([scripted_case(1, STEADY, FASTER)], device=device))
    assert done.code == 4
    assert words in done.err
    assert rows_of(opgauge.one_run()) == []


@pytest.mark.parametrize(
    ("crash", "status", "words"),
    [
        ("segv", "crashed", "was killed by signal 11 (SIGSEGV)"),
        ("kill", "crashed", "was killed by signal 9 (SIGKILL)"),
        ("exit:3", "failed", "the child exited with 3"),
    ],
)
def test_a_child_that_dies_costs_its_case_and_keeps_the_rows_before(
    opgauge, script, crash, status, words
):
    cases = [scripted_case(i, STEADY, FASTER) for i in (1, 2)]
    cases.append(scripted_case(3, crash=crash))
    done = opgauge(*script(cases))
    assert done.code == 1
    run = opgauge.one_run()
    assert status_of(run)["status"] == status
    assert words in done.err + done.out
    assert [row["status"] for row in rows_of(run)] == ["ok", "ok", "failed"]
    assert rows_of(run)[2]["speedup"] is None


def test_a_hanging_child_is_ended_by_the_stall_limit(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER), scripted_case(2, crash="hang")])
    done = opgauge(*words, "--stall", "1")
    assert done.code == 1
    run = opgauge.one_run()
    assert status_of(run)["status"] == "timeout"
    assert "(stall 1 s)" in status_of(run)["reason"]
    assert [row["status"] for row in rows_of(run)] == ["ok", "failed"]


def test_a_failed_case_keeps_its_own_words_and_the_other_rows(opgauge, script):
    oom = {"status": "failed", "error": {"kind": "oom", "message": "out of memory: 4 GiB"}}
    cases = [scripted_case(1, STEADY, FASTER), scripted_case(2, end=oom)]
    cases.append(scripted_case(3, STEADY, FASTER))
    done = opgauge(*script(cases))
    assert done.code == 1
    run = opgauge.one_run()
    assert status_of(run)["status"] == "oom"
    assert [row["status"] for row in rows_of(run)] == ["ok", "failed", "ok"]
    assert "case 2: failed: out of memory: 4 GiB" in done.out


def test_zero_latencies_never_become_a_speedup(opgauge, script):
    cases = [
        scripted_case(1, STEADY, FASTER),
        scripted_case(2, STEADY, [0.0]),
        scripted_case(3, [0.0], STEADY),
        scripted_case(4, [0.0], [0.0]),
    ]
    done = opgauge(*script(cases))
    assert done.code == 1
    rows = rows_of(opgauge.one_run())
    assert [row["status"] for row in rows] == ["ok", "invalid", "invalid", "invalid"]
    assert [row["speedup"] for row in rows] == [2.0, None, None, None]
    assert [row["reason"] for row in rows[1:]] == [
        "candidate: zero",
        "base: zero",
        "base: zero; candidate: zero",
    ]
    assert "geometric mean of the speed-up 2.000 (n = 1 of 4 rows)" in done.out


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_leaves_a_readable_partial_run_and_no_process(opgauge, script, number, code):
    words = script([scripted_case(1, STEADY, FASTER), scripted_case(2, crash="hang")])
    process = opgauge.start(*words)
    runs = opgauge.folder / "runs"
    assert wait_until(lambda: runs.exists() and any(runs.glob("*/rows.jsonl")))
    run = opgauge.one_run()
    assert wait_until(lambda: len(rows_of(run)) == 1)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert status_of(run)["status"] == "interrupted"
    assert [row["status"] for row in rows_of(run)] == ["ok", "failed"]
    assert opgauge("show", run).code == 0
    assert no_process_mentions(opgauge.folder / "script.json")


def test_a_killed_parent_takes_its_child_along_and_leaves_an_incomplete_run(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER), scripted_case(2, crash="hang")])
    process = opgauge.start(*words)
    runs = opgauge.folder / "runs"
    assert wait_until(lambda: runs.exists() and any(runs.glob("*/rows.jsonl")))
    run = opgauge.one_run()
    assert wait_until(lambda: len(rows_of(run)) == 1)
    process.kill()
    process.communicate()
    assert wait_until(lambda: no_process_mentions(opgauge.folder / "script.json"))
    assert not (run / "status.json").exists()
    shown = opgauge("show", run)
    assert shown.code == 0
    assert "INCOMPLETE" in shown.out
    assert "case" in shown.out and "2.000" in shown.out


def test_runs_that_start_at_once_get_folders_of_their_own(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    processes = [opgauge.start(*words) for _ in range(6)]
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    runs = list((opgauge.folder / "runs").iterdir())
    assert len(runs) == 6
    assert all(status_of(run)["status"] == "passed" for run in runs)


def test_an_explicit_folder_that_is_not_empty_is_refused_and_untouched(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    target = opgauge.folder / "mine"
    target.mkdir()
    (target / "kept").write_text("kept")
    done = opgauge(*words, "--run-dir", target)
    assert done.code == 3
    assert "is not empty; it was left untouched" in done.err
    assert [path.name for path in target.iterdir()] == ["kept"]


def test_the_samples_of_a_case_can_be_drawn(opgauge, script):
    opgauge(*script([scripted_case(1, [1e6, 2e6] * 10, FASTER)]))
    shown = opgauge("show", opgauge.one_run(), "--case", "1")
    assert shown.code == 0
    assert "base: timer host" in shown.out
    assert "1.000 ms |" in shown.out
    missing = opgauge("show", opgauge.one_run(), "--case", "9")
    assert missing.code == 2
    assert "has no case 9; it has 1 cases" in missing.err


def test_foreign_text_cannot_drive_the_terminal_or_a_spreadsheet(opgauge, script):
    error = {"status": "failed", "error": {"kind": "error", "message": "=1+1\x1b[31m\nnext"}}
    done = opgauge(*script([scripted_case(1, end=error)]))
    assert "\x1b" not in done.out + done.err
    assert "=1+1\\x1b[31m" in done.out
    assert ",'=1+1" in (opgauge.one_run() / "latency.csv").read_text()


def test_a_write_that_fails_ends_the_run_with_the_reason(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    (opgauge.folder / "file").write_text("")
    done = opgauge(*words, "--root", opgauge.folder / "file" / "runs")
    assert done.code == 4
    assert done.err.count("\n") == 1
    assert "choose another with --root" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_root_is_an_environment_error(opgauge, script):
    words = script([scripted_case(1, STEADY, FASTER)])
    root = opgauge.folder / "locked"
    root.mkdir(mode=0o500)
    done = opgauge(*words, "--root", root)
    assert done.code == 4
