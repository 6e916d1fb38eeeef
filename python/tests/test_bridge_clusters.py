# SPDX-License-Identifier: Apache-2.0
"""Cluster dimensions of compiled kernels, in each form that Triton has had."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from fake_parent import run_child
from opgauge_bridge import clusters


def kernel_with(metadata: dict[str, Any]) -> Any:
    class CompiledKernel:
        def __init__(self, members: dict[str, Any]) -> None:
            self.metadata = namedtuple("KernelMetadata", sorted(members))(**members)

    assert clusters.supply(CompiledKernel)
    return CompiledKernel(metadata)


@pytest.mark.parametrize(
    ("metadata", "dims"),
    [
        ({"num_ctas": 1}, (1, 1, 1)),
        ({"num_ctas": 4}, (4, 1, 1)),
        ({"num_warps": 4}, (1, 1, 1)),
        ({"num_ctas": 4, "cluster_dims": (2, 2, 1)}, (2, 2, 1)),
        ({"num_ctas": 4, "cluster_dims": [1, 4, 1]}, (1, 4, 1)),
        ({"num_ctas": 4, "clusterDims": (2, 1, 2)}, (2, 1, 2)),
    ],
)
def test_kernel_and_metadata_both_have_the_dimensions(
    metadata: dict[str, Any], dims: tuple[int, int, int]
) -> None:
    kernel = kernel_with(metadata)
    assert kernel.cluster_dims == dims
    assert tuple(kernel.metadata.cluster_dims) == dims


def test_what_the_metadata_has_is_left_as_it_is() -> None:
    assert kernel_with({"cluster_dims": [1, 4, 1]}).metadata.cluster_dims == [1, 4, 1]


def test_metadata_keeps_its_form_for_launchers_that_unpack_it() -> None:
    kernel = kernel_with({"num_ctas": 2, "shared": 0})
    assert tuple(kernel.metadata) == (2, 0)
    assert (kernel.metadata.num_ctas, *kernel.metadata.cluster_dims) == (2, 2, 1, 1)


def test_kernels_do_not_share_their_dimensions() -> None:
    class CompiledKernel:
        def __init__(self, ctas: int) -> None:
            self.metadata = namedtuple("KernelMetadata", ["num_ctas"])(ctas)

    clusters.supply(CompiledKernel)
    first, second = CompiledKernel(1), CompiledKernel(2)
    assert first.metadata.cluster_dims == (1, 1, 1)
    assert second.metadata.cluster_dims == (2, 1, 1)


def test_a_triton_that_sets_the_attribute_itself_goes_on_doing_so() -> None:
    class CompiledKernel:
        def __init__(self) -> None:
            self.metadata = {"num_ctas": 2}  # the oldest form is a dictionary
            self.cluster_dims = (2, 1, 1)

    assert clusters.supply(CompiledKernel)
    assert CompiledKernel().cluster_dims == (2, 1, 1)


def test_a_triton_with_a_property_of_its_own_keeps_it() -> None:
    class CompiledKernel:
        cluster_dims = property(lambda self: (8, 1, 1))

    clusters.supply(CompiledKernel)
    assert CompiledKernel().cluster_dims == (8, 1, 1)


def test_a_class_is_completed_once() -> None:
    class CompiledKernel:
        pass

    assert clusters.supply(CompiledKernel)
    constructor = CompiledKernel.__init__
    assert not clusters.supply(CompiledKernel)
    assert CompiledKernel.__init__ is constructor


KERNEL_TEST = """
from triton.compiler import CompiledKernel

def test_kernel():
    kernel = CompiledKernel({"num_ctas": 2})
    assert (kernel.metadata.num_ctas, *kernel.metadata.cluster_dims) == (2, 2, 1, 1)
    assert kernel.cluster_dims == (2, 1, 1)
"""


@pytest.mark.parametrize(
    ("plugins", "outcome"),
    [
        (("opgauge_bridge.plugin", "opgauge_bridge.guard", "opgauge_bridge.clusters"), "passed"),
        (("opgauge_bridge.plugin", "opgauge_bridge.guard"), "failed"),
    ],
)
def test_only_with_the_plugin_a_corpus_finds_the_dimensions(
    tmp_path: Path, plugins: tuple[str, ...], outcome: str
) -> None:
    (tmp_path / "test_kernel.py").write_text(KERNEL_TEST)
    child = run_child(tmp_path, "test_kernel.py", plugins=plugins)
    assert child.one("test_end")["outcome"] == outcome, child.output


def test_without_a_parent_the_plugin_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_kernel.py").write_text(KERNEL_TEST)
    child = run_child(tmp_path, "test_kernel.py", connected="no")
    assert child.exit_code == 1
    assert "has no attribute 'cluster_dims'" in child.output
