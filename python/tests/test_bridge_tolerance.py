# SPDX-License-Identifier: Apache-2.0
"""How much more error the check of outputs allows where many terms are summed."""

from __future__ import annotations

import pytest

import fake_parent
from opgauge_bridge.outputs import _growth

assert fake_parent.BRIDGE  # its import puts the bridge on the path


class Sized:
    """Only sizes count for how much error a sum may gather."""

    stride = dtype = None

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def numel(self) -> int:
        product = 1
        for size in self.shape:
            product *= size
        return product


def test_longer_sums_may_differ_by_more() -> None:
    # 16384 terms are summed: root 128, over 16.
    assert _growth([Sized(1 << 14, 4)], [Sized(4)]) == pytest.approx(8.0)
    # A matrix product of 4096 terms: root 64, over 16.
    assert _growth([Sized(4096, 4096), Sized(4096, 8)], [Sized(4096, 8)]) == pytest.approx(4.0)
    # As many outputs as inputs: the digits of the longest dimension.
    assert _growth([Sized(64, 4096)], [Sized(64, 4096)]) == pytest.approx(3.0)
    assert _growth([Sized(4)], [Sized(4)]) == 1.0
