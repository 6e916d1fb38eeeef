# SPDX-License-Identifier: Apache-2.0
import pytest


@pytest.mark.einsum
def test_einsum_models():
    pass
