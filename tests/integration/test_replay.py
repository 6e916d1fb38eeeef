# SPDX-License-Identifier: Apache-2.0
"""Runs that record tuned configurations and runs that replay them, with a scripted child."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import pty
import sqlite3
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Tool, rows_of, scripted_case, status_of

STEADY = [1e6] * 20
FASTER = [5e5] * 20
FACTS = {
    "kernel_source_hash": "source1",
    "triton_source_hash": "t1",
    "config_list_digest": "list1",
    "tuning_timer": "do_bench",
    "compiler": "triton 3.6.0 arch",
}
CONFIGS = [{"BLOCK": 64, "num_warps": 4}, {"BLOCK": 128, "num_warps": 8}]


def sweep(key_id: int, size: int, best: int = 0, kernel: str = "mm_kernel", **facts: str):
    """A script's step: asks for the winner at `size`; where it must tune, CONFIGS[best] wins."""
    key = [size, "float16"]
    timings = [
        {"config": config, "times": [0.01 * (1 + (i != best))] * 3}
        for i, config in enumerate(CONFIGS)
    ]
    return {
        "winner": {
            "id": key_id,
            "kernel": kernel,
            "space": "mm",
            "key": key,
            "raw_key": key,
            "facts": {**FACTS, **facts},
            "configs": len(CONFIGS),
        },
        "tuned": [
            {
                "id": key_id,
                "config": CONFIGS[best],
                "times": [0.01] * 3,
                "timings": timings,
                "benchmark_space": "mm_benchmark",
                "seconds": 0.5,
                "timed": len(CONFIGS),
                "failed": [],
            }
        ],
    }


