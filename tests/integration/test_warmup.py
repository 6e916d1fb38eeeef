# SPDX-License-Identifier: Apache-2.0
"""Runs that tune on several devices first, with a scripted child on stand-in devices."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import BINARY, Tool, rows_of, status_of
from test_replay import CONFIGS, identity_of, sweep, tuned_case

LIBRARIES = BINARY.parent.parent / "tests/fake_vendor/now"
EIGHT = [{"uuid": f"FAKE-000{i}"} for i in range(8)]


def devices(count: int, **change: Any) -> str:
    return json.dumps([{**device, **change} for device in EIGHT[:count]])


def keys_of(cases: int) -> list[dict[str, Any]]:
    """As many cases, each with a key of its own."""
    return [tuned_case(i + 1, sweep(i + 1, 512 + i)) for i in range(cases)]


def report_of(run: Path) -> dict[str, Any]:
    return json.loads((run / "warmup" / "report.json").read_text())


def job_of(run: Path, shard: int) -> dict[str, Any]:
    return json.loads((run / f"warmup/shard-{shard}/job.json").read_text())


def asked_in(folder: Path) -> list[int]:
    """Sizes that the child of this folder asked about."""
    lines = (folder / "events.jsonl").read_text().splitlines()
    messages = [json.loads(line)["message"] for line in lines]
    return [message["key"][0] for message in messages if message.get("type") == "winner"]


def answers_in(folder: Path, *types: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text().splitlines()
    messages = [json.loads(line)["message"] for line in lines]
    return [message for message in messages if message.get("type") in types]


class Warmups:
    def __init__(self, opgauge: Tool, script) -> None:
        self.opgauge = opgauge
        self.script = script
        opgauge.env["OPGAUGE_FAKE_DEVICES"] = devices(8)

    def words(self, cases: list[dict[str, Any]], *words: str, **script: Any) -> list[str]:
        return [*self.script(cases, **script), "--tune", "record", "--run-dir", "a", *words]

    def __call__(self, cases: list[dict[str, Any]], *words: str, **env: str):
        done = self.opgauge(*self.words(cases, *words), **env)
        return done, self.opgauge.folder / "a"

    def store(self, run: Path) -> dict[str, Any]:
        (store,) = self.opgauge("tune", "show", run, "--json").json()["stores"]
        return store


@pytest.fixture
def warmups(opgauge, script) -> Warmups:
    return Warmups(opgauge, script)


def test_eight_shards_tune_and_the_run_uses_what_they_found(warmups):
    done, run = warmups(keys_of(16), "--warmup-devices", "8", "--overlap-keys", "2")
    assert done.code == 0, done.err
    assert "warm-up: 2 keys tuned twice, 0 differ" in done.err
    report = report_of(run)
    assert [shard["device"] for shard in report["shards"]] == [d["uuid"] for d in EIGHT]
    assert {shard["status"] for shard in report["shards"]} == {"finished"}
    assert [shard["tuned"] for shard in report["shards"]] == [2, 3, 3, 2, 2, 2, 2, 2]
    assert report["keys"] == 16
    for shard in range(8):
        folder = run / f"warmup/shard-{shard}"
        assert 512 + shard in asked_in(folder)
        assert answers_in(folder, "more", "enough") == []  # nothing is timed
        assert job_of(run, shard)["device"]["uuid"] == f"FAKE-000{shard}"
    # The run tunes nothing, and is a whole run otherwise.
    assert len(answers_in(run, "use")) == 16
    assert answers_in(run, "tune") == []
    assert [row["status"] for row in rows_of(run)] == ["ok"] * 16
    assert [row["flags"] for row in rows_of(run)] == [[]] * 16
    store = warmups.store(run)
    assert (len(store["winners"]), len(store["timings"])) == (16, 32)
    assert {winner["conditions"] for winner in store["winners"]} == {"noisy"}
    assert (run / "latency.csv").exists()
    tuning = identity_of(run)["tuning"]
    assert tuning["mode"] == "record"
    assert tuning["warmup"] == {
        "devices": [d["uuid"] for d in EIGHT], "shards": 8, "shared": False, "keys": 16,
        "tuned_twice": 2, "differ": 0, "confirmed": 0,
    }  # fmt: skip
    assert status_of(run)["warmup"]["run"] == {"used": 16, "confirmed": 0, "not_warmed": 0}
    # It is the source of a replay like any other.
    again = warmups.opgauge(
        *warmups.script(keys_of(16)), "--run-dir", "b", "--from", "a", "--devices", "0"
    )
    assert again.code == 0, again.err
    assert "16 of 16 recorded winners used" in again.err


def test_without_being_asked_nothing_changes(warmups):
    done, run = warmups(keys_of(2))
    assert done.code == 0
    assert not (run / "warmup").exists()
    assert "warm" not in done.err
    assert status_of(run)["warmup"] is None
    assert "warmup" not in identity_of(run)["tuning"]


def test_the_variable_asks_and_the_option_wins(warmups):
    done, run = warmups(keys_of(4), PARALLEL_WARMUP_GPUS="2")
    assert done.code == 0, done.err
    assert len(report_of(run)["shards"]) == 2
    words = warmups.script(keys_of(4))
    plan = warmups.opgauge("plan", *words[1:], "--tune", "record", "--warmup-devices", "3",
                           PARALLEL_WARMUP_GPUS="2")  # fmt: skip
    assert "warm-up" in plan.out
    assert "FAKE-0000 FAKE-0001 FAKE-0002" in plan.out
    assert "--warmup-devices 3; 5 % of the cases are tuned twice" in plan.out


@pytest.mark.parametrize(
    ("words", "env", "code", "line"),
    [
        (["--warmup-devices", "two"], {}, 2, "--warmup-devices two: it takes the number of"),
        (["--warmup-devices", "0"], {}, 2, "--warmup-devices 0: it takes the number of"),
        ([], {"PARALLEL_WARMUP_GPUS": "-1"}, 2, "PARALLEL_WARMUP_GPUS=-1: it takes the number"),
        (["--confirm"], {}, 2, "--confirm belongs to a warm-up"),
        (["--warmup-devices", "2", "--overlap-keys", "5x"], {}, 2, "--overlap-keys 5x: it takes"),
        (["--warmup-devices", "9"], {}, 3, "--warmup-devices 9: 9 shards for 8 devices"),
        (["--warmup-devices", "8"], {"FAKE_VISIBLE_DEVICES": "1"}, 3, "8 shards for 1 device;"),
        (["--warmup-devices", "2", "--devices", "3"], {}, 3, "2 shards for 1 device;"),
    ],
)
def test_what_cannot_be_warmed_is_refused_in_one_line(warmups, words, env, code, line):
    done, run = warmups(keys_of(1), *words, **env)
    assert done.code == code, done.err
    assert line in done.err
    assert done.err.count("\n") == 1
    assert not run.exists()


def test_devices_of_several_models_are_refused(warmups):
    mixed = json.dumps([EIGHT[0], {**EIGHT[1], "name": "Other"}])
    done, run = warmups(keys_of(1), "--warmup-devices", "2", OPGAUGE_FAKE_DEVICES=mixed)
    assert done.code == 3
    assert "FAKE-0000 is Fake Accelerator, FAKE-0001 is Other" in done.err
    assert not run.exists()


def test_a_mode_that_does_not_tune_leaves_the_variable_aside(warmups):
    words = [*warmups.script(keys_of(1)), "--tune", "off"]
    plan = warmups.opgauge("plan", *words[1:], PARALLEL_WARMUP_GPUS="2")
    assert plan.code == 0, plan.err
    assert "PARALLEL_WARMUP_GPUS=2 is left aside: tuning mode is off (--tune off)" in plan.out
    done = warmups.opgauge(*words, "--warmup-devices", "2")
    assert done.code == 3
    assert "--warmup-devices 2: tuning mode is off (--tune off), and only mode record" in done.err


@pytest.mark.parametrize(
    ("mask", "words", "tokens"),
    [
        ("4,5,6,7", [], ["4", "5"]),
        ("", [], ["FAKE-0000", "FAKE-0001"]),
        ("6,2,3", ["--devices", "1,2"], ["2", "3"]),
    ],
)
def test_shards_take_tokens_of_the_callers_own_set(warmups, mask, words, tokens):
    env = {"FAKE_VISIBLE_DEVICES": mask} if mask else {}
    done, run = warmups(keys_of(4), "--warmup-devices", "2", *words, **env)
    assert done.code == 0, done.err
    assert [shard["device"] for shard in report_of(run)["shards"]] == tokens


# What the one key of case 1 gets on each device: the second shard chooses otherwise.
def torn_case(index: int) -> dict[str, Any]:
    step = sweep(index, 512)
    other = sweep(index, 512, best=1)["tuned"]
    return tuned_case(index, {**step, "tuned_on": {"FAKE-0001": other}})


def test_a_winner_that_differs_is_told_once_and_listed(warmups):
    cases = [torn_case(1), *keys_of(6)[1:]]
    done, run = warmups(cases, "--warmup-devices", "2", "--overlap-keys", "1")
    assert done.code == 0, done.err
    assert done.err.count("WARNING") == 1
    assert (
        "WARNING: warm-up: 1 key tuned twice, 1 differs: the winner of 1 key differs across "
        "shards; warmup/report.json lists them" in done.err
    )
    (one,) = report_of(run)["disagreements"]
    assert [side["config"] for side in one["sides"]] == CONFIGS
    assert [side["store"] for side in one["sides"]] == ["shard 0", "shard 1"]
    assert identity_of(run)["tuning"]["warmup"]["differ"] == 1


def test_confirm_tunes_only_disputed_keys_again_among_their_winners(warmups):
    cases = [torn_case(1), *keys_of(6)[1:]]
    done, run = warmups(cases, "--warmup-devices", "2", "--overlap-keys", "1", "--confirm")
    assert done.code == 0, done.err
    (tune,) = answers_in(run, "tune")
    assert tune["only"] == CONFIGS
    assert len(answers_in(run, "use")) == 5
    conditions = {w["key"][0]: w["conditions"] for w in warmups.store(run)["winners"]}
    assert conditions[512] == "quiet_serial"
    assert {conditions[size] for size in range(513, 518)} == {"noisy"}
    timings = [t for t in warmups.store(run)["timings"] if t["key"][0] == 512]
    assert {t["conditions"] for t in timings} == {"quiet_serial"}
    assert identity_of(run)["tuning"]["warmup"]["confirmed"] == 1


def test_shards_that_share_a_device_choose_no_winner(warmups):
    """C01: a configuration that is fast alone and slow beside others wins in the end."""
    cases = keys_of(4)
    for case in cases:
        (step,) = case["tuning"]
        crowded = sweep(step["winner"]["id"], step["winner"]["key"][0], best=1)["tuned"]
        step["tuned_warming"] = crowded
    done, run = warmups(cases, "--warmup-devices", "8", "--share-devices", FAKE_VISIBLE_DEVICES="1")
    assert done.code == 0, done.err
    assert "shards shared a device" in done.err
    assert report_of(run)["shared"] is True
    assert {s["device"] for s in report_of(run)["shards"]} == {"1"}
    store = warmups.store(run)
    assert [winner["config"] for winner in store["winners"]] == [CONFIGS[0]] * 4
    assert {one["conditions"] for one in store["winners"] + store["timings"]} == {"quiet_serial"}
    with sqlite3.connect(run / "warmup/merged.db") as merged:
        assert merged.execute("SELECT count(*) FROM winners").fetchone() == (4,)


def test_a_shard_that_crashes_leaves_its_cases_to_the_run(warmups):
    cases = keys_of(4)
    cases[1]["tuning"][0]["crash_on"] = {"FAKE-0001": "kill"}
    done, run = warmups(cases, "--warmup-devices", "2", "--overlap-keys", "0")
    assert done.code == 0, done.err
    assert "agreement unknown" in done.err
    assert "shard 1 on FAKE-0001 ended early: crashed: was killed by signal 9 (SIGKILL)" in done.err
    assert "WARNING: warm-up: 2 cases were not warmed" in done.err
    report = report_of(run)
    assert [one["case"] for one in report["not_warmed"]] == ["mm float16 2x2", "mm float16 4x4"]
    assert [shard["status"] for shard in report["shards"]] == ["finished", "crashed"]
    # The crash came after the key was tuned: that winner is kept, only the other one is missing.
    assert [row["flags"] for row in rows_of(run)] == [[], [], [], ["not_warmed"]]
    assert len(warmups.store(run)["winners"]) == 4


def test_a_shard_that_hangs_is_ended_at_its_limit(warmups):
    cases = keys_of(4)
    cases[1]["tuning"][0]["crash_on"] = {"FAKE-0001": "hang"}
    done, run = warmups(cases, "--warmup-devices", "2", "--stall", "1")
    assert done.code == 0, done.err
    assert report_of(run)["shards"][1]["status"] == "timeout"
    assert "shard 1 on FAKE-0001 ended early: timeout: stall 1 s" in done.err


def processes_of(folder: Path) -> list[int]:
    """Processes, zombies left out, that have this folder in their command line or environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            if str(folder).encode() in words:
                found.append(int(entry.name))
    return found


