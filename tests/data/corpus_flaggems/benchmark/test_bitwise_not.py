# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from . import base, consts


@pytest.mark.bitwise_not
def test_bitwise_not():
    bench = base.UnaryPointwiseBenchmark(
        op_name="bitwise_not", torch_op=torch.abs, dtypes=consts.INT_DTYPES
    )
    bench.run()
