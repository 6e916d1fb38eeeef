# SPDX-License-Identifier: Apache-2.0
"""Are both sides' outputs the same? A fast wrong kernel is not a speed-up.

Each side is called once for it, before it is timed, on inputs that nothing has changed yet:
operators that write into their inputs get copies. The comparison itself runs when the case is
closed, outside the corpus's own dispatch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from .describe import dtype_name, is_tensor

# Relative error that rounding and another order of summation explain, by dtype.
_TOLERANCE = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 2e-5,
    "complex64": 2e-5,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
}
_COARSEST = 0.13  # eight bits and fewer
_CHUNK = 1 << 24  # elements compared at once
_MEMORY_SHARE = 4  # copies are made where this many times the inputs fit


class Mismatch(Exception):
    """The outputs differ in form: shapes, or how many there are."""


def tensors_in(value: Any) -> Iterator[Any]:
    if is_tensor(value):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def memory_of(tensor: Any) -> int:
    """The address of the memory that a tensor is a view of."""
    return int(tensor.untyped_storage().data_ptr())


def _copy(value: Any) -> Any:
    if is_tensor(value):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(item) for item in value)
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return value


class OutputCheck:
    """One case's comparison: `call_base`, then `call_candidate`, then `verdict`."""

    def __init__(self, device: Any, backward: bool) -> None:
        self._device = device
        self._backward = backward
        self._skipped = ""
        self._gradient: Any = None
        self._inputs: Any = None
        self._spare: Any = None
        self._base: list[Any] | None = None
        self._candidate: list[Any] | None = None
        self._op: Any = None
        self._changed: list[int] = []

    # -- the calls ----------------------------------------------------------------------------
    def call_base(self, op: Any, args: Any, kwargs: Any) -> None:
        self._guarded(lambda: self._call_base(op, args, kwargs))

    def call_candidate(self, op: Any, args: Any, kwargs: Any) -> None:
        if self._base is None:
            self._skipped = self._skipped or "the base was not called"
            return
        self._guarded(lambda: self._call_candidate(op, args, kwargs))

    def _guarded(self, step: Any) -> None:
        """An error here will show again where it belongs, in the call that is timed."""
        if self._skipped:
            return
        try:
            step()
        except Exception as error:
            self._skipped = f"the call for the check failed: {type(error).__name__}"
            self._drop()

    def _call_base(self, op: Any, args: Any, kwargs: Any) -> None:
        self._op = op
        inputs = list(tensors_in((args, kwargs)))
        size = sum(tensor.numel() * tensor.element_size() for tensor in inputs)
        if size * _MEMORY_SHARE > self._device.memory_free_bytes():
            self._skipped = f"inputs of {size} bytes are too large to copy"
            return
        self._inputs = _copy((args, kwargs))
        state = self._device.random_state()
        copies = list(tensors_in(self._inputs))
        versions = [tensor._version for tensor in copies]
        self._base = self._run(op, *self._inputs)
        if self._device.random_state() != state:
            self._skipped = "random: the base draws random numbers"
            self._drop()  # nothing of it is held while the sides are timed
            return
        self._changed = [
            index for index, tensor in enumerate(copies) if tensor._version != versions[index]
        ]
        self._base += self._changed_inputs()
        self._inputs = _copy((args, kwargs)) if self._changed else (args, kwargs)
        self._spare = _copy((args, kwargs)) if self._changed else None

    def _call_candidate(self, op: Any, args: Any, kwargs: Any) -> None:
        # A tuner tries its configurations on what it is given: again and again into one input.
        if self._spare is not None:
            self._run(op, *self._spare)
            self._spare = None
        state = self._device.random_state()
        self._candidate = self._run(op, *self._inputs)
        if self._device.random_state() != state:
            self._skipped = "random: the candidate draws random numbers"
            self._drop()
            return
        self._candidate += self._changed_inputs()

    def _changed_inputs(self) -> list[Any]:
        """The inputs that the base writes into: they are outputs too."""
        inputs = list(tensors_in(self._inputs))
        return [inputs[index].detach() for index in self._changed]

    def _run(self, op: Any, args: Any, kwargs: Any) -> list[Any]:
        out = op(*args, **kwargs)
        if self._backward:
            import torch

            if self._gradient is None:
                self._gradient = torch.randn_like(out)
            inputs = [item for item in args if is_tensor(item) and item.requires_grad]
            out = torch.autograd.grad((out,), inputs, grad_outputs=(self._gradient,))
        return [tensor.detach() for tensor in tensors_in(out)]

    # -- the comparison -----------------------------------------------------------------------
    def verdict(self) -> dict[str, Any]:
        """The protocol's `check`."""
        if not self._skipped and (self._base is None or self._candidate is None):
            self._skipped = "one side only"
        if self._skipped:
            self._drop()
            return {"skipped": self._skipped}
        try:
            check = self._compare()
        except Mismatch as error:
            check = {"ok": False, "message": str(error)}
        except Exception as error:  # out of memory, a layout without a norm
            check = {"skipped": f"the comparison failed: {type(error).__name__}"}
        if check.get("ok") is False and self._not_repeatable():
            check = {"skipped": "not repeatable: the base differs from itself"}
        self._drop()
        return check

    def _not_repeatable(self) -> bool:
        """A second call of the base, only where a difference must be explained."""
        if self._changed or self._inputs is None:
            return False
        try:
            again = self._run(self._op, *self._inputs)
            return not _compare_lists(self._base or [], again, self._coarsest())["ok"]
        except Exception:
            return False

    def _coarsest(self) -> float:
        floats = [
            tensor
            for tensor in tensors_in((self._base, self._candidate, self._inputs))
            if tensor.is_floating_point() or tensor.is_complex()
        ]
        known = [_TOLERANCE.get(dtype_name(tensor.dtype), _COARSEST) for tensor in floats]
        return max(known, default=0.0) * _growth(self._inputs, self._base)

    def _compare(self) -> dict[str, Any]:
        return _compare_lists(self._base or [], self._candidate or [], self._coarsest())

    def _drop(self) -> None:
        self._inputs = self._spare = self._base = self._candidate = None
        self._gradient = self._op = None


