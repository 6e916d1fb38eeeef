# SPDX-License-Identifier: Apache-2.0
"""When Triton compiles a kernel rather than reads its cache: only then does it make IR of a source.
A pool's worker announces it, the main process counts it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

begun = 0
listener: Callable[[], None] | None = None


def watch() -> bool:
    """Hooks the sources that this process knows; False where this Triton has none of that name."""
    source = getattr(sys.modules.get("triton.compiler.compiler"), "ASTSource", None)
    if not isinstance(source, type):
        return False
    _watch(source)
    return True


def _watch(source: Any) -> None:
    original = source.__dict__.get("make_ir")
    if original is not None and not hasattr(original, "opgauge_compiles"):
        source.make_ir = _wrapped(original)
    for derived in type.__subclasses__(source):
        _watch(derived)


def _wrapped(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make_ir(*args: Any, **kwargs: Any) -> Any:
        global begun
        begun += 1
        if listener is not None:
            listener()
        return original(*args, **kwargs)

    make_ir.opgauge_compiles = True  # type: ignore[attr-defined]
    return make_ir
