# SPDX-License-Identifier: Apache-2.0
"""One side measured with opgauge's own timers: what is told and asked, answered by a script."""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from fake_device import FakeDevice
from opgauge_bridge import compiling, measurement
from opgauge_bridge.measurement import SideMeasurement

Message = dict[str, Any]
ENOUGH: Message = {"type": "enough", "median_ns": 30_000.0}


def more(samples: int, calls: int = 1) -> Message:
    return {"type": "more", "samples": samples, "calls_per_sample": calls}


class FakeChannel:
    """Gives the answers in order and keeps what was said."""

    def __init__(self, *answers: Message) -> None:
        self._answers = iter(answers)
        self.said: list[Message] = []

    def tell(self, type_: str, **members: Any) -> None:
        self.said.append({"type": type_, **members})

    def ask(self, type_: str, **members: Any) -> Message:
        self.tell(type_, **members)
        return next(self._answers)

    def types(self) -> list[str]:
        return [message.get("name", message["type"]) for message in self.said]

    def of(self, type_: str) -> list[Message]:
        return [message for message in self.said if message["type"] == type_]


class Ended(BaseException):
    """In place of the process's end."""


@pytest.fixture(autouse=True)
def ends(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        raise Ended

    monkeypatch.setattr(measurement.os, "_exit", leave)
    return codes


def side_of(channel: FakeChannel, device: FakeDevice, **settings: Any) -> SideMeasurement:
    return SideMeasurement(channel, device, settings)  # type: ignore[arg-type]


# -- the conversation -----------------------------------------------------------------------------
def test_a_side_takes_what_the_parent_asks_for_and_returns_its_median_in_milliseconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = FakeDevice()
    channel = FakeChannel(more(2), {**more(3, 2), "type": "cool_down", "seconds": 1.5}, ENOUGH)
    rests: list[float] = []
    monkeypatch.setattr(measurement.time, "sleep", rests.append)
    side = side_of(channel, device, l2="cold")
    assert side.run("base", "event", device.kernel(30_000)) == 0.03
    assert rests == [1.5]
    assert channel.types() == ["side_begin", "samples", "samples", "side_end"]
    begin, first, second, end = channel.said
    assert begin == {
        "type": "side_begin",
        "side": "base",
        "timer": "event",
        "first_call_ns": 37_000.0,
        "estimate_ns": pytest.approx(30_000),
        "no_device_work": False,
    }
    assert first == {
        "type": "samples",
        "side": "base",
        "timer": "event",
        "calls_per_sample": 1,
        "values_ns": pytest.approx([30_000.0] * 2),
        "complete": False,
        "settings": {"l2": "cold", "hold": True},
    }
    assert (second["calls_per_sample"], len(second["values_ns"])) == (2, 3)
    assert end["side"] == "base"
    assert side.flags == set()


def test_a_graph_is_announced_before_and_after_it_is_recorded() -> None:
    device = FakeDevice()
    channel = FakeChannel(more(2, 5), ENOUGH)
    side_of(channel, device).run("candidate", "graph", device.kernel(30_000))
    assert channel.types() == ["capture_begin", "capture_end", "side_begin", "samples", "side_end"]
    assert {message["side"] for message in channel.said} == {"candidate"}
    (sample,) = channel.of("samples")
    assert (sample["timer"], sample["settings"]) == ("graph", {"l2": "hot"})
    assert sample["values_ns"] == pytest.approx([30_000.0] * 2)


@pytest.mark.parametrize("median", [None, 0])
def test_a_side_without_a_median_is_not_a_number(median: float | None) -> None:
    device = FakeDevice()
    channel = FakeChannel({"type": "enough", "median_ns": median})
    assert math.isnan(side_of(channel, device).run("base", "event", device.kernel(30_000)))
    assert channel.types() == ["side_begin", "side_end"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"l2": "cold", "hold": True}),
        ({"l2": "hot"}, {"l2": "hot", "hold": True}),
        ({"hold": False}, {"l2": "cold", "hold": False}),
    ],
)
def test_the_jobs_settings_are_those_of_the_samples(settings: Message, expected: Message) -> None:
    device = FakeDevice()
    channel = FakeChannel(more(1), ENOUGH)
    side = side_of(channel, device, **settings)
    side.run("base", "event", device.kernel(30_000))
    assert channel.of("samples")[0]["settings"] == expected
    assert side.flags == (set() if expected["hold"] else {"no_device_hold"})


def test_a_call_that_waits_for_the_device_flags_its_row() -> None:
    device = FakeDevice()
    work = device.kernel(30_000)

    def call() -> None:
        work()
        device.synchronize()

    side = side_of(FakeChannel(more(2), ENOUGH), device)
    side.run("base", "event", call)
    assert side.flags == {"host_in_sample"}


