# SPDX-License-Identifier: Apache-2.0
import pytest
import torch

from . import base


@pytest.mark.local_class
def test_local_class():
    class LocalBenchmark(base.Benchmark):
        def get_input_iter(self, dtype):
            order = torch.randint(0, 2, (2,))
            yield order, [torch.randn((2, 3), dtype=dtype), torch.randn((2, 5), dtype=dtype)], 1

    def cat(order, tensors, dim):
        return torch.add(*tensors)

    LocalBenchmark(op_name="local_class", torch_op=cat, dtypes=[torch.float16]).run()
