# SPDX-License-Identifier: Apache-2.0
"""The graph timer on a device with a virtual clock, and what may not be taken for a capture."""

from __future__ import annotations

from typing import Any

import pytest

from fake_device import NOT_PERMITTED, FakeDevice, FakeTensor
from opgauge_bridge.backends.torch_device import NotCaptured
from opgauge_bridge.graph import GraphTimer, NoDeviceWork


def prepared(device: FakeDevice, call: Any) -> GraphTimer:
    timer = GraphTimer(device, call, True, device.stream())
    timer.prepare()
    return timer


def test_a_sample_is_a_replay_over_its_calls_without_host_time() -> None:
    device = FakeDevice()
    timer = prepared(device, device.kernel(2_000, host_ns=50_000))
    timer.capture()
    assert timer.estimate_ns == pytest.approx(2_000)
    assert timer.burst(5, 400) == pytest.approx([2_000.0] * 5)
    # Recorded once more for 400 calls, then one untimed replay and the five of the burst.
    assert device.module.log[-12:].count("replay") == 6
    timer.close()
    assert timer._graph is None


def test_inputs_that_are_ready_50_ms_late_are_waited_for() -> None:
    device = FakeDevice()
    data = device.tensor()
    other = device.stream()
    begun: list[float] = []

    def call() -> FakeTensor:
        out = device.tensor()
        begin = device.module.launch(2_000, 5_000, lambda: out.write(1))
        if begin is not None:
            begun.append(begin)
        return out

    device.module.launch(50e6, 5_000, lambda: data.write(7), stream=other)
    timer = prepared(device, call)
    timer.capture()
    assert min(begun) >= 50e6


def test_an_output_that_the_replay_leaves_unwritten_is_not_captured() -> None:
    device = FakeDevice()

    def call() -> FakeTensor:
        out = device.tensor()
        # The work goes elsewhere while a graph is recorded: only something without effect is left.
        recording = device.module.capture is not None
        device.module.launch(2_000, 5_000, None if recording else lambda: out.write(1))
        return out

    timer = prepared(device, call)
    with pytest.raises(NotCaptured, match="its replay leaves an output unwritten") as caught:
        timer.capture()
    assert caught.value.kind == "not_captured"


def test_an_operator_in_place_keeps_its_memory() -> None:
    device = FakeDevice()
    data = device.tensor(byte=3)

    def call() -> FakeTensor:
        device.module.launch(2_000, 5_000)
        return data

    timer = prepared(device, call)
    timer.capture()
    assert bytes(data.memory) == bytes([3]) * 16


def test_a_view_is_no_device_work() -> None:
    device = FakeDevice()
    data = device.tensor()
    timer = prepared(device, lambda: data)
    with pytest.raises(NoDeviceWork):
        timer.capture()


def test_an_empty_graph_of_a_call_that_works_is_not_captured() -> None:
    device = FakeDevice()

    def call() -> None:
        if device.module.capture is None:
            device.module.launch(30_000, 5_000)

    timer = prepared(device, call)
    with pytest.raises(NotCaptured, match="the graph is empty, the call is not") as caught:
        timer.capture()
    assert caught.value.kind == "not_captured"


def raised_while_recording(device: FakeDevice, error: Exception) -> Any:
    def call() -> None:
        device.module.launch(2_000, 5_000)
        if device.module.capture is not None:
            raise error

    return call


@pytest.mark.parametrize(
    "text",
    [
        NOT_PERMITTED,
        "HIP error: operation not permitted when stream is capturing",
        "MUSA error: operation not permitted when stream is capturing",
        "aclrtSynchronizeStream failed: stream is in capture mode, ACL stream captured",
        "CUDA error: operation failed due to a previous error during capture",
        "Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture",
    ],
)
def test_each_vendors_refusal_to_capture_is_one(text: str) -> None:
    device = FakeDevice()
    timer = prepared(device, raised_while_recording(device, RuntimeError(text)))
    with pytest.raises(NotCaptured) as caught:
        timer.capture()
    assert caught.value.kind == "capture_refused"
    assert text in str(caught.value)


def test_a_refusal_behind_another_error_is_one_too() -> None:
    device = FakeDevice()
    error = ValueError("wrapped")
    error.__cause__ = RuntimeError(NOT_PERMITTED)
    timer = prepared(device, raised_while_recording(device, error))
    with pytest.raises(NotCaptured):
        timer.capture()


def test_an_unrelated_error_is_raised_as_it_is_and_the_process_is_not_trusted() -> None:
    device = FakeDevice()
    timer = prepared(device, raised_while_recording(device, ValueError("bad shape")))
    with pytest.raises(ValueError, match="bad shape") as caught:
        timer.capture()
    assert getattr(caught.value, "opgauge_untrusted", False)
