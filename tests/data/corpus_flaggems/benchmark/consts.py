# SPDX-License-Identifier: Apache-2.0
import enum

import torch

FLOAT_DTYPES = [torch.float16, torch.float32, torch.bfloat16]
INT_DTYPES = [torch.int16, torch.int32]
METRICS = ["latency_base", "latency", "speedup"]


class BenchMode(enum.Enum):
    KERNEL = "kernel"
    OPERATOR = "operator"


class BenchLevel(enum.Enum):
    COMPREHENSIVE = "comprehensive"
    CORE = "core"