def wait_for(condition, seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def hanging(warmups: Warmups):
    """A started run both of whose shards' children hang in their second case."""
    cases = keys_of(6)
    for case in cases[2:4]:
        case["crash"] = "hang"
    words = warmups.words(cases, "--warmup-devices", "2", "--overlap-keys", "0")
    started = warmups.opgauge.start(*words)
    events = [warmups.opgauge.folder / f"a/warmup/shard-{i}/events.jsonl" for i in (0, 1)]
    # The second answer to tune: the child has taken its second case.
    wait_for(
        lambda: all(
            path.exists() and path.read_text().count('"tune_only":true') == 2 for path in events
        )
    )
    return started


def environment_of(pid: int) -> dict[str, str]:
    text = Path(f"/proc/{pid}/environ").read_bytes().decode()
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def test_each_shards_child_has_a_device_and_a_compile_cache_of_its_own(warmups):
    """C03, C08: what the processes were started with, so before any import."""
    warmups.opgauge.env["FAKE_VISIBLE_DEVICES"] = "4,5,6"
    started = hanging(warmups)
    run = warmups.opgauge.folder / "a"
    seen = set()
    for pid in processes_of(warmups.opgauge.folder):
        with contextlib.suppress(OSError):
            if "--script" in Path(f"/proc/{pid}/cmdline").read_text():
                env = environment_of(pid)
                seen.add((env["FAKE_VISIBLE_DEVICES"], env["TRITON_CACHE_DIR"]))
    started.kill()
    started.communicate(timeout=30)
    assert seen == {
        ("4", str(run / "warmup/shard-0/compiled")),
        ("5", str(run / "warmup/shard-1/compiled")),
    }


def test_an_interrupt_ends_every_shard_and_keeps_what_was_tuned(warmups):
    started = hanging(warmups)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=30)
    assert started.returncode == 130, err
    assert processes_of(warmups.opgauge.folder) == []
    run = warmups.opgauge.folder / "a"
    assert status_of(run)["status"] == "interrupted"
    assert rows_of(run) == []
    assert {s["status"] for s in report_of(run)["shards"]} == {"interrupted"}
    with sqlite3.connect(run / "warmup/merged.db") as merged:
        assert merged.execute("SELECT count(*) FROM winners").fetchone()[0] >= 2


