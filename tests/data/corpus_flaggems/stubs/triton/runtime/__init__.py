# SPDX-License-Identifier: Apache-2.0
from .autotuner import Autotuner

__all__ = ["Autotuner"]
