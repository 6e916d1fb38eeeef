# SPDX-License-Identifier: Apache-2.0
"""`--tune-timing`: in the plan, in the job, in what a run leaves, and in what is comparable; then
whole runs in which the newest real Triton tunes a stub kernel on a device with a virtual clock."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS, SOURCE, Tool, rows_of, scripted_case, status_of

sys.path.insert(0, str(SOURCE / "python/tests"))
from triton_wheels import VERSIONS, wheel  # noqa: E402

STEADY = [1e6] * 20
RACE = "opgauge.race 1 l2=cold"
DO_BENCH = "triton.do_bench warmup=25 rep=100"
CONFIGS = [{"BLOCK": 64, "num_warps": 4}, {"BLOCK": 128, "num_warps": 8}]
RACED = {"how": "race", "configs": 9, "dropped": [5, 1], "calls": 367, "device_s": 0.005}


def tuned_case(timer: str, **timing: Any) -> dict[str, Any]:
    """A scripted child tunes one key with this timer; CONFIGS[0] wins."""
    facts = {
        "kernel_source_hash": "source1",
        "config_list_digest": "list1",
        "tuning_timer": timer,
        "compiler": "triton 3.6.0 arch",
    }
    winner = {"id": 1, "kernel": "mm_kernel", "space": "mm", "key": [512], "raw_key": [512]}
    tuned = {
        "id": 1,
        "config": CONFIGS[0],
        "times": [0.01] * 3,
        "timings": [{"config": config, "times": [0.01] * 3} for config in CONFIGS],
        "seconds": 0.5,
        "timed": 2,
        "failed": [],
    }
    if timing:
        tuned["timing"] = {**timing, "seconds": 0.25}
    step = {"winner": {**winner, "facts": facts, "configs": 9}, "tuned": [tuned]}
    return scripted_case(1, STEADY, STEADY, tuning=[step], end={"winners": [1]})


def identity_of(run: Path) -> dict[str, Any]:
    return json.loads((run / "run_identity.json").read_text())


def job_of(run: Path) -> dict[str, Any]:
    """What the parent answered to the child's hello."""
    lines = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    (job,) = [line["message"] for line in lines if line.get("message", {}).get("type") == "job"]
    return job


class Runs:
    """Plays a case into named run folders."""

    def __init__(self, opgauge: Tool, script) -> None:
        self.opgauge = opgauge
        self.script = script

    def __call__(self, name: str, case: dict[str, Any], *words: str, **env: str):
        done = self.opgauge(*self.script([case]), "--run-dir", name, *words, **env)
        return done, self.opgauge.folder / name

    def record(self, name: str, timing: str, case: dict[str, Any] | None = None) -> Path:
        case = case or tuned_case(*((RACE,) if timing == "race" else (DO_BENCH,)))
        done, run = self(name, case, "--tune", "record", "--tune-timing", timing)
        assert done.code == 0, done.err
        return run


@pytest.fixture
def runs(opgauge, script) -> Runs:
    return Runs(opgauge, script)


# -- plan -----------------------------------------------------------------------------------------
def planned(opgauge, *words: str, **env: str) -> dict[str, str]:
    done = opgauge("plan", "mm", *words, "--json", **env)
    assert done.code == 0, done.err
    return done.json()["tune_timing"]


def test_the_plan_says_how_configurations_are_timed_and_why(corpus_tool):
    corpus_tool.env["ZL_BACKEND"] = "fake"
    full = {"value": "full", "why": "default: the tuner's own timing"}
    assert planned(corpus_tool) == full
    race = {"value": "race", "why": "--tune-timing"}
    assert planned(corpus_tool, "--tune-timing", "race") == race
    variable = {"value": "race", "why": "OPGAUGE_TUNE_TIMING"}
    assert planned(corpus_tool, OPGAUGE_TUNE_TIMING="race") == variable
    shown = corpus_tool("plan", "mm", "--tune-timing", "race").out
    assert "tune timing" in shown


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--tune-timing", "rapid"], 2, "--tune-timing: unknown tune timing 'rapid'; known:"),
        (["--tune-timing", ""], 2, "--tune-timing: the value is empty"),
        (["--tune-timing", "race", "--tune", "off"], 3, "--tune-timing race: nothing is tuned"),
        (
            ["--tune-timing", "race", "--corpus", "native"],
            3,
            "--tune-timing race: nothing is tuned (the native corpus has nothing to tune)",
        ),
    ],
)
def test_what_cannot_be_is_refused(corpus_tool, words, code, message):
    done = corpus_tool("plan", "mm", "--backend", "cpu" if "native" in words else "fake", *words)
    assert done.code == code
    assert message in done.err
    assert done.err.count("\n") == 1