def test_a_second_interrupt_ends_all_at_once(warmups):
    started = hanging(warmups)
    started.send_signal(signal.SIGINT)
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=30)
    assert started.returncode == 130
    assert processes_of(warmups.opgauge.folder) == []


def test_a_kill_of_opgauge_leaves_no_process(warmups):
    started = hanging(warmups)
    assert len(processes_of(warmups.opgauge.folder)) >= 5
    started.kill()
    started.communicate(timeout=30)
    wait_for(lambda: processes_of(warmups.opgauge.folder) == [])
    assert not (warmups.opgauge.folder / "a" / "status.json").exists()


def test_what_tuning_took_shares_out_the_next_warm_up(warmups):
    cases = keys_of(4)
    for case, seconds in zip(cases, (8, 1, 1, 1), strict=True):
        case["tuning"][0]["tuned"][0]["seconds"] = seconds
    done, first = warmups(cases)  # tunes live, as runs without a warm-up do
    assert done.code == 0, done.err
    first.rename(first.with_name("first"))
    done, run = warmups(cases, "--warmup-devices", "2", "--overlap-keys", "0")
    assert done.code == 0, done.err
    assert sorted(job_of(run, 0)["costs"].values()) == [1, 1, 1, 8]
    assert asked_in(run / "warmup/shard-0") == [512]
    assert asked_in(run / "warmup/shard-1") == [513, 514, 515]
    assert "shard 1 of 2 on FAKE-0001  4/4 cases, 3 tuned, ended" in done.err


