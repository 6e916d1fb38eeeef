# SPDX-License-Identifier: Apache-2.0
from .compiler import CompiledKernel

__all__ = ["CompiledKernel"]
