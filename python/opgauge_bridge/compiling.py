# SPDX-License-Identifier: Apache-2.0
"""Counts the kernels that Triton makes ready in this process, and live tunings. None may come into
a timed section: a first launch compiles or loads, and its time is not the kernel's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from . import spent

_count = 0


def count() -> int:
    return _count


def count_tune() -> None:
    """A tuner begins to try its configurations."""
    global _count
    _count += 1


def watch() -> bool:
    """Hooks the class whose objects are the compiled kernels; False where Triton is absent."""
    _time_compile()
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


def _time_compile() -> None:
    """What Triton compiles, or reads from its cache folder, when a kernel is launched for the first
    time: it takes `compile` from the package then."""
    for name in ("triton.compiler", "triton.compiler.compiler"):
        module = sys.modules.get(name)
        original = getattr(module, "compile", None)
        if callable(original) and not hasattr(original, "opgauge_spent"):
            module.compile = _timed(original)  # type: ignore[union-attr]


def _timed(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def compile_(*args: Any, **kwargs: Any) -> Any:
        with spent.on(spent.COMPILE):
            return original(*args, **kwargs)

    compile_.opgauge_spent = True  # type: ignore[attr-defined]
    return compile_
