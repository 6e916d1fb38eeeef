# SPDX-License-Identifier: Apache-2.0
import flag_gems
import pytest
import torch

from . import base


class ConvertWeightBenchmark(base.Benchmark):
    """Has its own run: the two sides cannot share an input, and nothing is unpacked."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.gems_op = flag_gems.convert_weight

    def set_shapes(self, path=None):
        self.shapes = [(16, 64), (32, 128)]

    def get_input_iter(self, dtype):
        for n, half in self.shapes:
            packed = torch.randint(0, 16, (n, half), dtype=torch.uint8)
            yield (packed, 8), (torch.randint(0, 16, (n, half * 2)), 8)

    def run(self):
        self.init_user_config()
        for dtype in self.to_bench_dtypes:
            # All inputs are made first.
            for reference, gems in list(self.get_input_iter(dtype)):
                try:
                    self.get_latency(self.torch_op, *reference)
                    self.get_latency(self.gems_op, *gems)
                except Exception as error:
                    pytest.fail(str(error))


@pytest.mark.convert_weight
def test_convert_weight():
    bench = ConvertWeightBenchmark(
        op_name="convert_weight", torch_op=torch.convert_weight, dtypes=[torch.uint8]
    )
    bench.run()