# -- what a run leaves ----------------------------------------------------------------------------
def test_the_child_is_told(runs):
    assert job_of(runs.record("a", "race"))["tune"]["timing"] == "race"
    assert job_of(runs.record("b", "full"))["tune"]["timing"] == "full"
    done, run = runs("c", tuned_case(RACE), "--tune", "record", OPGAUGE_TUNE_TIMING="race")
    assert done.code == 0, done.err
    assert job_of(run)["tune"]["timing"] == "race"


def test_each_key_is_counted_in_the_status(runs):
    run = runs.record("a", "race", tuned_case(RACE, **RACED))
    tuning = status_of(run)["tuning"]
    place = {"kernel": "mm_kernel", "space": "mm", "key": [512]}
    assert tuning["timings"] == [{**place, **RACED, "seconds": 0.25}]
    (kernel,) = tuning["kernels"]
    names = ("timed_configs", "dropped", "timing_seconds", "timing_device_s")
    assert [kernel[name] for name in names] == [9, 6, 0.25, 0.005]


def test_a_backend_without_the_timer_times_in_full_and_says_so_once(runs):
    capabilities = {"OPGAUGE_FAKE_CAPABILITIES": "event_timing,graph_capture,telemetry"}
    words = ["--tune", "record", "--tune-timing", "race"]
    done, run = runs("a", tuned_case(DO_BENCH), *words, **capabilities)
    assert done.code == 0, done.err
    note = (
        "--tune-timing race: backend fake has no device_hold, which a race needs; each "
        "configuration is timed in full by the tuner"
    )
    assert done.err.count(note) == 1
    assert status_of(run)["tuning"]["notes"] == [note]
    assert identity_of(run)["tuning"]["timing"] == "full"
    assert job_of(run)["tune"]["timing"] == "full"


# -- what is comparable ---------------------------------------------------------------------------
def test_runs_that_timed_otherwise_are_not_comparable_though_their_winners_are_the_same(runs):
    race, full = runs.record("race", "race"), runs.record("full", "full")
    assert [identity_of(run)["tuning"]["timing"] for run in (race, full)] == ["race", "full"]
    rows = [rows_of(run)[0] for run in (race, full)]
    assert rows[0]["winners_digest"] == rows[1]["winners_digest"] != ""
    assert rows[0]["caliber_id"] != rows[1]["caliber_id"]
    assert identity_of(race)["setup_id"] != identity_of(full)["setup_id"]
    refused = runs.opgauge("compare", "full", "race")
    assert refused.code == 3
    assert "tune_timing (A: full, B: race)" in refused.err
    assert runs.opgauge("compare", "full", "race", "--factor", "tune_timing").code == 0


def test_the_caliber_of_full_is_that_of_runs_which_know_no_timing(runs):
    """As earlier versions left them."""
    run = runs.record("a", "full")
    (runs.opgauge.folder / "b").mkdir()
    for path in run.iterdir():
        if path.is_file():
            (runs.opgauge.folder / "b" / path.name).write_bytes(path.read_bytes())
    old = identity_of(run)
    del old["tuning"]["timing"]
    (runs.opgauge.folder / "b" / "run_identity.json").write_text(json.dumps(old))
    done = runs.opgauge("compare", "a", "b")
    assert done.code == 0, done.err


# -- replay ---------------------------------------------------------------------------------------
def test_a_replay_times_as_its_source_did_and_has_its_caliber(runs):
    source = runs.record("a", "race")
    done, run = runs("b", tuned_case(RACE), "--from", "a")
    assert done.code == 0, done.err
    assert identity_of(run)["tuning"]["timing"] == "race"
    assert rows_of(run)[0]["caliber_id"] == rows_of(source)[0]["caliber_id"]
    assert rows_of(run)[0]["flags"] == []
    # Its store alone says it, too.
    done, run = runs("c", tuned_case(RACE), "--from", "a/tuning.db")
    assert done.code == 0, done.err
    assert rows_of(run)[0]["caliber_id"] == rows_of(source)[0]["caliber_id"]


def test_winners_that_were_timed_otherwise_are_refused_with_both_values(runs):
    runs.record("a", "race")
    done, run = runs("b", tuned_case(DO_BENCH), "--from", "a", "--tune-timing", "full")
    assert done.code == 3
    assert f"scope differs; tuning_timer: recorded {RACE}, now {DO_BENCH}" in done.err
    assert [row["status"] for row in rows_of(run)] == ["failed"]


def test_winners_that_were_timed_otherwise_may_be_accepted_and_are_marked(runs):
    source = runs.record("a", "full")
    words = ["--from", "a", "--tune-timing", "race", "--accept-scope", "tuning_timer"]
    done, run = runs("b", tuned_case(RACE), *words)
    assert done.code == 0, done.err
    (row,) = rows_of(run)
    assert row["flags"] == ["replay_scope_accepted:tuning_timer"]
    assert row["winners_digest"] == rows_of(source)[0]["winners_digest"]
    assert row["caliber_id"] != rows_of(source)[0]["caliber_id"]


