# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from . import base


class IndexFillBenchmark(base.GenericBenchmark):
    """Has its own shapes, and clones the arguments before its parent measures them."""

    DEFAULT_SHAPES = [(64, 16), (32, 16)]

    def set_shapes(self, path=None):
        self.shapes = list(self.DEFAULT_SHAPES)

    def get_latency(self, op, *args, **kwargs):
        return super().get_latency(op, args[0].clone(), *args[1:], **kwargs)


def index_fill_input_fn(shape, dtype, device):
    for length in (1, shape[0]):
        yield torch.randn(shape, dtype=dtype), 0, torch.randint(0, shape[0], (length,)), 3.5


@pytest.mark.index_fill
def test_index_fill():
    bench = IndexFillBenchmark(
        op_name="index_fill", torch_op=torch.index_fill, input_fn=index_fill_input_fn
    )
    bench.run()
