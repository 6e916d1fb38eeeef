# SPDX-License-Identifier: Apache-2.0
import flag_gems
import pytest
import torch

from . import base


def gems_dequant_mm(left, right, group):
    with flag_gems.use_gems():
        return torch.mm(left, right)


class DequantBenchmark(base.Benchmark):
    """Has its own run: nothing is unpacked, and the dispatch is switched on inside the operator."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.gems_op = gems_dequant_mm

    def set_shapes(self, path=None):
        self.shapes = [(4, 16, 8)]

    def get_input_iter(self, dtype):
        for m, k, n in self.shapes:
            for group in (2, 4):
                left = torch.randn((m, k), dtype=dtype)
                yield left, torch.randint(0, 16, (k, n), dtype=torch.uint8), group

    def run(self):
        self.init_user_config()
        for dtype in self.to_bench_dtypes:
            for item in self.get_input_iter(dtype):
                if "latency_base" in self.to_bench_metrics:
                    self.get_latency(self.torch_op, *item)
                if "latency" in self.to_bench_metrics:
                    self.get_latency(self.gems_op, *item)


@pytest.mark.dequant_mm
def test_dequant_mm():
    bench = DequantBenchmark(
        op_name="dequant_mm", torch_op=lambda left, right, group: torch.mm(left, right)
    )
    bench.run()
