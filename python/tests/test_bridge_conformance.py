# SPDX-License-Identifier: Apache-2.0
"""The samples by which the timers themselves are checked, on a device with a virtual clock."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from test_bridge_own_timers import CLOCK, rules_of

from fake_device import FREE_BYTES, FakeDevice, FakeModule
from fake_parent import BRIDGE, Child, run_corpus
from opgauge_bridge import backends, conformance
from opgauge_bridge.conformance import TimerCheck, check

SIZE = FREE_BYTES // 8
NULL, FILL = 1600.0, 0.4 * SIZE


def module(**members: Any) -> FakeModule:
    made = FakeModule()
    made.gap_ns = NULL
    for name, value in members.items():
        setattr(made, name, value)
    return made


def facts_of(*timers: str, holds: bool = True, **members: Any) -> dict[str, Any]:
    work = TimerCheck(FakeDevice(module(**members)), holds)
    work.run(list(timers))
    return work.facts


class FakeChannel:
    def __init__(self) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []

    def tell(self, type_: str, **members: Any) -> None:
        self.said.append((type_, members))


def told(monkeypatch: pytest.MonkeyPatch, device: Any, *timers: str) -> tuple[bool, dict[str, Any]]:
    monkeypatch.setattr(backends, "device", lambda name: device)
    channel = FakeChannel()
    trusted = check(channel, {"backend": "fake", "conformance": timers})  # type: ignore[arg-type]
    ((type_, members),) = channel.said
    assert type_ == "conformance"
    return trusted, members["facts"]


# -- the samples ----------------------------------------------------------------------------------
def test_nothing_takes_the_events_own_time_and_fills_theirs_beside_it() -> None:
    facts = facts_of("event")
    assert facts["bytes"] == {"small": 4096, "n": SIZE}
    assert facts["null_event_ns"] == pytest.approx([NULL] * 128)
    assert facts["empty_kernel_event_ns"] == pytest.approx([NULL] * 64)
    assert facts["fill_small_event_ns"] == pytest.approx([NULL + 0.4 * 4096] * 64)
    assert facts["fill_n_event_ns"] == pytest.approx([NULL + FILL] * 20)
    assert facts["fill_2n_event_ns"] == pytest.approx([NULL + 2 * FILL] * 20)
    assert "fill_n_graph_ns" not in facts
    assert "graph_problem" not in facts


def test_a_graph_of_the_same_fill_takes_the_same_time_a_call() -> None:
    facts = facts_of("event", "graph")
    # As many calls as make a replay of a millisecond.
    assert facts["graph_calls"] == int(1e6 / (FILL + NULL))
    expected = FILL + NULL / facts["graph_calls"]
    assert facts["fill_n_graph_ns"] == pytest.approx([expected] * 10)


@pytest.mark.parametrize(("unit", "ratio"), [(1e6, 1.0), (1e3, 1e3)])
def test_a_stretch_of_20_ms_is_measured_by_the_events_and_by_the_host(
    unit: float, ratio: float
) -> None:
    stretches = facts_of("event", event_unit=unit)["unit"]
    assert len(stretches) == 3
    for stretch in stretches:
        assert stretch["host_ns"] > 19e6
        assert stretch["event_ns"] / stretch["host_ns"] == pytest.approx(ratio, rel=0.01)


def test_slow_memory_gets_shorter_fills() -> None:
    facts = facts_of("event", fill_ns_per_byte=100.0)
    assert facts["fill_n_event_ns"][0] == pytest.approx(2e6, rel=0.01)
    assert facts["bytes"]["n"] < SIZE / 6


def test_too_little_free_memory_is_a_problem_and_no_measurement() -> None:
    problem = "8192 bytes of free memory are too few for long fills"
    assert facts_of("event", free_bytes=8192) == {"hold": True, "problem": problem}


def test_without_a_hold_the_facts_say_so() -> None:
    facts = facts_of("event", holds=False)
    assert "empty_kernel_event_ns" not in facts
    assert facts["hold"] is False
    # What the host needs between the two events is in the sample.
    assert facts["null_event_ns"][0] >= NULL


# -- what is told ---------------------------------------------------------------------------------
def test_a_refused_capture_is_told_and_leaves_an_untrusted_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = FakeDevice(module(records_graphs=False))
    trusted, facts = told(monkeypatch, device, "event", "graph")
    assert not trusted
    assert facts["graph_problem"].startswith("capture_refused: RuntimeError: CUDA error")
    assert "fill_n_graph_ns" not in facts
    assert len(facts["fill_2n_event_ns"]) == 20


def test_a_device_that_is_lost_or_cannot_be_had_is_a_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trusted, facts = told(monkeypatch, FakeDevice(module(lost=True)), "event")
    assert not trusted
    assert facts["problem"] == "RuntimeError: an illegal memory access was encountered"
    trusted, facts = told(monkeypatch, None, "event")
    assert trusted
    assert facts == {"problem": "backend fake has nothing to time with"}


def test_the_frameworks_spare_memory_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    emptied: list[int] = []
    device = FakeDevice(module(empty_cache=lambda: emptied.append(1)))
    assert told(monkeypatch, device, "event")[0]
    assert emptied == [1]


# -- whole children -------------------------------------------------------------------------------
def run_abs(**clock: Any) -> Child:
    rules = rules_of("graph", conformance=["event", "graph"])
    environment = {**CLOCK, **clock}
    return run_corpus(
        "test_abs.py::test_abs", "--dtypes", "float16", rules=rules, environment=environment
    )


def test_a_child_checks_its_timers_between_the_guard_and_the_first_test() -> None:
    child = run_abs()
    types = child.types()
    assert types[types.index("device") + 1 : types.index("test_begin") + 1] == [
        "conformance",
        "test_begin",
    ]
    assert child.one("conformance")["facts"]["bytes"]["n"] == SIZE
    assert len(child.of("case_end")) == 3
    assert child.exit_code == 0


def test_a_child_whose_capture_failed_leaves_its_tests_to_another() -> None:
    child = run_abs(FAKE_CLOCK='{"records_graphs": false}')
    assert child.exit_code == 89
    assert child.types()[-1] == "conformance"


def test_a_job_that_asks_for_no_check_gets_none() -> None:
    rules = rules_of("graph", conformance=[])
    child = run_corpus(
        "test_abs.py::test_abs", "--dtypes", "float16", rules=rules, environment=CLOCK
    )
    assert child.of("conformance") == []


def test_started_by_hand_the_module_says_what_it_is_for() -> None:
    done = subprocess.run(
        [sys.executable, "-m", conformance.__name__],
        env={"PYTHONPATH": str(BRIDGE)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "this module answers to opgauge: run `opgauge doctor --timers`\n"
