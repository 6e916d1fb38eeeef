# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from . import base


def add_input_fn(shape, dtype, device):
    left = torch.randn(shape, dtype=dtype)
    yield left, 0.5, {"alpha": 2, "out": torch.empty_like(left)}


@pytest.mark.add
def test_add():
    bench = base.GenericBenchmark(op_name="add", torch_op=torch.add, input_fn=add_input_fn)
    bench.run()