def test_keys_that_were_evicted_after_a_warm_up_are_tuned_live(warmups):
    cases = keys_of(2)
    cases[0]["tuning"][0]["winner_failed"] = {
        "id": 1, "kind": "error", "message": "no image", "can_drop": True,
    }  # fmt: skip
    (other,) = sweep(1, 512, best=1)["tuned"]
    cases[0]["tuning"][0]["tuned_warming"] = [other]
    done, run = warmups(cases, "--warmup-devices", "2")
    assert done.code == 0, done.err
    assert [row["flags"] for row in rows_of(run)] == [["compile_error_evicted"], []]
    winners = {w["key"][0]: w["config"] for w in warmups.store(run)["winners"]}
    assert winners == {512: CONFIGS[0], 513: CONFIGS[0]}


def hello_in(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "events.jsonl").read_text().splitlines()[0])["message"]


def test_a_pytest_corpus_is_shared_out_and_measured_as_ever(corpus_tool):
    words = ["run", "abs", "--backend", "fake", "--dtypes", "float16", "--shapes", "upstream"]
    words += ["--run-dir", "a", "--warmup-devices", "2", "--overlap-keys", "0"]
    done = corpus_tool(*words, OPGAUGE_FAKE_DEVICES=devices(2))
    assert done.code == 0, done.err
    run = corpus_tool.folder / "a"
    report = report_of(run)
    assert [(s["status"], s["cases"]) for s in report["shards"]] == [("finished", 3)] * 2
    assert [s["tuned"] for s in report["shards"]] == [2, 1]
    assert report["not_warmed"] == []
    assert [row["status"] for row in rows_of(run)] == ["ok"] * 3
    for shard in (0, 1):
        assert answers_in(run / f"warmup/shard-{shard}", "more", "enough") == []


