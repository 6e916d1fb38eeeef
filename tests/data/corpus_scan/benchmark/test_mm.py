# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.mark.mm
def test_mm():
    pass


@pytest.mark.mm
def test_mm_again():
    pass
