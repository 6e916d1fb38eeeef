# SPDX-License-Identifier: Apache-2.0
"""Supplies the cluster dimensions that corpora read from a compiled Triton kernel.

Older Triton keeps `cluster_dims` on the compiled kernel's metadata, others under the name
`clusterDims`, newer ones nowhere. A corpus (or torch's own launcher) written for one of them fails
on the others. Only what is absent is added; nothing that Triton has is replaced.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest


def _dims(kernel: Any) -> tuple[int, int, int]:
    """The dimensions under whichever name this Triton has them; else one row of its CTAs."""
    metadata = getattr(kernel, "metadata", None)
    for name in ("cluster_dims", "clusterDims"):
        value = getattr(metadata, name, None)
        if value is not None:
            return tuple(value)  # type: ignore[return-value]
    return (int(getattr(metadata, "num_ctas", 1) or 1), 1, 1)


def supply(kernel_class: type) -> bool:
    """Adds the property to a compiled-kernel class; False where Triton has it already."""
    if hasattr(kernel_class, "cluster_dims"):
        return False
    kernel_class.cluster_dims = property(_dims)  # type: ignore[attr-defined]
    return True


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: Any) -> None:
    compiler = sys.modules.get("triton.compiler.compiler")
    kernel_class = getattr(compiler, "CompiledKernel", None)
    if isinstance(kernel_class, type):
        supply(kernel_class)
