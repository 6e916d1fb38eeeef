# SPDX-License-Identifier: Apache-2.0
import flag_gems
import pytest
import torch
import triton

from . import base


class ParallelMixin:
    """Knows nothing of Benchmark, and brings run and the inputs' iterator."""

    def get_input_iter(self, dtype):
        # Operators run and are timed while inputs are made, under the corpus's own dispatch.
        with flag_gems.use_gems():
            scale = torch.abs(torch.randint(0, 9, (4,)))
        assert triton.testing.do_bench(lambda: torch.abs(scale)) > 0
        for size in (8, 16):
            yield scale, torch.randn((size, size), dtype=dtype), torch.randn((size,), dtype=dtype)

    def _metrics_of(self, item):
        args, kwargs = self.unpack_to_args_kwargs(item)
        return self.measure(args, kwargs)

    def run(self):
        self.init_user_config()
        for dtype in self.to_bench_dtypes:
            for item in self.get_input_iter(dtype):
                self._metrics_of(item)


class ParallelMvBenchmark(ParallelMixin, base.Benchmark):
    pass


@pytest.mark.parametrize("op_name, torch_op", [pytest.param("mv", torch.mv, marks=pytest.mark.mv)])
def test_mv_and_outer(op_name, torch_op):
    ParallelMvBenchmark(op_name=op_name, torch_op=torch_op, dtypes=[torch.float16]).run()
