# SPDX-License-Identifier: Apache-2.0
"""A whole child that tunes: a real pytest, the newest real Triton, a kernel that is a stub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fake_parent import BRIDGE, Child, job, run_child
from triton_wheels import TESTS, VERSIONS, wheel

CONFTEST = """
import triton, triton.testing
from types import SimpleNamespace

launched = []

def launch(*args, grid=None, warmup=False, **options):
    if options["BLOCK"] in FAILING:
        raise ValueError("does not launch")
    launched.append(options["BLOCK"])
    return SimpleNamespace()

def do_bench(call, **settings):
    call()
    times = [float(launched[-1])] * 3
    return times if settings.get("quantiles") else times[0]

triton.testing.do_bench = do_bench
triton.runtime.driver.set_active(SimpleNamespace(
    get_benchmarker=lambda: do_bench,
    get_current_target=lambda: SimpleNamespace(backend="fake", arch=7),
    get_current_device=lambda: 0,
    get_current_stream=lambda device: 0,
))
"""
CORPUS = """
import triton
import conftest

@triton.autotune(configs=[triton.Config({"BLOCK": block}) for block in (32, 16)], key=["n"])
@triton.jit
def kernel(x, n, BLOCK: triton.language.constexpr):
    pass

kernel.fn.run = conftest.launch

def test_it():
    kernel[(1,)](None, 300)
    for n in (100, 200, 100):
        triton.testing.do_bench(lambda: kernel[(1,)](None, n))
"""
CONFIG = {"BLOCK": 16, "num_warps": 4, "num_ctas": 1, "num_stages": 3}


def run(
    folder: Path,
    mode: str,
    rules: dict[str, Any] | None = None,
    failing: str = "()",
    **tune: Any,
) -> Child:
    (folder / "conftest.py").write_text(f"FAILING = {failing}\n{CONFTEST}")
    (folder / "test_it.py").write_text(CORPUS)
    paths = (BRIDGE, wheel(VERSIONS[-1]), TESTS / "tuned_corpus", folder)
    return run_child(
        folder,
        "test_it.py",
        rules={"hello": job(tune={"mode": mode, **tune}), **(rules or {})},
        environment={"PYTHONPATH": os.pathsep.join(map(str, paths))},
    )


def events(child: Child, name: str) -> list[dict[str, Any]]:
    return [message for message in child.of("event") if message["name"] == name]


def test_recording_tells_every_winner_before_the_samples_of_its_case(tmp_path: Path) -> None:
    child = run(tmp_path, "record")
    side = ["side_begin", "winner", "tuned", "samples", "side_end"]
    assert child.exit_code == 0, child.output
    assert child.types() == [
        "hello",
        "collected",
        *["event"] * 2,
        "device",
        "test_begin",
        "winner",
        "tuned",
        *["case_begin", *side, "case_end"] * 2,
        "case_begin",
        *["side_begin", "samples", "side_end"],
        "case_end",
        "test_end",
        "event",
        "bye",
    ]
    assert [message["config"] for message in child.of("tuned")] == [CONFIG] * 3


def test_a_case_names_the_keys_that_it_launched_and_no_others(tmp_path: Path) -> None:
    child = run(tmp_path, "record")
    keys = {message["id"]: message["key"] for message in child.of("winner")}
    assert keys == {1: [300], 2: [100], 3: [200]}
    assert [message["winners"] for message in child.of("case_end")] == [[2], [3], [2]]


def test_the_hooks_are_counted(tmp_path: Path) -> None:
    child = run(tmp_path, "record")
    (hooks,) = events(child, "tuning_hooks")
    assert (hooks["tuners"], hooks["model"]) == (1, False)
    (end,) = events(child, "tuning")
    counts = [end[name] for name in ("launches", "asked", "used", "tuned")]
    assert counts == [4, 3, 0, 3]
    assert child.of("log") == []


def test_replaying_times_no_configuration(tmp_path: Path) -> None:
    use = {"type": "use", "config": {**CONFIG, "BLOCK": 32}}
    child = run(tmp_path, "replay", rules={"winner": use})
    assert child.of("tuned") == []
    assert [message["values_ns"] for message in child.of("samples")] == [[32e6]] * 3
    (end,) = events(child, "tuning")
    assert (end["asked"], end["used"], end["tuned"]) == (3, 3, 0)


def test_a_failing_winner_is_dropped_within_its_case(tmp_path: Path) -> None:
    bad = {**CONFIG, "BLOCK": 32}
    child = run(
        tmp_path,
        "replay",
        rules={
            "winner": {"type": "use", "config": bad},
            "winner_failed": {"type": "tune", "exclude": [bad]},
        },
        failing="(32,)",
    )
    assert child.exit_code == 0, child.output
    assert [message["id"] for message in child.of("winner_failed")] == [1, 2, 3]
    assert [message["config"] for message in child.of("tuned")] == [CONFIG] * 3
    assert [message["status"] for message in child.of("case_end")] == ["ok"] * 3


def test_a_miss_that_the_parent_does_not_allow_ends_the_child_with_87(tmp_path: Path) -> None:
    child = run(tmp_path, "replay", rules={"winner": {"type": "stop", "reason": "replay_miss"}})
    assert child.exit_code == 87
    assert child.types()[-1] == "winner"


@pytest.mark.parametrize("type_", ["perhaps", "go"])
def test_an_answer_of_another_type_is_a_protocol_error(tmp_path: Path, type_: str) -> None:
    assert run(tmp_path, "record", rules={"winner": {"type": type_}}).exit_code == 88


def test_without_tuning_there_is_no_hook_and_no_message(tmp_path: Path) -> None:
    child = run(tmp_path, "off")
    assert child.exit_code == 0, child.output
    assert child.of("winner", "tuned") == []
    assert [message["name"] for message in child.of("event")] == ["hooks"]
    assert all("winners" not in message for message in child.of("case_end"))


def test_a_job_may_have_configurations_compiled_ahead(tmp_path: Path) -> None:
    child = run(tmp_path, "record", compile_jobs=2)
    assert child.exit_code == 0, child.output
    counts = ("jobs", "ahead", "hits", "misses", "failed")
    told = [[message["compile"][name] for name in counts] for message in child.of("tuned")]
    assert told == [[2, 2, 2, 0, 0]] * 3
    assert child.of("log") == []
    assert [message["seq"] for message in child.messages] == list(range(1, len(child.messages) + 1))


def test_without_compile_jobs_nothing_is_told_of_compiling(tmp_path: Path) -> None:
    child = run(tmp_path, "record", compile_jobs=1)
    assert len(child.of("tuned")) == 3
    assert all("compile" not in message for message in child.of("tuned"))