def tuned_case(index: int, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    ids = [step["winner"]["id"] for step in steps]
    end = {"winners": ids, **more.pop("end", {})}
    return scripted_case(index, STEADY, FASTER, tuning=list(steps), end=end, **more)


def digest_of(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def identity_of(run: Path) -> dict[str, Any]:
    return json.loads((run / "run_identity.json").read_text())


class Runs:
    """Plays cases into named run folders."""

    def __init__(self, opgauge: Tool, script) -> None:
        self.opgauge = opgauge
        self.script = script

    def __call__(self, name: str, cases: list[dict[str, Any]], *words: str, **more: Any):
        env = more.pop("env", {})
        command = self.script(cases, **more)
        done = self.opgauge(*command, "--run-dir", name, *words, **env)
        return done, self.opgauge.folder / name

    def record(self, name: str = "a", *steps: dict[str, Any]) -> Path:
        steps = steps or (sweep(1, 512), sweep(2, 1024, best=1))
        cases = [tuned_case(i + 1, step) for i, step in enumerate(steps)]
        done, run = self(name, cases, "--tune", "record")
        assert done.code == 0, done.err
        return run

    def winners(self, run: Path) -> dict[str, int]:
        (store,) = self.opgauge("tune", "show", run, "--json").json()["stores"]
        return {winner["key"][0]: winner["config"]["BLOCK"] for winner in store["winners"]}


@pytest.fixture
def runs(opgauge, script) -> Runs:
    return Runs(opgauge, script)


def test_a_run_keeps_every_winner_and_every_timing(runs):
    run = runs.record()
    (store,) = runs.opgauge("tune", "show", run, "--json").json()["stores"]
    assert runs.winners(run) == {512: 64, 1024: 128}
    assert len(store["timings"]) == 4
    scope = store["winners"][0]["scope"]
    assert (scope["device_model"], scope["driver"]) == ("Fake Accelerator", "1.0")
    assert scope["kernel_source_hash"] == "source1"
    assert store["winners"][0]["conditions"] == "quiet_serial"
    tuning = identity_of(run)["tuning"]
    assert (tuning["mode"], tuning["source"]) == ("record", None)
    assert tuning["winners_digest"] == store["winners_digest"]
    (kernel,) = status_of(run)["tuning"]["kernels"]
    assert (kernel["kernel"], kernel["tuned"], kernel["seconds"]) == ("mm_kernel", 2, 1.0)
    shown = runs.opgauge("show", run).out
    assert "tuned kernel" in shown
    assert "mm_kernel" in shown


def test_timings_beside_others_on_the_device_are_called_noisy(runs):
    devices = json.dumps([{"uuid": "FAKE-0000", "pids": [1]}])
    env = {"OPGAUGE_FAKE_DEVICES": devices}
    done, run = runs("a", [tuned_case(1, sweep(1, 512))], "--tune", "record", env=env)
    assert done.code == 0, done.err
    (store,) = runs.opgauge("tune", "show", run, "--json").json()["stores"]
    assert store["winners"][0]["conditions"] == "noisy"


def test_a_replay_uses_every_winner_and_can_be_compared_with_its_source(runs):
    source = runs.record()
    before = digest_of(source)
    # The child would choose the other configuration.
    cases = [tuned_case(1, sweep(1, 512, best=1)), tuned_case(2, sweep(2, 1024))]
    done, run = runs("b", cases, "--from", "a")
    assert done.code == 0, done.err
    assert "2 of 2 recorded winners used" in done.err
    assert digest_of(source) == before
    assert runs.winners(run) == runs.winners(source)
    for ours, theirs in zip(rows_of(run), rows_of(source), strict=True):
        assert ours["winners_digest"] == theirs["winners_digest"] != ""
        assert ours["caliber_id"] == theirs["caliber_id"]
        assert ours["flags"] == []
    assert identity_of(run)["caliber_id"] == identity_of(source)["caliber_id"]
    tuning = identity_of(run)["tuning"]
    assert (tuning["mode"], tuning["source"]) == ("replay", "a")
    assert tuning["source_digest"] == tuning["winners_digest"]
    status = status_of(run)
    assert status["replay"] == {"source": "a", "recorded": 2, "used": 2, "misses": []}
    assert "2 of 2 recorded winners used, from a" in runs.opgauge("show", run).out
    # A replay is a source too.
    done, _ = runs("c", cases, env={"REPLAY_FROM": "b"})
    assert done.code == 0, done.err
    assert digest_of(source) == before


def test_two_runs_that_tuned_apart_have_other_calibers(runs):
    one = runs.record("a")
    other = runs.record("b", sweep(1, 512, best=1), sweep(2, 1024, best=1))
    calibers = [[row["caliber_id"] for row in rows_of(run)] for run in (one, other)]
    assert calibers[0][0] != calibers[1][0]
    assert calibers[0][1] == calibers[1][1]
    assert identity_of(one)["setup_id"] == identity_of(other)["setup_id"]


@pytest.mark.parametrize(
    ("change", "reason", "missing"),
    [
        ({"kernel_source_hash": "source2"}, "kernel source changed; kernel_source_hash: "
         "recorded source1, now source2", 2),
        ({"config_list_digest": "list2"}, "configuration list changed; config_list_digest: "
         "recorded list1, now list2", 2),
        ({"tuning_timer": "race"}, "scope differs; tuning_timer: recorded do_bench, now race", 1),
    ],
)  # fmt: skip
def test_a_strict_miss_ends_the_run_with_the_reason_and_the_list(runs, change, reason, missing):
    source = runs.record()
    before = digest_of(source)
    cases = [tuned_case(1, sweep(1, 512, **change)), tuned_case(2, sweep(2, 1024, **change))]
    done, run = runs("b", cases, "--from", "a")
    assert done.code == 3
    status = status_of(run)
    assert status["status"] == "failed"
    assert status["reason"].startswith('replay_miss: mm_kernel at [512,"float16"]: ' + reason)
    assert "0 of 2 recorded winners used" in status["reason"]
    assert len(status["replay"]["misses"]) == missing
    assert done.err.count("missing: mm_kernel at") == missing
    assert status["replay"]["misses"][0]["differences"][0]["fact"] == next(iter(change))
    assert [row["status"] for row in rows_of(run)] == ["failed"]
    assert digest_of(source) == before


def test_a_key_that_was_not_recorded_is_named(runs):
    runs.record()
    cases = [tuned_case(1, sweep(1, 512)), tuned_case(2, sweep(2, 2048))]
    done, run = runs("b", cases, "--from", "a")
    assert done.code == 3
    assert 'mm_kernel at [2048,"float16"]: key not recorded; 1 of 2 recorded' in done.err
    assert [row["status"] for row in rows_of(run)] == ["ok", "failed"]


def test_misses_that_are_allowed_are_tuned_live_and_marked(runs):
    runs.record()
    change = {"kernel_source_hash": "source2"}
    cases = [tuned_case(1, sweep(1, 512, **change)), tuned_case(2, sweep(2, 1024, **change))]
    done, run = runs("b", cases, "--from", "a", "--allow-misses")
    assert done.code == 0, done.err
    assert "mm_kernel: 0 of 2 recorded winners used" in done.err
    assert [row["flags"] for row in rows_of(run)] == [["replay_miss"]] * 2
    assert status_of(run)["markers"] == {"replay_miss": 2}
    assert len(status_of(run)["replay"]["misses"]) == 2
    assert runs.winners(run) == {512: 64, 1024: 64}


def test_another_device_driver_or_variable_is_refused_before_any_child(runs):
    runs.record()
    other = {"OPGAUGE_FAKE_DEVICES": json.dumps([{"uuid": "FAKE-0000", "name": "Other"}])}
    done, run = runs("b", [tuned_case(1, sweep(1, 512))], "--from", "a", env=other)
    assert done.code == 3
    assert "device_model: recorded Fake Accelerator, now Other" in done.err
    assert "0 of 2 recorded winners used" in done.err
    assert done.err.count("\n") == 1
    assert not run.exists()
    env = {"TRITON_SOMETHING": "1", "TRITON_CACHE_DIR": "/elsewhere"}
    done, run = runs("b", [tuned_case(1, sweep(1, 512))], "--from", "a", env=env)
    assert done.code == 3
    assert "environment.TRITON_SOMETHING: recorded unknown, now 1" in done.err
    assert "CACHE_DIR" not in done.err


def test_another_compiler_is_refused_before_anything_is_measured(runs):
    runs.record()
    device = {"triton": "3.7.0"}
    cases = [tuned_case(1, sweep(1, 512))]
    done, run = runs("b", cases, "--from", "a", device=device)
    assert done.code == 3
    assert "compiler: recorded triton 3.6.0 arch, now triton 3.7.0" in done.err
    assert rows_of(run) == []
    done, run = runs("c", cases, "--from", "a", device={"triton": "3.6.0"})
    assert done.code == 0, done.err


def test_a_scope_that_is_accepted_by_name_is_marked(runs):
    runs.record()
    other = {"OPGAUGE_FAKE_DEVICES": json.dumps([{"uuid": "FAKE-0000", "name": "Other"}])}
    words = ["--from", "a", "--accept-scope", "device_model"]
    device = {"name": "Other"}
    done, run = runs("b", [tuned_case(1, sweep(1, 512))], *words, env=other, device=device)
    assert done.code == 0, done.err
    assert rows_of(run)[0]["flags"] == ["replay_scope_accepted:device_model"]
    assert identity_of(run)["tuning"]["accepted"] == ["device_model"]


FAILED = {"id": 1, "kind": "out_of_resources", "message": "shared memory", "can_drop": True}


def test_a_winner_that_fails_is_dropped_and_tuned_live_for_its_key_only(runs):
    source = runs.record()
    before = digest_of(source)
    steps = [{**sweep(1, 512, best=1), "winner_failed": FAILED}, sweep(2, 1024)]
    cases = [tuned_case(i + 1, step) for i, step in enumerate(steps)]
    # The key is used again by a later case.
    cases.append(scripted_case(3, STEADY, FASTER, end={"winners": [1]}))
    done, run = runs("b", cases, "--from", "a")
    assert done.code == 0, done.err
    flags = [row["flags"] for row in rows_of(run)]
    assert flags == [["compile_out_of_resources_evicted"], [], ["compile_out_of_resources_evicted"]]
    assert status_of(run)["markers"] == {"compile_out_of_resources_evicted": 2}
    assert "the winner was evicted: mm_kernel" in done.err
    assert "1 of 2 recorded winners used" in done.err
    assert runs.winners(run) == {512: 128, 1024: 128}
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    (tune,) = [e["message"] for e in events if e["message"].get("type") == "tune"]
    assert tune["exclude"] == [CONFIGS[0]]
    assert digest_of(source) == before
    with sqlite3.connect(run / "tuning.db") as store:
        assert store.execute("SELECT kind FROM evictions").fetchall() == [("out_of_resources",)]


def test_a_winner_that_cannot_be_dropped_claims_no_clean_fallback(runs):
    source = runs.record()
    before = digest_of(source)
    step = {**sweep(1, 512), "winner_failed": {**FAILED, "kind": "error", "can_drop": False}}
    error = {"status": "failed", "error": {"kind": "error", "message": "no kernel image"}}
    done, run = runs("b", [tuned_case(1, step, end=error)], "--from", "a")
    assert done.code == 1
    (row,) = rows_of(run)
    assert row["flags"] == ["compile_error_no_evict"]
    assert row["reason"] == "no kernel image"
    text = done.err + (run / "status.json").read_text()
    assert "could not be dropped" in text
    assert "was evicted" not in text
    assert digest_of(source) == before


def test_a_child_that_takes_anothers_place_does_not_tune_again(runs):
    step = sweep(1, 512)
    again = {**sweep(7, 512, best=1), "tuned": "must not be asked for"}
    other = {"node": "fake::other", "cases": [tuned_case(2, again)]}
    tests = [
        {"node": "fake::mm", "cases": [tuned_case(1, step)], "after": {"crash": "exit:89"}},
        other,
    ]
    done, run = runs("a", [], "--tune", "record", tests=tests)
    assert done.code == 0, done.err
    one, two = rows_of(run)
    assert one["winners_digest"] == two["winners_digest"]
    assert runs.winners(run) == {512: 64}
    assert status_of(run)["tuning"]["kernels"][0]["tuned"] == 1


def test_a_store_that_another_process_holds_is_waited_for(runs):
    words = runs.script([tuned_case(1, sweep(1, 512), delay_ms=1500)])
    process = runs.opgauge.start(*words, "--run-dir", "a", "--tune", "record")
    run = runs.opgauge.folder / "a"
    while not (run / "tuning.db").exists():
        assert process.poll() is None
        time.sleep(0.02)
    holder = sqlite3.connect(run / "tuning.db", isolation_level=None, timeout=10)
    holder.execute("BEGIN EXCLUSIVE")
    time.sleep(8)
    holder.execute("ROLLBACK")
    holder.close()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert runs.winners(run) == {512: 64}


def test_a_kill_leaves_every_winner_so_far(runs):
    cases = [tuned_case(1, sweep(1, 512)), tuned_case(2, sweep(2, 1024), crash="hang")]
    words = runs.script(cases)
    process = runs.opgauge.start(*words, "--run-dir", "a", "--tune", "record")
    run = runs.opgauge.folder / "a"
    while not (run / "rows.jsonl").exists() or len(rows_of(run)) < 1:
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert runs.winners(run) == {512: 64}
    plan = runs.opgauge("plan", "mm", "--backend", "fake", "--from", "a")
    assert "it is incomplete (no status.json): winners may be missing" in plan.out
    done, _ = runs("b", cases[:1], "--from", "a")
    assert done.code == 0, done.err
    assert "incomplete" in done.err


def test_the_progress_line_says_which_kernel_is_being_tuned(runs):
    words = runs.script([tuned_case(1, {**sweep(1, 512), "delay_ms": 300}), tuned_case(2)])
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
    command = runs.opgauge.command(*words, "--tune", "record")
    done = subprocess.run(
        command,
        cwd=runs.opgauge.folder,
        env={**runs.opgauge.env, "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=child,
        timeout=60,
    )
    os.close(child)
    shown = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert done.returncode == 0, shown
    assert "case 1 of 2  tuning mm_kernel" in shown
    assert "tuning" not in shown[shown.index("case 2 of 2") :]


def test_a_message_that_no_child_may_send_ends_the_run(runs):
    step = sweep(1, 512)
    step["tuned"][0]["id"] = 5
    done, _ = runs("a", [tuned_case(1, step)], "--tune", "record")
    assert done.code == 1
    assert "protocol error: 'tuned' of key 5, which was not asked about" in done.err
    done, _ = runs("b", [tuned_case(1, sweep(1, 512))])
    assert done.code == 1
    assert "protocol error: 'winner', though tuning is off" in done.err


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["--tune", "replay"], 2, "--tune replay has no source: name a run or a tuning.db with"),
        (["--tune", "record", "--from", "a"], 2, "--tune record takes no winners: leave --from"),
        (["--tune", "rekord"], 2, "unknown tuning mode 'rekord'; did you mean 'record'?"),
        (["--from", "nowhere"], 2, "--from nowhere: cannot read nowhere: there is no such file"),
        (["--from", "empty"], 2, "--from empty: the folder has no tuning.db"),
        (["--from", "text"], 2, "--from text: cannot read text: it is "),
        (["--allow-misses"], 2, "--allow-misses belongs to a replay: name its source with --from"),
        (["--from", "a", "--accept-scope", "divice_model"], 2, "did you mean 'device_model'?"),
    ],
)
def test_options_that_do_not_fit_are_told_in_one_line(runs, words, code, line):
    runs.record()
    (runs.opgauge.folder / "empty").mkdir()
    (runs.opgauge.folder / "text").write_text("no store " * 100)
    done, run = runs("b", [tuned_case(1, sweep(1, 512))], *words)
    assert done.code == code, done.err
    assert line in done.err
    assert done.err.count("\n") == 1
    assert not run.exists()


def test_the_plan_shows_mode_and_source_with_their_reasons(runs):
    runs.record()
    done = runs.opgauge("plan", "mm", "--backend", "fake", "--json", REPLAY_FROM="a")
    plan = done.json()
    assert plan["tune"] == {"value": "replay", "why": "REPLAY_FROM"}
    assert plan["replay"]["source"] == {"value": "a", "why": "REPLAY_FROM"}
    done = runs.opgauge("plan", "mm", "--backend", "fake", "--tune", "off", REPLAY_FROM="a")
    assert "--tune off" in done.out
    assert "winners of" not in done.out
    done = runs.opgauge("plan", "mm", REPLAY_FROM="a")
    assert done.code == 3
    assert "REPLAY_FROM: the native corpus has nothing to tune" in done.err
