# SPDX-License-Identifier: Apache-2.0
"""Which errors mean that a device refuses to record, in the words of each vendor's runtime."""

from __future__ import annotations

import pytest

from fake_device import FakeDevice
from opgauge_bridge.backends.torch_device import NotCaptured
from opgauge_bridge.errors import first_line

REFUSALS = {
    "cuda": "CUDA error: operation not permitted when stream is capturing\nCUDA kernel errors",
    "cuda_earlier": "CUDA error: operation failed due to a previous error during capture",
    "cuda_copy": "Cannot copy between CPU and CUDA tensors during CUDA graph capture",
    "cuda_random": "Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture.",
    "hip": "HIP error: operation not permitted when stream is capturing\nHIP kernel errors",
    "hip_name": "HIP error: hipErrorStreamCaptureUnsupported",
    "musa": "MUSA error: operation not permitted when stream is capturing",
    # The cause stands lines behind the code of the call.
    "npu_wait": "NPU function error: AclrtSynchronizeStreamWithTimeout, error code is 107027\n"
    "[ERROR] ERR00100 PTA call acl api failed.\nEE9999: Inner Error!\n"
    "Not allow to synchronize captured-stream, stream_id=262.",
    "npu_copy": "NPU function error: aclrtMemcpy, error code is 107030\n"
    "rtMemcpy execution failed, reason=the current capture mode does not support this operation",
}

NO_REFUSALS = [
    ValueError("shape [3, 4] does not fit"),
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("NPU out of memory. Tried to allocate 2.00 GiB"),
    NotImplementedError(""),
]


def raise_(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("text", REFUSALS.values(), ids=REFUSALS)
def test_a_vendors_refusal_is_not_captured(text: str) -> None:
    device = FakeDevice()
    with pytest.raises(NotCaptured) as caught:
        device.record(lambda: raise_(RuntimeError(text)), 1, device.stream())
    assert caught.value.kind == "capture_refused"
    assert str(caught.value) == "RuntimeError: " + text.splitlines()[0]


@pytest.mark.parametrize("error", NO_REFUSALS, ids=lambda error: type(error).__name__)
def test_another_error_goes_on_as_it_is(error: Exception) -> None:
    device = FakeDevice()
    with pytest.raises(type(error)) as caught:
        device.record(lambda: raise_(error), 1, device.stream())
    assert caught.value is error


def raised_from(cause: Exception) -> Exception:
    try:
        raise ValueError("the launcher failed") from cause
    except ValueError as error:
        return error


def raised_while_handling(other: Exception) -> Exception:
    try:
        try:
            raise other
        except RuntimeError:
            raise KeyError("config") from None
    except KeyError as error:
        return error


@pytest.mark.parametrize("vendor", ["cuda", "hip", "musa", "npu_wait"])
@pytest.mark.parametrize("wrap", [raised_from, raised_while_handling])
def test_a_refusal_is_found_behind_the_error_that_was_made_of_it(vendor: str, wrap: object) -> None:
    assert callable(wrap)
    error = wrap(wrap(RuntimeError(REFUSALS[vendor])))
    assert FakeDevice().refuses_capture(error)
    assert not FakeDevice().refuses_capture(wrap(RuntimeError("no such kernel")))


def test_a_chain_of_errors_that_bites_its_tail_ends() -> None:
    first, second = ValueError("one"), ValueError("two")
    first.__cause__, second.__cause__ = second, first
    assert not FakeDevice().refuses_capture(first)


def test_after_a_refusal_nothing_is_recorded_any_more() -> None:
    device = FakeDevice()
    before = device.current_stream()
    with pytest.raises(NotCaptured):
        device.record(lambda: raise_(RuntimeError(REFUSALS["cuda"])), 1, device.stream())
    assert device.module.capture is None
    assert device.current_stream() is before


def test_a_graph_knows_that_it_is_empty_and_what_the_last_call_returned() -> None:
    device = FakeDevice()
    stream = device.stream()
    empty = device.record(lambda: "out", 2, stream)
    assert (empty.empty, empty.outputs) == (True, "out")
    assert not device.record(device.kernel(10), 1, stream).empty


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("\n\n one \ntwo"), "ValueError: one "),
        (ValueError(""), "ValueError: "),
        (ValueError("x" * 600), "ValueError: " + "x" * 488),
    ],
)
def test_an_error_is_told_in_one_bearable_line(error: Exception, line: str) -> None:
    assert first_line(error) == line


def test_a_lost_device_is_not_alive() -> None:
    device = FakeDevice()
    assert device.alive()
    device.module.lost = True
    assert not device.alive()