def test_an_error_of_the_call_goes_on_and_closes_the_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    device = FakeDevice()
    closed: list[str] = []
    monkeypatch.setattr(measurement.EventTimer, "close", lambda timer: closed.append(timer.name))

    def call() -> None:
        raise ValueError("no kernel for this size")

    channel = FakeChannel()
    with pytest.raises(ValueError, match="no kernel for this size"):
        side_of(channel, device).run("base", "event", call)
    assert (channel.said, closed) == ([], ["event"])


# -- captures that fail ---------------------------------------------------------------------------
def test_a_refused_capture_is_asked_about_and_ends_the_child_with_87(ends: list[int]) -> None:
    device = FakeDevice()
    work = device.kernel(30_000)

    def call() -> None:
        work()
        device.synchronize()

    channel = FakeChannel({"type": "stop", "reason": "another child goes on"})
    with pytest.raises(Ended):
        side_of(channel, device).run("base", "graph", call)
    assert ends == [87]
    assert channel.types() == ["capture_begin", "capture_failed"]
    assert channel.said[1] == {
        "type": "capture_failed",
        "side": "base",
        "kind": "capture_refused",
        "message": "RuntimeError: CUDA error: operation not permitted when stream is capturing",
    }


def test_a_graph_that_does_not_do_the_work_ends_the_child_with_87(ends: list[int]) -> None:
    device = FakeDevice()

    def call() -> Any:
        device.module.launch(30_000, 5_000)
        return device.tensor()

    # Eagerly written or not: the sentinel stays where the replay writes nothing.
    channel = FakeChannel({"type": "stop", "reason": "another child goes on"})
    with pytest.raises(Ended):
        side_of(channel, device).run("base", "graph", call)
    assert ends == [87]
    assert channel.said[-1]["kind"] == "not_captured"


def test_a_capture_that_is_refused_only_in_a_burst_ends_the_child_with_87(ends: list[int]) -> None:
    device = FakeDevice()
    recorded = 0

    def call() -> None:
        nonlocal recorded
        recorded += device.module.capture is not None
        device.module.launch(80_000, 5_000)
        if recorded > 3:  # a library that asks for memory now and then
            device.synchronize()

    channel = FakeChannel(more(2, 12), {"type": "stop", "reason": "another child goes on"})
    with pytest.raises(Ended):
        side_of(channel, device).run("base", "graph", call)
    assert ends == [87]
    assert channel.types() == ["capture_begin", "capture_end", "side_begin", "capture_failed"]


def test_an_error_that_says_nothing_of_recording_ends_the_capture_and_goes_on(
    ends: list[int],
) -> None:
    device = FakeDevice()

    def call() -> None:
        if device.module.capture is not None:
            raise ValueError("shapes do not fit")
        device.module.launch(30_000, 5_000)

    channel = FakeChannel()
    with pytest.raises(ValueError, match="shapes do not fit"):
        side_of(channel, device).run("base", "graph", call)
    assert channel.types() == ["capture_begin", "capture_end"]
    assert ends == []


def test_a_call_that_launches_nothing_has_no_estimate_and_says_so() -> None:
    device = FakeDevice()
    channel = FakeChannel({"type": "enough", "median_ns": None})
    side = side_of(channel, device)
    assert math.isnan(side.run("candidate", "graph", lambda: None))
    assert channel.types() == ["capture_begin", "capture_end", "side_begin", "side_end"]
    assert (channel.said[2]["no_device_work"], channel.said[2]["estimate_ns"]) == (True, None)
    assert side.flags == {"no_device_work:candidate"}


# -- kernels that are compiled meanwhile ----------------------------------------------------------
@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Callable[[], object]:
    """Triton's class of compiled kernels, watched."""

    class CompiledKernel:
        pass

    module = types.SimpleNamespace(CompiledKernel=CompiledKernel)
    monkeypatch.setitem(sys.modules, "triton.compiler.compiler", module)  # type: ignore
    assert compiling.watch()
    assert compiling.watch()
    return CompiledKernel


@pytest.mark.parametrize(("in_call", "flags"), [(1, set()), (12, {"tuned_while_timed"})])
def test_a_kernel_that_is_compiled_in_a_burst_flags_the_row(
    compiled: Callable[[], object], in_call: int, flags: set[str]
) -> None:
    device = FakeDevice()
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        if calls == in_call:  # ten calls are over before the first burst
            compiled()
        device.module.launch(30_000, 5_000)

    before = compiling.count()
    side = side_of(FakeChannel(more(4), ENOUGH), device)
    side.run("base", "event", call)
    assert side.flags == flags
    assert compiling.count() == before + 1


def test_without_triton_there_is_nothing_to_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "triton.compiler.compiler", raising=False)
    assert not compiling.watch()
