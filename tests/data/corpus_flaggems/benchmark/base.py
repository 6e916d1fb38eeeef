# SPDX-License-Identifier: Apache-2.0
"""The benchmark classes: the same parts and the same order of calls as the real corpus's."""

import flag_gems
import pytest
import torch
import triton

from . import consts, shape_file
from .conftest import Config


class Benchmark:
    device = flag_gems.device
    DEFAULT_METRICS = consts.METRICS
    DEFAULT_DTYPES = consts.FLOAT_DTYPES
    DEFAULT_SHAPES = [(32, 32)]

    def __init__(self, op_name, torch_op, dtypes=None, is_backward=False, **kwargs):
        self.op_name = op_name + ("_backward" if is_backward else "")
        self.torch_op = torch_op
        self.gems_op = kwargs.get("gems_op")
        self.is_backward = is_backward
        self.dtypes = dtypes if dtypes is not None else self.DEFAULT_DTYPES
        self.shapes = self.DEFAULT_SHAPES

    def set_dtypes(self, wanted):
        invalid = [dtype for dtype in wanted or [] if dtype not in self.dtypes]
        if invalid:
            raise ValueError(
                f"Given dtype(s) '{', '.join(str(dtype) for dtype in invalid)}'"
                f"can't be supported by this op '{self.op_name}'"
            )
        self.to_bench_dtypes = wanted or self.dtypes

    def set_shapes(self, path):
        entries = shape_file.read(path)
        names = [self.op_name, *(cls.__name__ for cls in type(self).__mro__)]
        found = next((name for name in names if entries.get(name)), None)
        self.shapes = entries[found] if found else self.DEFAULT_SHAPES

    def set_gems(self, gems_op):
        self.gems_op = gems_op

    def init_user_config(self):
        self.mode = Config.mode
        self.set_dtypes(Config.user_desired_dtypes)
        self.to_bench_metrics = Config.user_desired_metrics or self.DEFAULT_METRICS
        self.set_shapes(Config.shape_file)

    def get_latency(self, op, *args, **kwargs):
        def fn():
            return op(*args, **kwargs)

        if self.is_backward:
            out = fn()
            inputs = [value for value in args if torch.is_tensor(value) and value.requires_grad]

            def fn():
                return torch.autograd.grad((out,), inputs)

        return triton.testing.do_bench(
            fn, warmup=Config.warm_up, rep=Config.repetition, return_mode="median"
        )

    def get_tflops(self, op, *args, **kwargs):
        raise NotImplementedError

    def get_input_iter(self, dtype):
        raise NotImplementedError

    def unpack_to_args_kwargs(self, inputs):
        args = [item for item in inputs if not isinstance(item, dict)]
        kwargs = {
            key: value for item in inputs if isinstance(item, dict) for key, value in item.items()
        }
        if self.is_backward:
            args = [
                item.clone().requires_grad_() if torch.is_tensor(item) else item for item in args
            ]
        return args, kwargs

    def measure(self, args, kwargs):
        """Both sides of one input; what the real corpus does inside its loop."""
        metric = {}
        if "latency_base" in self.to_bench_metrics:
            metric["latency_base"] = self.get_latency(self.torch_op, *args, **kwargs)
        if "latency" in self.to_bench_metrics:
            if self.gems_op:
                metric["latency"] = self.get_latency(self.gems_op, *args, **kwargs)
            else:
                with flag_gems.use_gems(exclude=["zero_"]):
                    metric["latency"] = self.get_latency(self.torch_op, *args, **kwargs)
        if "speedup" in self.to_bench_metrics:
            metric["speedup"] = metric["latency_base"] / metric["latency"]
        if "tflops" in self.to_bench_metrics:
            metric["tflops"] = self.get_tflops(self.torch_op, *args, **kwargs) / metric["latency"]
        return metric

    def run(self):
        self.init_user_config()
        for dtype in self.to_bench_dtypes:
            inputs = self.get_input_iter(dtype)
            while True:
                try:
                    item = next(inputs)
                except StopIteration:
                    break
                except Exception as error:
                    pytest.fail(str(error))
                try:
                    args, kwargs = self.unpack_to_args_kwargs(item)
                    metric = self.measure(args, kwargs)
                except Exception as error:
                    pytest.fail(str(error))
                print(self.op_name, dtype, metric)


class GenericBenchmark(Benchmark):
    def __init__(self, *args, input_fn, **kwargs):
        super().__init__(*args, **kwargs)
        self.input_fn = input_fn

    def get_input_iter(self, dtype):
        for shape in self.shapes:
            yield from self.input_fn(shape, dtype, self.device)


class UnaryPointwiseBenchmark(Benchmark):
    def get_input_iter(self, dtype):
        for shape in self.shapes:
            yield (torch.randn(shape, dtype=dtype),)


class BlasBenchmark(Benchmark):
    DEFAULT_METRICS = [*consts.METRICS, "tflops"]

    def __init__(self, *args, input_fn, **kwargs):
        super().__init__(*args, **kwargs)
        self.input_fn = input_fn

    def get_input_iter(self, dtype):
        for _, m, n, k in self.shapes:
            yield from self.input_fn(m, n, k, dtype, False)
        if Config.bench_level == consts.BenchLevel.COMPREHENSIVE:
            for _, m, n, k in self.shapes:
                yield from self.input_fn(m, n, k, dtype, True)

    def get_tflops(self, op, *args, **kwargs):
        return 2 * args[0].shape[0] * args[0].shape[1] * args[1].shape[1]
