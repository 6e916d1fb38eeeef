# SPDX-License-Identifier: Apache-2.0
"""A stand-in for triton: a timer with a script, an autotuner that uses it, compiled kernels."""

from . import compiler, runtime, testing

__version__ = "0.0.0+stub"
__all__ = ["compiler", "runtime", "testing"]
