# SPDX-License-Identifier: Apache-2.0
"""Are both sides' outputs the same: the steps on stand-ins, the numbers on a real torch."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from typing import Any

import pytest

from fake_device import FakeDevice, FakeTensor
from opgauge_bridge.outputs import OutputCheck, memory_of, tensors_in


class Bytes(FakeTensor):
    """With the comparison that torch gives: element by element."""

    def __eq__(self, other: object) -> Any:
        assert isinstance(other, FakeTensor)
        return types.SimpleNamespace(all=lambda: self.memory == other.memory)

    __hash__ = FakeTensor.__hash__

    def clone(self) -> Bytes:
        return Bytes(self._module, bytearray(self.memory))


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    """On a machine without torch; `equal` is all that whole numbers need of it."""
    torch = types.SimpleNamespace(equal=lambda left, right: left.memory == right.memory)
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    return FakeDevice()


def of(device: FakeDevice, *values: int) -> Bytes:
    return Bytes(device.module, bytearray(values))


def verdict(device: FakeDevice, base: Any, candidate: Any, *args: Any) -> dict[str, Any]:
    check = OutputCheck(device, False)
    check.call_base(base, args, {})
    check.call_candidate(candidate, args, {})
    return check.verdict()


# -- the form of the outputs ----------------------------------------------------------------------
def test_equal_outputs_are_ok_without_an_error(device: FakeDevice) -> None:
    check = verdict(device, lambda: of(device, 1, 2), lambda: (of(device, 1, 2),))
    assert check == {
        "ok": True,
        "max_abs_error": 0.0,
        "max_rel_error": 0.0,
        "worst_over_allowance": 0.0,
    }


def test_another_shape_is_a_mismatch_with_both_shapes(device: FakeDevice) -> None:
    check = verdict(device, lambda: of(device, 1, 2), lambda: of(device, 1, 2, 3))
    assert check == {"ok": False, "message": "base has shape (2,), candidate (3,)"}


def test_another_number_of_outputs_is_a_mismatch_with_both_numbers(device: FakeDevice) -> None:
    check = verdict(device, lambda: of(device, 1), lambda: [of(device, 1), of(device, 2)])
    assert check == {"ok": False, "message": "base has 1 outputs, candidate 2"}


def test_whole_numbers_alone_must_be_the_same(device: FakeDevice) -> None:
    check = verdict(device, lambda: of(device, 1, 2), lambda: of(device, 1, 3))
    assert (check["ok"], check["whole_numbers_differ"]) == (False, True)


def test_outputs_that_are_no_tensors_are_not_compared(device: FakeDevice) -> None:
    check = verdict(device, lambda: 3, lambda: None)
    assert check == {"skipped": "no tensor among the outputs"}


def test_tensors_are_found_in_lists_and_by_name() -> None:
    device = FakeDevice()
    first, second = device.tensor(), device.tensor()
    assert list(tensors_in((1, [first, None], {"out": second, "text": "x"}))) == [first, second]
    assert memory_of(device.head_of(first)) == memory_of(first) != memory_of(second)


# -- cases that are not checked -------------------------------------------------------------------
def test_inputs_that_do_not_fit_four_times_are_too_large(device: FakeDevice) -> None:
    called: list[str] = []
    device.module.free_bytes = 63
    check = verdict(device, called.append, called.append, device.tensor(16))
    assert check == {"skipped": "inputs of 16 bytes are too large to copy"}
    assert called == []
    device.module.free_bytes = 64
    check = verdict(device, lambda x: x, lambda x: x, of(device, *[0] * 16))
    assert check["ok"] is True


@pytest.mark.parametrize("side", ["base", "candidate"])
def test_a_side_that_draws_random_numbers_is_not_checked(device: FakeDevice, side: str) -> None:
    def usual() -> Bytes:
        return of(device, 1)

    def draws() -> Bytes:
        device.module.draws += 1
        return of(device, device.module.draws)

    sides = (draws, usual) if side == "base" else (usual, draws)
    assert verdict(device, *sides) == {"skipped": f"random: the {side} draws random numbers"}


def test_nothing_of_a_random_base_is_held_while_the_sides_are_timed(device: FakeDevice) -> None:
    copies: list[weakref.ref[FakeTensor]] = []

    def base(value: FakeTensor) -> FakeTensor:
        device.module.draws += 1
        copies.append(weakref.ref(value))
        return value

    check = OutputCheck(device, False)
    check.call_base(base, (of(device, 1, 2),), {})
    gc.collect()
    assert copies[0]() is None
    assert check.verdict() == {"skipped": "random: the base draws random numbers"}


def test_one_side_only_is_not_checked(device: FakeDevice) -> None:
    check = OutputCheck(device, False)
    check.call_base(lambda: of(device, 1), (), {})
    assert check.verdict() == {"skipped": "one side only"}
    assert OutputCheck(device, False).verdict() == {"skipped": "one side only"}


def test_a_candidate_without_a_base_is_not_called(device: FakeDevice) -> None:
    check = OutputCheck(device, False)
    called: list[int] = []
    check.call_candidate(called.append, (1,), {})
    assert called == []
    assert check.verdict() == {"skipped": "the base was not called"}


def test_an_error_of_a_side_is_left_to_the_call_that_is_timed(device: FakeDevice) -> None:
    def fails() -> None:
        raise KeyError("x")

    expected = {"skipped": "the call for the check failed: KeyError"}
    assert verdict(device, fails, lambda: of(device, 1)) == expected
    assert verdict(device, lambda: of(device, 1), fails) == expected


def test_a_base_that_differs_from_itself_is_not_repeatable(device: FakeDevice) -> None:
    values = iter(range(9))
    check = verdict(device, lambda: of(device, next(values)), lambda: of(device, 9))
    assert check == {"skipped": "not repeatable: the base differs from itself"}


# -- operators that write into their inputs -------------------------------------------------------
def adds(tensor: Any, times: int = 1) -> None:
    for _ in range(times):
        tensor.write(tensor.memory[0] + 1)


def test_each_side_gets_inputs_that_nothing_has_changed(device: FakeDevice) -> None:
    given = of(device, 5, 5)
    assert verdict(device, adds, adds, given)["ok"] is True
    assert given.memory == bytearray([5, 5])


def test_what_a_side_writes_into_its_inputs_is_compared(device: FakeDevice) -> None:
    check = verdict(device, adds, lambda tensor: adds(tensor, 2), of(device, 5, 5))
    assert (check["ok"], check["whole_numbers_differ"]) == (False, True)


def test_a_tuner_may_write_again_and_again_in_its_first_call(device: FakeDevice) -> None:
    tries = iter([3])
    candidate = verdict(device, adds, lambda tensor: adds(tensor, next(tries, 1)), of(device, 5, 5))
    assert candidate["ok"] is True


# -- numbers --------------------------------------------------------------------------------------
def compared(base: list[float], candidate: list[float], dtype: str = "float32") -> dict[str, Any]:
    torch = pytest.importorskip("torch", reason="the comparison of numbers needs a real torch")
    left, right = (torch.tensor(item, dtype=getattr(torch, dtype)) for item in (base, candidate))
    return verdict(FakeDevice(), lambda: left, lambda: right)


def test_rounding_is_no_difference() -> None:
    check = compared([1.0, 2.0], [1.0, 2.0 + 1e-6])
    assert check["ok"] is True
    assert 0 < check["worst_over_allowance"] < 1
    assert check["max_abs_error"] == pytest.approx(1e-6, rel=0.1)


def test_a_wrong_number_is_a_difference() -> None:
    check = compared([1.0, 1.0], [1.0, 1.5])
    assert check["ok"] is False
    assert check["max_abs_error"] == 0.5
    assert check["max_rel_error"] == pytest.approx(0.25)  # of the value and of the outputs' scale


def test_nan_is_the_same_only_as_nan() -> None:
    nan = float("nan")
    # The last one differs by rounding: bit by bit equal outputs are not compared further.
    check = compared([1.0, nan, 2.0], [1.0, nan, 2.0 + 1e-6])
    assert (check["ok"], check["max_abs_error"]) == (True, pytest.approx(1e-6, rel=0.1))
    assert compared([1.0, nan], [1.0, nan])["ok"] is True
    assert compared([1.0, 1.0], [1.0, nan])["ok"] is False
    assert compared([1.0, nan], [1.0, 1.0])["ok"] is False


def test_infinity_is_the_same_only_as_itself() -> None:
    inf = float("inf")
    assert compared([inf, 2.0], [inf, 2.0 + 1e-6])["ok"] is True
    for base, candidate in ((inf, 1.0), (1.0, inf), (inf, -inf)):
        assert compared([base, 1.0], [candidate, 1.0])["ok"] is False


def test_a_coarser_dtype_explains_more() -> None:
    assert compared([1.0], [1.001], "float16")["ok"] is True
    assert compared([1.0], [1.001])["ok"] is False
