# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from . import base, consts


@pytest.mark.abs
def test_abs():
    bench = base.UnaryPointwiseBenchmark(
        op_name="abs", torch_op=torch.abs, dtypes=consts.FLOAT_DTYPES
    )
    bench.run()


@pytest.mark.abs_backward
def test_abs_backward():
    bench = base.UnaryPointwiseBenchmark(
        op_name="abs", torch_op=torch.abs, dtypes=[torch.float32], is_backward=True
    )
    bench.run()
