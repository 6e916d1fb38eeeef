# SPDX-License-Identifier: Apache-2.0
"""Arguments as JSON: the same work reads the same in every process."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import fake_parent  # noqa: F401  (it finds the package)
from opgauge_bridge import describe
from opgauge_bridge.channel import jsonable


class Tensor:
    def __init__(
        self, shape: tuple[int, ...], dtype: str = "torch.float16", stride: Any = None
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self._stride = stride

    def stride(self) -> Any:
        return self._stride

    def is_contiguous(self) -> bool:
        return self._stride is None


class Generator:
    """Its text holds its address."""


def case_of(*args: Any, dtype: str = "float16", **kwargs: Any) -> dict[str, Any]:
    return describe.case_of("op", dtype, args, kwargs, "node")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, True),
        (3, 3),
        (0.5, 0.5),
        (None, None),
        ("mean", "mean"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, "nan"),
        ((1, [2, None]), [1, [2, None]]),
        ({"a": Tensor((2,))}, {"a": [2]}),
        (1 + 2j, "(1+2j)"),
        (Generator(), "<Generator>"),
        (Tensor(()), []),
        (list(range(100)), list(range(64))),
    ],
)
def test_an_argument_has_a_text_without_addresses(value: Any, text: Any) -> None:
    assert case_of(value)["shapes"] == [text]


def test_a_function_is_told_without_its_address() -> None:
    assert case_of(lambda x: x)["shapes"] == ["<function>"]


def test_dtypes_other_than_the_cases_are_attributes_by_position_and_name() -> None:
    case = case_of(
        Tensor((2,)),
        Tensor((2,), "torch.int64"),
        [Tensor((1,)), Tensor((1,), "torch.float32")],
        mask=Tensor((2,), "torch.bool"),
        out=Tensor((2,)),
    )
    assert case["attributes"] == {
        "mask": [2],
        "out": [2],
        "dtypes": {"1": "int64", "2": "float16+float32", "mask": "bool"},
    }


def test_without_a_dtype_of_the_loop_the_first_tensors_counts() -> None:
    assert case_of([Tensor((2,), "torch.float32")], dtype="")["dtype"] == "float32"
    assert case_of(1, dtype="")["dtype"] == ""


def test_strides_in_lists_and_of_keyword_arguments_are_told() -> None:
    case = case_of([Tensor((2, 3), stride=(1, 2)), Tensor((2,))], Tensor((4,)))
    assert case["layout"] == [[[1, 2], None], None]
    case = case_of(Tensor((4,)), out=Tensor((2, 3), stride=(1, 2)))
    assert case["layout"] is None
    assert case["attributes"] == {"out": [2, 3], "strides": {"out": [1, 2]}}


def test_a_tensor_without_strides_has_no_layout() -> None:
    class Sparse(Tensor):
        def is_contiguous(self) -> bool:
            raise RuntimeError("sparse tensors have no strides")

    assert case_of(Sparse((4,)))["layout"] is None


@pytest.mark.parametrize(
    ("value", "settings", "numbers"),
    [
        (1.5, {}, [1.5]),
        ([1.0, 2.0], {}, [1.0, 2.0]),
        ([3.0, 1.0, 2.0], {"quantiles": [0.5, 0.2, 0.8]}, [3.0]),
        ([1.0, 2.0], {"quantiles": [0.2, 0.5]}, [2.0]),
        ([1.0, 2.0], {"quantiles": [0.1, 0.9]}, [1.0]),
        (2.0, {"quantiles": [0.5]}, [2.0]),
        ("text", {}, [None]),
        (None, {}, [None]),
    ],
)
def test_samples_are_taken_out_of_what_a_timer_returns(
    value: Any, settings: dict[str, Any], numbers: list[float | None]
) -> None:
    assert describe.numbers_of(value, settings) == numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, None),
        ({"a": math.inf, 1: (1, 2)}, {"a": None, "1": [1, 2]}),
        ("x" * 5000, "x" * 4000),
        ("half a pair \ud800", "half a pair ?"),
        ({"\udcff": 1}, {"?": 1}),
        (2**70, 2**70),
    ],
)
def test_every_message_is_json_that_a_strict_reader_takes(value: Any, text: Any) -> None:
    assert jsonable(value) == text
    json.dumps(jsonable(value), allow_nan=False).encode("utf-8")
