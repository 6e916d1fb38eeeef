# SPDX-License-Identifier: Apache-2.0
"""When outputs are compared and when not; the arithmetic itself needs the framework and is shown on
a device (benchmarks/README.md)."""

from __future__ import annotations

from typing import Any

import pytest

from fake_device import FREE_BYTES, FakeDevice, FakeTensor
from opgauge_bridge.outputs import Mismatch, OutputCheck, _compare_lists, _growth


def doubled(device: FakeDevice) -> Any:
    def call(tensor: FakeTensor) -> FakeTensor:
        out = device.tensor()
        out.write(2 * tensor.memory[0])
        return out

    return call


def test_a_case_with_one_side_only_says_so() -> None:
    device = FakeDevice()
    check = OutputCheck(device, backward=False)
    assert check.verdict() == {"skipped": "one side only"}
    check = OutputCheck(device, backward=False)
    check.call_candidate(doubled(device), (device.tensor(),), {})
    assert check.verdict() == {"skipped": "the base was not called"}


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_operators_that_draw_random_numbers_are_exempt(side: str) -> None:
    device = FakeDevice()

    def random(tensor: FakeTensor) -> FakeTensor:
        device.module.draws += 1
        return device.tensor()

    plain = doubled(device)
    check = OutputCheck(device, backward=False)
    check.call_base(random if side == "base" else plain, (device.tensor(),), {})
    if side == "candidate":
        check.call_candidate(random, (device.tensor(),), {})
    assert check.verdict() == {"skipped": f"random: the {side} draws random numbers"}


def test_inputs_that_do_not_fit_twice_are_not_copied() -> None:
    device = FakeDevice()
    large = FakeTensor(device.module, bytearray(8), size=FREE_BYTES // 2)
    check = OutputCheck(device, backward=False)
    check.call_base(doubled(device), (large,), {})
    size = FREE_BYTES // 2
    assert check.verdict() == {"skipped": f"inputs of {size} bytes are too large to copy"}


def test_an_error_of_the_check_is_no_failure_of_the_case() -> None:
    device = FakeDevice()

    def broken(tensor: FakeTensor) -> FakeTensor:
        raise ValueError("no kernel")

    check = OutputCheck(device, backward=False)
    check.call_base(broken, (device.tensor(),), {})
    assert check.verdict() == {"skipped": "the call for the check failed: ValueError"}


def test_an_operator_in_place_gets_copies_and_a_spare_for_its_tuner() -> None:
    device = FakeDevice()
    data = device.tensor(byte=1)
    seen: list[int] = []

    def add_one(tensor: FakeTensor) -> FakeTensor:
        seen.append(tensor.memory[0])
        tensor.write(tensor.memory[0] + 1)
        return tensor

    check = OutputCheck(device, backward=False)
    check.call_base(add_one, (data,), {})
    data.write(99)  # the base is timed in between, on the corpus's own input
    check.call_candidate(add_one, (data,), {})
    assert seen == [1, 1, 1]  # base; candidate on the spare; candidate for the comparison
    assert check._candidate is not None
    assert [tensor.memory[0] for tensor in check._candidate] == [2, 2]
    assert bytes(data.memory) == bytes([99]) * 16


def test_other_forms_are_a_mismatch() -> None:
    pytest.importorskip("torch")
    device = FakeDevice()
    with pytest.raises(Mismatch, match="base has 1 outputs, candidate 2"):
        _compare_lists([device.tensor()], [device.tensor(), device.tensor()], 0.0)
    with pytest.raises(Mismatch, match=r"base has shape \(16,\), candidate \(8,\)"):
        _compare_lists([device.tensor(16)], [device.tensor(8)], 0.0)


class Sized:
    """Only sizes count for how much error a sum may gather."""

    stride = dtype = None

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def numel(self) -> int:
        product = 1
        for size in self.shape:
            product *= size
        return product


def test_longer_sums_may_differ_by_more() -> None:
    # 16384 terms are summed: root 128, over 16.
    assert _growth([Sized(1 << 14, 4)], [Sized(4)]) == pytest.approx(8.0)
    # A matrix product of 4096 terms: root 64, over 16.
    assert _growth([Sized(4096, 4096), Sized(4096, 8)], [Sized(4096, 8)]) == pytest.approx(4.0)
    # As many outputs as inputs: the digits of the longest dimension.
    assert _growth([Sized(64, 4096)], [Sized(64, 4096)]) == pytest.approx(3.0)
    assert _growth([Sized(4)], [Sized(4)]) == 1.0
