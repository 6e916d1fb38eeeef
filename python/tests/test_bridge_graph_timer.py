# SPDX-License-Identifier: Apache-2.0
"""The graph timer on a device with a virtual clock: what a sample holds, and which graphs count."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from fake_device import FakeDevice, FakeTensor
from opgauge_bridge.backends.torch_device import NotCaptured
from opgauge_bridge.graph import GraphTimer, NoDeviceWork

SENTINEL = 0xA5


def captured(device: FakeDevice, call: Any, holds: bool = True) -> GraphTimer:
    timer = GraphTimer(device, call, holds, device.stream())
    timer.prepare()
    timer.capture()
    return timer


def refusal(device: FakeDevice, call: Any) -> NotCaptured:
    with pytest.raises(NotCaptured) as caught:
        captured(device, call)
    return caught.value


# -- what a sample is -----------------------------------------------------------------------------
@pytest.mark.parametrize("calls", [1, 7])
def test_a_sample_is_a_replay_over_its_calls(calls: int) -> None:
    device = FakeDevice()
    timer = captured(device, device.kernel(6_000, host_ns=100_000))
    assert timer.burst(4, calls) == pytest.approx([6_000.0] * 4)
    assert timer.settings() == {"l2": "hot"}


def test_a_short_call_is_estimated_in_a_graph_of_twenty() -> None:
    device = FakeDevice()
    device.module.gap_ns = 1_000.0
    timer = captured(device, device.kernel(6_000))
    # The event behind each replay counts once, not for each call.
    assert timer.estimate_ns == pytest.approx(6_000 + 1_000 / 20)
    assert timer.burst(2, 20) == pytest.approx([6_050.0] * 2)


def test_a_long_call_is_estimated_in_a_graph_of_one() -> None:
    device = FakeDevice()
    device.module.gap_ns = 1_000.0
    assert captured(device, device.kernel(80_000)).estimate_ns == pytest.approx(81_000)


def test_a_burst_begins_with_a_hold_and_a_replay_that_is_not_timed() -> None:
    device = FakeDevice()
    timer = captured(device, device.kernel(6_000))
    timer.burst(1, 20)
    begin = len(device.module.log)
    timer.burst(2, 20)
    untimed = ["hold", "replay", "event"]
    assert device.module.log[begin:] == [*untimed, "replay", "event", "replay", "event"]


def test_a_device_that_cannot_be_held_never_is() -> None:
    device = FakeDevice()
    timer = captured(device, device.kernel(60_000), holds=False)
    assert timer.burst(3, 1) == pytest.approx([60_000.0] * 3)
    assert "hold" not in device.module.log


@pytest.mark.parametrize(
    ("kernel_ns", "host_ns", "recorded"),
    [
        (5_000, 1_000, [20, 4, 4, 4]),  # capture leaves a graph of 20; then one for each burst
        (60_000, 1_000, [1, 4]),  # a long call: the first graph serves all bursts
        (5_000, 8e6, [20, 4]),  # as does one that takes 32 ms to record
    ],
)
def test_each_burst_of_a_short_call_has_a_graph_of_its_own(
    kernel_ns: float, host_ns: float, recorded: list[int]
) -> None:
    device = FakeDevice()
    graphs: list[int] = []
    record = device.record

    def counted(call: Any, calls: int, stream: Any) -> Any:
        graphs.append(calls)
        return record(call, calls, stream)

    device.record = counted  # type: ignore[method-assign]
    timer = captured(device, device.kernel(kernel_ns, host_ns=host_ns))
    graphs = graphs[-1:]
    for _ in range(3):
        assert timer.burst(3, 4) == pytest.approx([kernel_ns] * 3)
    assert graphs == recorded


def test_a_closed_timer_holds_no_graph() -> None:
    device = FakeDevice()
    timer = captured(device, device.kernel(6_000))
    graph = timer._graph
    assert graph is not None
    timer.close()
    timer.close()
    assert timer._graph is None
    assert graph.outputs is None
    assert graph._graph.resets == 1


def test_inputs_that_are_ready_50_ms_late_on_another_stream_are_waited_for() -> None:
    device = FakeDevice()
    source = device.tensor(16, byte=1)
    device.module.launch(50e6, 1_000, lambda: source.write(2), stream=device.stream())
    begins: list[float] = []

    def call() -> FakeTensor:
        out = device.tensor()
        begin = device.module.launch(6_000, 5_000, lambda: out.write(source.memory[0]))
        if begin is not None:
            begins.append(begin)
        return out

    timer = captured(device, call)
    assert begins[0] >= 50e6
    assert timer.first_call_ns == 5_000 + 6_000 + device.module.synchronize_ns
    assert timer.burst(3, 1) == pytest.approx([6_000.0] * 3)


# -- proofs ---------------------------------------------------------------------------------------
def test_an_output_that_the_replay_leaves_unwritten_is_not_captured() -> None:
    device = FakeDevice()

    def call() -> FakeTensor:
        out = device.tensor()
        device.module.launch(6_000, 5_000)  # another kernel that is recorded
        if device.module.capture is None:
            out.write(1)
        return out

    error = refusal(device, call)
    assert error.kind == "not_captured"
    assert str(error) == "its replay leaves an output unwritten"


def test_each_of_several_outputs_is_proved() -> None:
    device = FakeDevice()
    first = device.kernel(6_000)
    assert refusal(device, lambda: {"out": [first(), device.tensor()]}).kind == "not_captured"


def test_an_output_without_elements_needs_no_proof() -> None:
    device = FakeDevice()
    first = device.kernel(6_000)
    assert captured(device, lambda: (first(), device.tensor(0))).estimate_ns > 0


def test_an_output_in_memory_from_outside_keeps_its_values() -> None:
    device = FakeDevice()
    inout = device.tensor(16, byte=7)
    seen: set[int] = set()

    def work() -> None:
        seen.update(inout.memory)
        inout.write(inout.memory[0] ^ 1)

    def call() -> FakeTensor:
        device.module.launch(6_000, 5_000, work)
        return inout

    timer = captured(device, call)
    assert timer.burst(2, 1) == pytest.approx([6_000.0] * 2)
    assert seen == {6, 7}
    assert SENTINEL not in inout.memory


def test_an_output_of_the_graph_is_overwritten_before_its_proof() -> None:
    device = FakeDevice()
    begin = len(device.module.log)
    captured(device, device.kernel(60_000))
    log = device.module.log[begin:]
    assert log.index("fill 8") < log.index("replay")
    assert log.count("fill 8") == 1


# -- empty graphs ---------------------------------------------------------------------------------
def test_an_empty_graph_of_a_call_that_launches_nothing_is_no_device_work() -> None:
    device = FakeDevice()
    device.module.gap_ns = 800.0
    view = device.tensor()

    def call() -> FakeTensor:
        device.module.now += 3_000  # the host's part of a view
        return view

    with pytest.raises(NoDeviceWork):
        captured(device, call)


def test_an_empty_graph_of_a_call_that_works_is_not_captured() -> None:
    device = FakeDevice()
    device.module.gap_ns = 800.0

    def call() -> None:  # goes past the recorder, to a library's own stream for example
        if device.module.capture is None:
            device.module.launch(6_000, 5_000)

    error = refusal(device, call)
    assert error.kind == "not_captured"
    assert str(error) == "the graph is empty, the call is not"


def test_an_empty_graph_is_judged_on_a_device_that_is_held() -> None:
    device = FakeDevice()
    device.module.gap_ns = 800.0

    def call() -> None:  # far longer for the host than two events: without a hold like work
        device.module.now += 400_000

    with pytest.raises(NoDeviceWork):
        captured(device, call)


def test_a_device_that_cannot_be_held_is_not_held_for_an_empty_graph_either() -> None:
    device = FakeDevice()
    with pytest.raises(NoDeviceWork):
        captured(device, lambda: None, holds=False)
    assert "hold" not in device.module.log


def test_a_call_that_waits_for_the_device_is_refused() -> None:
    device = FakeDevice()

    def call() -> None:
        device.module.launch(6_000, 5_000)
        device.synchronize()

    error = refusal(device, call)
    assert error.kind == "capture_refused"
    assert str(error) == (
        "RuntimeError: CUDA error: operation not permitted when stream is capturing"
    )


@pytest.mark.parametrize(
    ("backend", "name"), [("cuda", "CUDAGraph"), ("musa", "MUSAGraph"), ("ascend", "NPUGraph")]
)
def test_a_graph_is_of_the_class_that_the_vendors_module_has(backend: str, name: str) -> None:
    module = import_module(f"opgauge_bridge.backends.{backend}")
    (device_class,) = (
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    )
    assert device_class.graph_class == name
    device = FakeDevice()
    device.graph_class = name
    vars(device.module)[name] = device.module.CUDAGraph
    assert captured(device, device.kernel(30_000)).estimate_ns == pytest.approx(30_000)
