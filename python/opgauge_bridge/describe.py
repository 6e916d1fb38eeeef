# SPDX-License-Identifier: Apache-2.0
"""What a case's arguments are, as JSON: sizes, layout and attributes, never data."""

from __future__ import annotations

from typing import Any

_LONGEST_LIST = 64


def is_tensor(value: Any) -> bool:
    """Anything with a shape, strides and a dtype; the framework need not be torch."""
    return hasattr(value, "shape") and hasattr(value, "stride") and hasattr(value, "dtype")


def dtype_name(dtype: Any) -> str:
    """`float16` of torch.float16; text stays as it is."""
    return str(dtype).rsplit(".", 1)[-1] if dtype is not None else ""


def _shape(value: Any) -> Any:
    if is_tensor(value):
        return [int(size) for size in value.shape]
    if isinstance(value, (list, tuple)):
        return [_shape(item) for item in list(value)[:_LONGEST_LIST]]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _strides(value: Any) -> Any:
    """Strides of a tensor that is not contiguous, else None."""
    if not is_tensor(value):
        return None
    try:
        return None if value.is_contiguous() else [int(step) for step in value.stride()]
    except Exception:  # sparse and nested tensors have no strides
        return None


def _first_dtype(values: list[Any]) -> str:
    for value in values:
        if is_tensor(value):
            return dtype_name(value.dtype)
    return ""


def case_of(
    operator: str, dtype: str, args: Any, kwargs: dict[str, Any], node: str
) -> dict[str, Any]:
    """The protocol's `case`. Dtypes that differ from the case's own are attributes."""
    values = list(args)
    named = list(kwargs.values())
    dtype = dtype or _first_dtype(values + named)
    layout = [_strides(value) for value in values]
    attributes: dict[str, Any] = {name: _shape(value) for name, value in kwargs.items()}
    others = {
        str(position): dtype_name(value.dtype)
        for position, value in enumerate(values)
        if is_tensor(value) and dtype_name(value.dtype) != dtype
    }
    if others:
        attributes["dtypes"] = others
    return {
        "operator": operator,
        "dtype": dtype,
        "shapes": [_shape(value) for value in values],
        "layout": layout if any(layout) else None,
        "attributes": attributes,
        "node": node,
    }
