# SPDX-License-Identifier: Apache-2.0
"""The native corpus through the whole tool, and its child's own command line."""

from __future__ import annotations

import os
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


def test_a_numa_node_is_a_device_that_the_child_is_kept_on(opgauge):
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("needs cores 0 and 1")
    # hwloc's own double: two nodes of one core each, bound for real.
    two_nodes = {"HWLOC_SYNTHETIC": "numa:2 core:1 pu:1", "HWLOC_THISSYSTEM": "1"}
    done = opgauge("run", "relu", "--devices", "1", "--dtypes", "float32", *QUICK, **two_nodes)
    assert done.code == 0, done.err
    assert [row["status"] for row in rows_of(opgauge.one_run())] == ["ok"] * 3
    narrow = ["/usr/bin/taskset", "-c", "0", *opgauge.command("run", "relu", "--devices", "1")]
    refused = subprocess.run(
        narrow,
        cwd=opgauge.folder,
        env={**opgauge.env, **two_nodes},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert refused.returncode == 4
    assert "NUMA node 1: this process may use none of its cores" in refused.stderr


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