# -- whole runs -----------------------------------------------------------------------------------
CLOCK = """
import json
from types import SimpleNamespace
from fake_device import FakeDevice

made = FakeDevice()
TIMES = {16: 40_000.0, 32: 20_000.0, 64: 30_000.0, 128: 21_000.0, 256: 22_000.0, 512: 9e6}

def device():
    return made

def launch(*args, grid=None, warmup=False, **options):
    if not warmup:
        made.module.launch(TIMES[options["BLOCK"]], 30_000.0)
    return SimpleNamespace()
"""
TEST = """
import raced_clock
import triton, triton.testing
from types import SimpleNamespace

def do_bench(call, **settings):
    call()
    return [0.5] * 3 if settings.get("quantiles") else 0.5

do_bench.__module__ = "triton.testing"
triton.testing.do_bench = do_bench
triton.runtime.driver.set_active(SimpleNamespace(
    get_benchmarker=lambda: do_bench,
    get_current_target=lambda: SimpleNamespace(backend="fake", arch=7),
    get_current_device=lambda: 0,
    get_current_stream=lambda device: 0,
))

@triton.autotune(
    configs=[triton.Config({"BLOCK": block}) for block in raced_clock.TIMES], key=["n"]
)
@triton.jit
def kernel(x, n, BLOCK: triton.language.constexpr):
    pass

kernel.fn.run = raced_clock.launch

def test_it():
    for n in (100, 200):
        triton.testing.do_bench(lambda: kernel[(1,)](None, n))
"""


@pytest.fixture
def tuned_corpus(opgauge) -> list[str]:
    """The words of a run of it."""
    folder = opgauge.folder / "corpus"
    folder.mkdir()
    (folder / "raced_clock.py").write_text(CLOCK)
    (folder / "test_it.py").write_text(TEST)
    paths = (wheel(VERSIONS[-1]), SOURCE / "python/tests", folder, CORPUS / "stubs")
    opgauge.env |= {
        "ZL_BACKEND": "fake",
        "OPGAUGE_PYTHON": sys.executable,
        "OPGAUGE_FAKE_CLOCK": "raced_clock",
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PATH": os.environ["PATH"],
    }
    return ["run", "--node", "test_it.py::test_it", "--corpus", str(folder), "--timer", "direct"]


def winners(opgauge, run: Path) -> dict[int, int]:
    (store,) = opgauge("tune", "show", run, "--json").json()["stores"]
    return {winner["key"][0]: winner["config"]["BLOCK"] for winner in store["winners"]}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_run_races_records_and_is_replayed(opgauge, tuned_corpus, jobs):
    words = ["--tune-timing", "race", "--compile-jobs", jobs]
    done = opgauge(*tuned_corpus, "--run-dir", "a", *words, timeout=120)
    assert done.code == 0, done.err
    run = opgauge.folder / "a"
    assert winners(opgauge, run) == {100: 32, 200: 32}
    timings = status_of(run)["tuning"]["timings"]
    assert [one["key"] for one in timings] == [[100], [200]]
    for one in timings:
        assert (one["how"], one["configs"], one["dropped"]) == ("race", 6, [3, 0])
        # 105 samples of 20, 21 and 22 us, 5 of 30 and 40 us, one of 9 ms.
        assert one["device_s"] == pytest.approx(0.015965)
    (store,) = opgauge("tune", "show", run, "--json").json()["stores"]
    assert {winner["scope"]["tuning_timer"] for winner in store["winners"]} == {RACE}
    replayed = opgauge(*tuned_corpus, "--run-dir", "b", "--from", "a", timeout=120)
    assert replayed.code == 0, replayed.err
    assert "2 of 2 recorded winners used" in replayed.err
    assert [row["caliber_id"] for row in rows_of(opgauge.folder / "b")] == [
        row["caliber_id"] for row in rows_of(run)
    ]


def test_in_full_the_same_run_has_the_tuners_own_times(opgauge, tuned_corpus):
    done = opgauge(*tuned_corpus, "--run-dir", "a", timeout=120)
    assert done.code == 0, done.err
    (store,) = opgauge("tune", "show", opgauge.folder / "a", "--json").json()["stores"]
    assert {timing["p50_ms"] for timing in store["timings"]} == {0.5}
    timings = status_of(opgauge.folder / "a")["tuning"]["timings"]
    assert [(one["how"], one["configs"], one["calls"]) for one in timings] == [
        ("full", 6, None)
    ] * 2
