# SPDX-License-Identifier: Apache-2.0
"""The native corpus through the whole tool, and its child's own command line."""

from __future__ import annotations

import subprocess

import pytest
from conftest import BINARY, rows_of

OPERATORS = BINARY.parent / "opgauge-operators"
if not OPERATORS.exists():
    pytest.skip("built without the native corpus", allow_module_level=True)
QUICK = ["--max-time", "0.02", "--min-samples", "3"]


def test_no_check_measures_without_a_comparison(opgauge):
    assert opgauge("run", "relu", "--dtypes", "float32", "--no-check", *QUICK).code == 0
    rows = rows_of(opgauge.one_run())
    assert [row["check"] for row in rows] == [{"skipped": "the job asks for no comparison"}] * 3
    assert [row["status"] for row in rows] == ["ok"] * 3


def test_a_comparison_is_made_unless_it_is_refused(opgauge):
    assert opgauge("run", "relu", "--dtypes", "float32", *QUICK).code == 0
    assert [row["check"]["ok"] for row in rows_of(opgauge.one_run())] == [True] * 3


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--operators", "mmm"], "unknown operator 'mmm'; did you mean 'mm'?; known: mm, add"),
        (["--operators", "mm"], "is started by opgauge run"),
    ],
)
def test_the_child_by_hand_ends_in_one_line(words: list[str], line: str) -> None:
    done = subprocess.run([OPERATORS, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert line in done.stderr
    assert done.stderr.count("\n") == 1
