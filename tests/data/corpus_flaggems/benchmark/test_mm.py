# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from . import base, consts


def mm_input_fn(m, n, k, dtype, b_column_major):
    left = torch.randn((m, k), dtype=dtype)
    if b_column_major:
        yield left, torch.randn((n, k), dtype=dtype).t()
    else:
        yield left, torch.randn((k, n), dtype=dtype)


@pytest.mark.mm
def test_mm():
    bench = base.BlasBenchmark(
        op_name="mm", torch_op=torch.mm, input_fn=mm_input_fn, dtypes=consts.FLOAT_DTYPES
    )
    bench.run()
