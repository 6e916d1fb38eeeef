# SPDX-License-Identifier: Apache-2.0
"""Counts the kernels that Triton makes ready in this process, and live tunings. None may come into
a timed section: a first launch compiles or loads, and its time is not the kernel's."""

from __future__ import annotations

import functools
import sys
from typing import Any

_count = 0


def count() -> int:
    return _count


def count_tune() -> None:
    """A tuner begins to try its configurations."""
    global _count
    _count += 1


def watch() -> bool:
    """Hooks the class whose objects are the compiled kernels; False where Triton is absent."""
    compiled = getattr(sys.modules.get("triton.compiler.compiler"), "CompiledKernel", None)
    if compiled is None:
        return False
    original = compiled.__init__
    if hasattr(original, "opgauge_wrapped"):
        return True

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        global _count
        _count += 1
        original(self, *args, **kwargs)

    __init__.opgauge_wrapped = True  # type: ignore[attr-defined]
    compiled.__init__ = __init__
    return True