def _growth(inputs: Any, outputs: Any) -> float:
    """How much more error a long sum may gather: root of the number of terms over 16. Where shapes
    do not tell (a softmax has as many outputs as inputs), by the digits of the longest one."""
    sizes = sorted((tensor.numel() for tensor in tensors_in(inputs)), reverse=True)
    out = max((tensor.numel() for tensor in tensors_in(outputs)), default=1) or 1
    if not sizes or sizes[0] == 0:
        return 1.0
    terms = sizes[0] / out
    # Two inputs that are not both of the output's size may be contracted.
    if len(sizes) > 1 and sizes[:2] != [out, out]:
        terms = max(terms, math.sqrt(sizes[0] * sizes[1] / out))
    longest = max(max(tensor.shape, default=1) for tensor in tensors_in(inputs))
    return max(1.0, math.sqrt(terms) / 16, math.log2(max(1, longest)) / 4)


def _compare_lists(base: list[Any], candidate: list[Any], tolerance: float) -> dict[str, Any]:
    import torch

    if len(base) != len(candidate):
        raise Mismatch(f"base has {len(base)} outputs, candidate {len(candidate)}")
    if not base:
        return {"skipped": "no tensor among the outputs"}
    check = {"ok": True, "max_abs_error": 0.0, "max_rel_error": 0.0, "worst_over_allowance": 0.0}
    floats = whole = True
    for left, right in zip(base, candidate, strict=True):
        if tuple(left.shape) != tuple(right.shape):
            raise Mismatch(f"base has shape {tuple(left.shape)}, candidate {tuple(right.shape)}")
        if left.dtype == right.dtype and torch.equal(left, right):
            continue
        if left.is_floating_point() or left.is_complex():
            found = _compare_floats(left, right, tolerance)
            floats = floats and found["worst_over_allowance"] <= 1
            for name, value in found.items():
                check[name] = max(check[name], value)
        else:
            whole = whole and bool((left == right).all())
    # Equal values may come in another order: their indices then tell nothing.
    ordered = any(item.is_floating_point() for item in base)
    check["ok"] = floats and (whole or ordered)
    if not whole:
        check["whole_numbers_differ"] = True
    return check


def _compare_floats(left: Any, right: Any, tolerance: float) -> dict[str, float]:
    import torch

    left, right = (_flat(item) for item in (left, right))
    wide = torch.float32 if max(left.element_size(), right.element_size()) < 4 else torch.float64
    found = {"max_abs_error": 0.0, "max_rel_error": 0.0, "worst_over_allowance": 0.0}
    for begin in range(0, left.numel(), _CHUNK):
        a = left[begin : begin + _CHUNK].to(wide)
        b = right[begin : begin + _CHUNK].to(wide)
        same = (a == b) | (a.isnan() & b.isnan())
        zero = torch.zeros_like(a)
        error = torch.where(same, zero, (a - b).abs())
        scale = torch.where(a.isfinite(), a, zero).square().mean().sqrt()
        # Where both are NaN, the size would make NaN of no error.
        size = torch.where(same, zero, a.abs()) + scale
        allowed = tolerance * size + 1e-30
        over = (error / allowed).nan_to_num(nan=1e30, posinf=1e30)
        relative = (error / (size + 1e-30)).nan_to_num(nan=1e30, posinf=1e30)
        values = torch.stack(
            [error.nan_to_num(nan=1e30, posinf=1e30).max(), relative.max(), over.max()]
        )
        for name, value in zip(found, values.tolist(), strict=True):
            found[name] = max(found[name], value)
    return found


def _flat(tensor: Any) -> Any:
    import torch

    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1)
