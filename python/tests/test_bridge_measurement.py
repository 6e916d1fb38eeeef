# SPDX-License-Identifier: Apache-2.0
"""One side's conversation around its bursts, with a scripted parent and a virtual clock."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fake_device import NOT_PERMITTED, FakeDevice
from opgauge_bridge import compiling, measurement
from opgauge_bridge.measurement import SideMeasurement


class Ended(Exception):
    """In place of the process's end."""


class Parent:
    """Answers questions in order and keeps all that was said."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.said: list[dict[str, Any]] = []

    def tell(self, type_: str, **members: Any) -> None:
        self.said.append({"type": type_, **members})

    def ask(self, type_: str, **members: Any) -> dict[str, Any]:
        self.tell(type_, **members)
        return self.answers.pop(0)

    def of(self, type_: str) -> list[dict[str, Any]]:
        return [message for message in self.said if message["type"] == type_]


def more(samples: int, calls: int = 1) -> dict[str, Any]:
    return {"type": "more", "samples": samples, "calls_per_sample": calls}


def test_bursts_go_on_until_enough_and_the_median_goes_back_in_milliseconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = FakeDevice()
    slept: list[float] = []
    monkeypatch.setattr(measurement.time, "sleep", slept.append)
    rest = {"type": "cool_down", "seconds": 0.25, "samples": 2, "calls_per_sample": 1}
    parent = Parent(more(3), rest, {"type": "enough", "median_ns": 30_000.0})
    side = SideMeasurement(parent, device, {"l2": "hot", "hold": True})  # type: ignore[arg-type]
    assert side.run("base", "event", device.kernel(30_000)) == pytest.approx(0.03)
    bursts = parent.of("samples")
    assert [len(message["values_ns"]) for message in bursts] == [3, 2]
    assert bursts[0]["values_ns"] == pytest.approx([30_000.0] * 3)
    assert bursts[0]["settings"] == {"l2": "hot", "hold": True}
    assert slept == [0.25]
    assert parent.said[-1] == {"type": "side_end", "side": "base"}
    assert side.flags == set()


def test_a_graph_tells_before_and_after_its_capture() -> None:
    device = FakeDevice()
    parent = Parent(more(2, 500), {"type": "enough", "median_ns": 2_000.0})
    side = SideMeasurement(parent, device, {})  # type: ignore[arg-type]
    side.run("candidate", "graph", device.kernel(2_000))
    events = [message.get("name", message["type"]) for message in parent.said]
    assert events == ["capture_begin", "capture_end", "side_begin", "samples", "side_end"]
    assert parent.of("side_begin")[0]["estimate_ns"] == pytest.approx(2_000)
    assert parent.of("samples")[0]["calls_per_sample"] == 500
    assert parent.of("samples")[0]["values_ns"] == pytest.approx([2_000.0] * 2)


def test_a_refused_capture_is_told_and_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    device = FakeDevice()

    def call() -> None:
        device.module.launch(2_000, 5_000)
        if device.module.capture is not None:
            raise RuntimeError(NOT_PERMITTED)

    def end(code: int) -> None:
        raise Ended(code)

    monkeypatch.setattr(os, "_exit", end)
    parent = Parent({"type": "stop"})
    side = SideMeasurement(parent, device, {})  # type: ignore[arg-type]
    with pytest.raises(Ended) as ended:
        side.run("base", "graph", call)
    assert ended.value.args == (87,)
    said = parent.of("capture_failed")[0]
    assert (said["side"], said["kind"]) == ("base", "capture_refused")
    assert NOT_PERMITTED in said["message"]


def test_a_view_has_no_estimate_and_no_samples() -> None:
    device = FakeDevice()
    data = device.tensor()
    parent = Parent({"type": "enough", "median_ns": None})
    side = SideMeasurement(parent, device, {})  # type: ignore[arg-type]
    value = side.run("base", "graph", lambda: data)
    assert value != value  # not a number
    begun = parent.of("side_begin")[0]
    assert begun["no_device_work"] is True
    assert begun["estimate_ns"] is None
    assert parent.of("samples") == []
    assert side.flags == {"no_device_work:base"}


def test_a_kernel_compiled_inside_a_burst_taints_the_row(monkeypatch: pytest.MonkeyPatch) -> None:
    device = FakeDevice()
    calls = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        device.module.launch(30_000, 5_000)
        if calls == 12:  # after the first calls and the estimate
            monkeypatch.setattr(compiling, "_count", compiling._count + 1)

    parent = Parent(more(6), {"type": "enough", "median_ns": 1.0})
    side = SideMeasurement(parent, device, {"l2": "hot"})  # type: ignore[arg-type]
    side.run("base", "event", call)
    assert side.flags == {"tuned_while_timed"}


def test_a_backend_without_a_hold_and_a_call_that_waits_say_so() -> None:
    device = FakeDevice()

    def waits() -> None:
        device.module.launch(30_000, 5_000)
        device.synchronize()

    parent = Parent(more(2), {"type": "enough", "median_ns": 1.0})
    side = SideMeasurement(parent, device, {"l2": "hot", "hold": True})  # type: ignore[arg-type]
    side.run("base", "event", waits)
    assert side.flags == {"host_in_sample"}
    parent = Parent(more(2), {"type": "enough", "median_ns": 1.0})
    side = SideMeasurement(parent, device, {"l2": "hot", "hold": False})  # type: ignore[arg-type]
    side.run("base", "event", device.kernel(30_000))
    assert side.flags == {"no_device_hold"}
