# SPDX-License-Identifier: Apache-2.0
"""A corpus without a benchmark class: tests that call triton's do_bench, by name and by module."""

import pytest
import torch
import triton
from triton.testing import do_bench

tuned_softmax = triton.runtime.Autotuner(torch.softmax, configs=["small", "large"])


@pytest.mark.parametrize("rows", [4, 8])
@pytest.mark.softmax
def test_softmax(rows):
    x = torch.randn((rows, 256))
    tuned_softmax.run(x)  # tunes: times its configurations
    ms = do_bench(lambda: torch.softmax(x))
    median, low, high = triton.testing.do_bench(
        lambda: tuned_softmax.run(x), warmup=5, quantiles=[0.5, 0.2, 0.8]
    )
    assert not low > high
    print(ms, median)


def test_plain():
    x = torch.randn((4, 4))
    assert len(do_bench(lambda: torch.softmax(x), return_mode="all")) in (1, 2)


def test_fails():
    def refuse():
        raise RuntimeError("no kernel for this size")

    do_bench(refuse)
