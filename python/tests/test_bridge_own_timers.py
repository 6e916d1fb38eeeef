# SPDX-License-Identifier: Apache-2.0
"""A whole child whose do_bench is taken over: a real pytest on a device with a virtual clock."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from fake_parent import BRIDGE, DATA, USUAL, Child, Message, job, run_child, run_corpus

STUBS = DATA / "corpus_flaggems" / "stubs"
CLOCK = {
    "OPGAUGE_FAKE_CLOCK": "fake_clock",
    "PYTHONPATH": os.pathsep.join(map(str, (BRIDGE, STUBS, Path(__file__).parent))),
}
ELEMENTS_OF_ABS = (64 * 64, 1024 * 1024, 16 * 128 * 64 * 60)


def rules_of(timer: str, **members: Any) -> dict[str, Any]:
    return {
        "hello": job(timer=timer, check=False, **members),
        "case_begin": {**USUAL["case_begin"], "timer": timer},
        "side_begin": {"type": "more", "samples": 3, "calls_per_sample": 1},
        "samples": lambda message: {"type": "enough", "median_ns": message["values_ns"][1]},
    }


@functools.cache
def abs_with(timer: str) -> Child:
    return run_corpus(
        "test_abs.py::test_abs",
        "--dtypes",
        "float16",
        rules=rules_of(timer),
        environment=CLOCK,
    )


def run_text(folder: Path, text: str, **options: Any) -> Child:
    (folder / "test_it.py").write_text(text)
    rules = {**rules_of("event"), **options.pop("rules", {})}
    return run_child(folder, "test_it.py", rules=rules, environment=CLOCK, **options)


# -- both sides of a benchmark class --------------------------------------------------------------
@pytest.mark.parametrize("timer", ["event", "graph"])
def test_the_samples_are_the_operators_times_and_not_the_hosts(timer: str) -> None:
    child = abs_with(timer)
    expected = []
    for elements in ELEMENTS_OF_ABS:
        expected += [("base", elements), ("candidate", elements * 0.25)]
    found = [(message["side"], message["values_ns"]) for message in child.of("samples")]
    assert found == [(side, [pytest.approx(time)] * 3) for side, time in expected], child.output
    assert {message["timer"] for message in child.of("side_begin", "samples")} == {timer}
    assert [message["flags"] for message in child.of("case_end")] == [[], [], []]
    assert child.exit_code == 0


@pytest.mark.parametrize("timer", ["event", "graph"])
def test_the_conversation_of_a_case_is_the_protocols(timer: str) -> None:
    captures = ["event", "event"] if timer == "graph" else []
    side = [*captures, "side_begin", "samples", "side_end"]
    case = ["case_begin", *side, *side, "case_end"]
    types = abs_with(timer).types()
    assert types[types.index("test_begin") :] == ["test_begin", *case * 3, "test_end", "bye"]


def test_the_corpus_reckons_with_the_parents_medians() -> None:
    # It prints the speed-up of each case.
    assert abs_with("event").output.count("'speedup': 4.0") == 3


def test_an_estimate_is_given_and_the_first_call_is_the_hosts() -> None:
    begin = abs_with("event").of("side_begin")[0]
    assert begin["estimate_ns"] == pytest.approx(4096)
    assert begin["first_call_ns"] > 5e6


def test_a_case_without_a_check_says_why() -> None:
    assert abs_with("event").of("case_end")[0]["check"] == {"skipped": "--no-check"}


def test_a_case_can_fall_back_to_another_timer_than_the_jobs() -> None:
    def fallback(message: Message) -> Message:
        timer = "event" if message["index"] == 2 else "graph"
        return {**USUAL["case_begin"], "timer": timer}

    child = run_corpus(
        "test_abs.py::test_abs",
        "--dtypes",
        "float16",
        rules={**rules_of("graph"), "case_begin": fallback},
        environment=CLOCK,
    )
    timers = [message["timer"] for message in child.of("samples")]
    assert timers == ["graph"] * 2 + ["event"] * 2 + ["graph"] * 2


# -- a corpus without a benchmark class -----------------------------------------------------------
def test_a_lone_do_bench_is_taken_over_in_the_form_that_its_caller_unpacks(tmp_path: Path) -> None:
    child = run_text(
        tmp_path,
        "import torch, triton\n"
        "def test_it():\n"
        "    x = torch.randn((100, 1000))\n"
        "    bench = triton.testing.do_bench\n"
        "    assert abs(bench(lambda: torch.abs(x)) - 0.1) < 1e-9\n"
        "    low, high = bench(lambda: torch.abs(x), quantiles=[0.2, 0.8])\n"
        "    assert low == high and abs(low - 0.1) < 1e-9\n"
        "    assert len(bench(lambda: torch.abs(x), return_mode='all')) == 1\n",
    )
    assert child.one("test_end")["outcome"] == "passed", child.output
    assert [message["side"] for message in child.of("samples")] == ["candidate"] * 3
    assert child.of("samples")[0]["values_ns"] == [pytest.approx(1e5)] * 3


def test_gradients_are_cleared_before_each_call(tmp_path: Path) -> None:
    child = run_text(
        tmp_path,
        "import torch, triton\n"
        "def test_it():\n"
        "    x = torch.randn((100, 1000))\n"
        "    x.grad, kept = 1, []\n"
        "    def call():\n"
        "        kept.append(x.grad)\n"
        "        x.grad = torch.abs(x)\n"
        "    triton.testing.do_bench(call, grad_to_none=[x])\n"
        # One first call, three that warm, five that estimate, three samples.
        "    assert kept == [None] * 12\n",
    )
    assert child.one("test_end")["outcome"] == "passed", child.output


# -- children that are replaced -------------------------------------------------------------------
def test_a_refused_capture_ends_the_child_with_87_after_the_question(tmp_path: Path) -> None:
    child = run_text(
        tmp_path,
        "import fake_clock, torch, triton\n"
        "def call():\n"
        "    fake_clock.device().synchronize()\n"
        "def test_it():\n"
        "    triton.testing.do_bench(call)\n",
        rules=rules_of("graph"),
    )
    assert child.exit_code == 87
    assert child.messages[-1]["type"] == "capture_failed"
    assert child.one("capture_failed")["kind"] == "capture_refused"


def test_a_child_that_goes_on_leaves_out_the_tests_that_are_finished() -> None:
    nodes = [f"benchmark/test_abs.py::{name}" for name in ("test_abs", "test_abs_backward")]
    child = run_corpus(
        "test_abs.py",
        rules=rules_of("event", skip_nodes=nodes[:1]),
        environment=CLOCK,
    )
    assert child.one("collected")["nodes"] == nodes[1:]
    assert [message["node"] for message in child.of("test_begin")] == nodes[1:]
    assert {message["case"]["operator"] for message in child.of("case_begin")} == {"abs_backward"}
    assert child.exit_code == 0


LOSES_THE_DEVICE = (
    "import fake_clock, pytest, torch, triton\n"
    "def call():\n"
    "    fake_clock.device().module.lost = LOST\n"
    "    raise RuntimeError('an illegal memory access was encountered')\n"
    "@pytest.mark.parametrize('number', [1, 2])\n"
    "def test_it(number):\n"
    "    triton.testing.do_bench(call)\n"
)


def test_a_lost_device_ends_the_case_and_the_child_with_89(tmp_path: Path) -> None:
    child = run_text(tmp_path, LOSES_THE_DEVICE.replace("LOST", "True"))
    assert child.exit_code == 89
    assert child.types()[-1] == "case_end"
    message = "RuntimeError: an illegal memory access was encountered"
    end = child.one("case_end")
    assert (end["status"], end["error"]) == (
        "failed",
        {"kind": "device_lost", "message": message},
    )


def test_an_error_that_the_device_survives_is_one_failed_case(tmp_path: Path) -> None:
    child = run_text(tmp_path, LOSES_THE_DEVICE.replace("LOST", "False"))
    assert child.exit_code == 1
    assert [message["error"]["kind"] for message in child.of("case_end")] == ["error"] * 2
    assert len(child.of("test_end")) == 2


# -- the hidden backend ---------------------------------------------------------------------------
def test_without_a_clock_the_hidden_backend_has_nothing_to_time_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from opgauge_bridge import backends

    monkeypatch.delenv("OPGAUGE_FAKE_CLOCK", raising=False)
    assert backends.device("fake") is None
    assert backends.device("of no vendor") is None
    assert backends.device("cpu") is None
