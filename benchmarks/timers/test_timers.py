# SPDX-License-Identifier: Apache-2.0
"""Works of which timers are often wrong: short as a launch, bound by memory, bound by power.

Each is one call of triton's do_bench, so that any timer can take its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from triton.testing import do_bench

WORKS = (
    "abs_64",
    "abs_4096",
    "softmax_4096",
    "layer_norm_4096",
    "mm_384",
    "mm_1024",
    "mm_2048",
    "mm_4096",
)


def make(name: str) -> Callable[[], Any]:
    """The call of a work: float16, square, random inputs from a fixed seed."""
    torch.manual_seed(0)
    operator, _, size = name.rpartition("_")
    n = int(size)
    x, y = (torch.randn(n, n, device="cuda", dtype=torch.float16) for _ in range(2))
    if operator == "abs":
        return lambda: torch.abs(x)
    if operator == "softmax":
        return lambda: torch.softmax(x, -1)
    if operator == "layer_norm":
        return lambda: torch.nn.functional.layer_norm(x, (n,), y[0], y[1])
    return lambda: torch.mm(x, y)


@pytest.mark.parametrize("name", WORKS)
def test_work(name: str) -> None:
    do_bench(make(name))
