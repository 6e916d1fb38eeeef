# SPDX-License-Identifier: Apache-2.0
import os

import flag_gems  # noqa: F401
import pytest
import torch
from torch import _script

from . import consts

HERE = os.path.dirname(__file__)


class BenchConfig:
    pass


Config = BenchConfig()


def pytest_addoption(parser):
    modes = [mode.value for mode in consts.BenchMode]
    levels = [level.value for level in consts.BenchLevel]
    dtypes = [repr(dtype).split(".")[1] for dtype in consts.FLOAT_DTYPES + consts.INT_DTYPES]
    parser.addoption("--mode", default="kernel", choices=modes)
    parser.addoption("--level", default="comprehensive", choices=levels)
    parser.addoption("--warmup", default=1000)
    parser.addoption("--iter", default=100)
    parser.addoption("--dtypes", action="append", default=None, choices=dtypes)
    parser.addoption("--metrics", action="append", default=None, choices=consts.METRICS)
    parser.addoption("--shape_file", default=os.path.join(HERE, "core_shapes.yaml"))


def pytest_configure(config):
    Config.mode = consts.BenchMode(config.getoption("--mode"))
    Config.bench_level = consts.BenchLevel(config.getoption("--level"))
    Config.warm_up = int(config.getoption("--warmup"))
    Config.repetition = int(config.getoption("--iter"))
    names = config.getoption("--dtypes")
    Config.user_desired_dtypes = [getattr(torch, name) for name in names] if names else None
    Config.user_desired_metrics = config.getoption("--metrics")
    Config.shape_file = config.getoption("--shape_file")


@pytest.fixture(autouse=True)
def script_of_one_test():
    _script.new_test()
