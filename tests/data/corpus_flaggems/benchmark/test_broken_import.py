# SPDX-License-Identifier: Apache-2.0
import a_module_that_does_not_exist  # noqa: F401
import pytest


@pytest.mark.broken_import
def test_broken_import():
    raise AssertionError
