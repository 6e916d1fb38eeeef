# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.mark.needs_library
def test_needs_library():
    pytest.skip("it needs a library that is not here")


@pytest.mark.skip_by_mark
@pytest.mark.skip(reason="broken upstream")
def test_skip_by_mark():
    raise AssertionError
