# SPDX-License-Identifier: Apache-2.0
# ruff: noqa
"""A docstring with code in it:

@pytest.mark.not_a_mark
def test_inside_a_docstring():
    pass
"""
import pytest


@pytest.mark.tricky
@pytest.mark.skipif(
    True, reason="a bracket ) in a string, and # no comment"
)
@pytest.mark.parametrize(
    "x",
    [1, 2],  # def test_in_a_comment():
)
def test_tricky(
    x,
):
    text = '''
def test_in_a_string():
'''
    assert text


def helper():
    def test_nested():
        pass


@pytest.mark.second
async def test_async():
    pass


@pytest.mark.grouped
class TestGroup:
    @pytest.mark.in_class
    def test_method(self):
        pass

    def helper(self):
        pass


def test_plain(): pass


@pytest.mark.parametrize(
    "x",
    [
        pytest.param(1, marks=pytest.mark.one_case),
        pytest.param(2, marks=pytest.mark.skipif(True, reason="")),
    ],
)
def test_collection(x):
    pass
