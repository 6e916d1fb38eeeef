# SPDX-License-Identifier: Apache-2.0
"""Supplies the cluster dimensions that corpora and launchers read from a compiled Triton kernel.

Some Triton versions keep them on the compiled kernel, under the name cluster_dims or clusterDims,
others on its metadata, and from 3.6 on some builds nowhere. Code that was written for one of them
(torch's own launcher among it) fails on the others. Only what is absent is added.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import pytest

from .session import session as our_session

_NAMES = ("cluster_dims", "clusterDims")


def _known(holder: Any) -> Any:
    for name in _NAMES:
        value = getattr(holder, name, None)
        if value is not None:
            return tuple(value)
    return None


class _ClusterDims:
    """Read from the kernel's metadata. It has no __set__: a Triton that assigns the attribute in
    its constructor goes on doing so, and its value wins."""

    def __get__(self, kernel: Any, owner: type) -> Any:
        if kernel is None:
            return self
        metadata = getattr(kernel, "metadata", None)
        return _known(metadata) or _default(metadata)


def _default(metadata: Any) -> tuple[int, int, int]:
    """Without a shape of their own the CTAs of a cluster lie in one row."""
    return (int(getattr(metadata, "num_ctas", 1) or 1), 1, 1)


def _supply_metadata(metadata: Any) -> bool:
    """The metadata is a tuple whose class is made anew for each kernel, so the value can stand on
    the class."""
    if metadata is None or isinstance(metadata, dict) or hasattr(metadata, "cluster_dims"):
        return False
    try:
        type(metadata).cluster_dims = _known(metadata) or _default(metadata)
    except (AttributeError, TypeError):
        return False
    return True


def supply(kernel_class: type) -> bool:
    """Completes a compiled-kernel class; False where it was done before."""
    if getattr(kernel_class, "opgauge_clusters", False):
        return False
    original = kernel_class.__init__  # type: ignore[misc]

    @functools.wraps(original)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _supply_metadata(getattr(self, "metadata", None))

    kernel_class.__init__ = __init__  # type: ignore[misc]
    if not hasattr(kernel_class, "cluster_dims"):
        kernel_class.cluster_dims = _ClusterDims()  # type: ignore[attr-defined]
    kernel_class.opgauge_clusters = True  # type: ignore[attr-defined]
    return True


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: Any) -> None:
    compiler = sys.modules.get("triton.compiler.compiler")
    kernel_class = getattr(compiler, "CompiledKernel", None)
    if our_session() is not None and isinstance(kernel_class, type):
        supply(kernel_class)
