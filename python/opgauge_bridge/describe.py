# SPDX-License-Identifier: Apache-2.0
"""What a case is, as JSON: sizes, layout and attributes of its arguments, never data.

The parent's case id is a digest of it: the same work must read the same in every process, so no
address of an object may appear.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

_LONGEST_LIST = 64
# Marks of pytest and its plugins; the first other one names the operator.
_BUILTIN_MARKS = {
    "parametrize",
    "skip",
    "skipif",
    "xfail",
    "usefixtures",
    "filterwarnings",
    "timeout",
    "tryfirst",
    "trylast",
}


# -- arguments ------------------------------------------------------------------------------------
def is_tensor(value: Any) -> bool:
    """Anything with a shape, strides and a dtype; the framework need not be torch."""
    return all(hasattr(value, name) for name in ("shape", "stride", "dtype"))


def dtype_name(dtype: Any) -> str:
    """`float16` of torch.float16; text stays as it is."""
    return str(dtype).rsplit(".", 1)[-1] if dtype is not None else ""


def _shape(value: Any) -> Any:
    if is_tensor(value):
        return [int(size) for size in value.shape]
    if isinstance(value, (list, tuple)):
        return [_shape(item) for item in list(value)[:_LONGEST_LIST]]
    if isinstance(value, dict):
        return {str(key): _shape(item) for key, item in list(value.items())[:_LONGEST_LIST]}
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        # JSON has no infinity, and null would read like an argument that was not given.
        return float(value) if math.isfinite(value) else str(float(value))
    text = str(value)
    return f"<{type(value).__qualname__}>" if " at 0x" in text else text


def _strides(value: Any) -> Any:
    """Strides of a tensor that is not contiguous, or of such tensors in a list; else None."""
    if isinstance(value, (list, tuple)):
        inner = [_strides(item) for item in list(value)[:_LONGEST_LIST]]
        return inner if any(item is not None for item in inner) else None
    if not is_tensor(value):
        return None
    try:
        return None if value.is_contiguous() else [int(step) for step in value.stride()]
    except Exception:  # sparse and nested tensors have no strides
        return None


def _dtypes(value: Any) -> set[str]:
    if is_tensor(value):
        return {dtype_name(value.dtype)}
    if isinstance(value, (list, tuple)):
        return {name for item in list(value)[:_LONGEST_LIST] for name in _dtypes(item)}
    return set()


def case_of(
    operator: str, dtype: str, args: Any, kwargs: dict[str, Any], node: str
) -> dict[str, Any]:
    """The protocol's `case`. Dtypes and strides that its other members cannot hold are
    attributes, by the argument's position or name."""
    named = [(str(position), value) for position, value in enumerate(args)] + list(kwargs.items())
    found = [name for _, value in named for name in sorted(_dtypes(value))]
    dtype = dtype or (found[0] if found else "")
    layout = [_strides(value) for value in args]
    attributes: dict[str, Any] = {name: _shape(value) for name, value in kwargs.items()}
    others = {name: "+".join(sorted(_dtypes(value))) for name, value in named}
    others = {name: text for name, text in others.items() if text not in ("", dtype)}
    if others:
        attributes["dtypes"] = others
    strides = {name: _strides(value) for name, value in kwargs.items()}
    strides = {name: steps for name, steps in strides.items() if steps is not None}
    if strides:
        attributes["strides"] = strides
    return {
        "operator": operator,
        "dtype": dtype,
        "shapes": [_shape(value) for value in args],
        "layout": layout if any(steps is not None for steps in layout) else None,
        "attributes": attributes,
        "node": node,
    }


# -- tests ----------------------------------------------------------------------------------------
def operator_of(item: Any) -> str:
    """The test's first mark that is its own, else the function's name without test_."""
    marks = [mark.name for mark in item.iter_markers() if mark.name not in _BUILTIN_MARKS]
    function = getattr(item, "originalname", None) or item.name
    return str(marks[0] if marks else function.removeprefix("test_"))


def parameters_of(item: Any) -> dict[str, Any]:
    callspec = getattr(item, "callspec", None)
    return {name: _shape(value) for name, value in getattr(callspec, "params", {}).items()}


# -- timers ---------------------------------------------------------------------------------------
def number(value: Any) -> float | None:
    """A time or amount as a float; a tensor or numpy scalar of one element counts too."""
    if value is None or isinstance(value, (bool, str)):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        return None


def timer_settings(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of do_bench that change what a sample is."""
    names = ("warmup", "rep", "quantiles", "fast_flush", "return_mode")
    return {name: _shape(arguments[name]) for name in names if name in arguments}


def numbers_of(value: Any, settings: dict[str, Any]) -> list[float | None]:
    """The samples in what a timer returned. Quantiles are no samples: of these the median, or
    the first where it was not asked for."""
    values = list(value) if isinstance(value, (list, tuple)) else [value]
    quantiles = settings.get("quantiles")
    if isinstance(quantiles, list) and quantiles and len(values) == len(quantiles):
        values = [values[quantiles.index(0.5) if 0.5 in quantiles else 0]]
    return [number(item) for item in values]


def times_like(arguments: dict[str, Any], milliseconds: float) -> Any:
    """One time in the form that a do_bench called with these arguments returns."""
    quantiles = arguments.get("quantiles")
    if isinstance(quantiles, (list, tuple)) and len(quantiles) > 1:
        return [milliseconds] * len(quantiles)
    return [milliseconds] if arguments.get("return_mode") == "all" else milliseconds


def nothing_like(arguments: dict[str, Any]) -> Any:
    """What a skipped do_bench returns: not a number, in the form that its caller unpacks."""
    return times_like(arguments, math.nan)