# The mask of the caller, and what each child is to see: one device, in exactly one layer.
@pytest.mark.parametrize(
    ("backend", "mask", "seen"),
    [
        ("rocm", {"ROCR_VISIBLE_DEVICES": "2,3"}, "ROCR_VISIBLE_DEVICES"),
        ("rocm", {"HIP_VISIBLE_DEVICES": "2,3"}, "HIP_VISIBLE_DEVICES"),
        ("musa", {"MUSA_VISIBLE_DEVICES": "2,3,5"}, "MUSA_VISIBLE_DEVICES"),
        ("ascend", {"ASCEND_RT_VISIBLE_DEVICES": "2,3"}, "ASCEND_RT_VISIBLE_DEVICES"),
    ],
)
def test_each_vendors_mask_is_narrowed_to_one_device_a_shard(corpus_tool, backend, mask, seen):
    env = {
        "ZL_BACKEND": backend,
        "OPGAUGE_LIBRARY_PATH": str(LIBRARIES),
        "OPGAUGE_FAKE_VENDOR": "devices=8",
        "PARALLEL_WARMUP_GPUS": "2",
    }
    done = corpus_tool("run", "abs", "--dtypes", "float16", "--run-dir", "a", **env, **mask)
    # The stand-in framework is of no vendor, so that nothing is measured in the end.
    assert done.code == 4, done.err
    run = corpus_tool.folder / "a"
    for shard, token in enumerate(["2", "3"]):
        assert hello_in(run / f"warmup/shard-{shard}")["visible"] == {seen: token}
        assert "device guard" in report_of(run)["shards"][shard]["reason"]
    assert hello_in(run)["visible"] == {seen: "2"}


def test_exclusive_holds_for_the_devices_of_shards_too(warmups):
    used = json.dumps([EIGHT[0], {**EIGHT[1], "pids": [41]}])
    words = ("--warmup-devices", "2", "--exclusive")
    done, run = warmups(keys_of(1), *words, OPGAUGE_FAKE_DEVICES=used)
    assert done.code == 3
    assert "--exclusive: device FAKE-0001 is used by 1 other processes" in done.err
    assert not run.exists()
