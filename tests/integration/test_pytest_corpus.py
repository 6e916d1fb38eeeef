# SPDX-License-Identifier: Apache-2.0
"""The whole way of a pytest corpus: tool, real pytest, bridge, a corpus built like FlagGems."""

from __future__ import annotations

import json

import pytest
from conftest import BINARY, rows_of, status_of

LIBRARIES = BINARY.parent.parent / "tests/fake_vendor/now"


@pytest.fixture
def run(corpus_tool):
    def start(*words: str, **env: str):
        backend = [] if "ZL_BACKEND" in env else ["--backend", "fake"]
        return corpus_tool("run", *words, *backend, **env)

    return start


def test_an_operator_is_measured_case_by_case(run, opgauge):
    done = run("mm", "--dtypes", "float16", "--shapes", "upstream")
    assert done.code == 0, done.err
    rows = rows_of(opgauge.one_run())
    assert rows
    for row in rows:
        assert row["status"] == "ok"
        assert row["case"]["operator"].startswith("mm")
        assert row["case"]["dtype"] == "float16"
        assert row["base"]["timer"] == row["candidate"]["timer"] == "direct"
        # The corpus's own number is one sample: it has no precision, and none is made up.
        assert row["base"]["samples"] == 1
        assert row["relative_precision"] is None
        largest = max(a * b for a, b in row["case"]["shapes"][:2])
        assert row["base"]["median_ns"] == pytest.approx(largest)
    status = status_of(opgauge.one_run())
    assert [test["outcome"] for test in status["tests"]] == ["passed"] * len(status["tests"])


def test_a_failure_in_case_two_keeps_case_one(run, opgauge):
    done = run("mm", "--dtypes", "float16", "--shapes", "upstream", FAKE_FAIL_CASE="2")
    assert done.code == 1
    rows = rows_of(opgauge.one_run())
    assert [row["status"] for row in rows[:2]] == ["ok", "failed"]
    assert status_of(opgauge.one_run())["status"] == "failed"


def test_a_killed_child_keeps_its_rows(run, opgauge):
    done = run("mm", "--dtypes", "float16", "--shapes", "upstream", FAKE_KILL_CASE="2")
    assert done.code == 1
    assert status_of(opgauge.one_run())["status"] == "crashed"
    assert [row["status"] for row in rows_of(opgauge.one_run())][:2] == ["ok", "failed"]


def test_a_hang_ends_by_the_stall_limit_and_leaves_no_process(run, opgauge):
    words = ("mm", "--dtypes", "float16", "--shapes", "upstream", "--stall", "4")
    done = run(*words, FAKE_HANG_CASE="2")
    assert done.code == 1
    assert status_of(opgauge.one_run())["status"] == "timeout"


@pytest.mark.parametrize(
    ("node", "status", "code"),
    [
        ("test_skipped.py", "skipped", 0),
        ("test_broken_import.py", "collect_error", 1),
        ("test_mm.py::test_absent", "no_tests", 1),
    ],
)
def test_skipped_broken_and_absent_tests_are_told_apart(run, opgauge, node, status, code):
    done = run("--node", node)
    assert done.code == code, done.err
    assert status_of(opgauge.one_run())["status"] == status
    assert rows_of(opgauge.one_run()) == []


def test_a_dtype_that_the_operator_lacks_is_a_skip_with_its_reason(run, opgauge):
    done = run("--node", "test_bitwise_not.py", "--dtypes", "float16")
    assert done.code == 0, done.err
    status = status_of(opgauge.one_run())
    assert status["status"] == "skipped"
    assert "dtype not supported: it has int16, int32: ValueError: Given dtype" in status["reason"]


def test_the_first_dtype_is_float16_or_the_operators_own_first(run, opgauge, corpus_tool):
    shown = corpus_tool("corpus", "show", "bitwise_not")
    assert "known once a run has measured it" in shown.out
    for operator, dtype in (("abs", "float16"), ("bitwise_not", "int16"), ("mm", "float16")):
        root = opgauge.folder / operator
        done = run(operator, "--dtypes", "first", "--shapes", "upstream", "--root", root)
        assert done.code == 0, done.err
        (folder,) = root.iterdir()
        forward = [row for row in rows_of(folder) if "backward" not in row["case"]["node"]]
        assert {row["case"]["dtype"] for row in forward} == {dtype}
        assert len(forward) >= 3
    shown = corpus_tool("corpus", "show", "bitwise_not", "--json").json()
    (known,) = shown["measured"]
    assert known["node"] == "benchmark/test_bitwise_not.py::test_bitwise_not"
    assert (known["dtypes"], known["measured"]) == (["int16", "int32"], ["int16"])
    assert known["outcome"] == "passed"
    assert known["cases"] == len(rows_of(next((opgauge.folder / "bitwise_not").iterdir())))
    assert "int16,int32" in corpus_tool("corpus", "show", "bitwise_not").out


def test_the_child_sees_the_callers_token_and_is_checked_against_the_plan(run, opgauge):
    devices = json.dumps(
        [
            {"name": "Fake Accelerator", "uuid": "FAKE-0000"},
            {"name": "Fake Accelerator", "uuid": "FAKE-1111"},
        ]
    )
    env = {"OPGAUGE_FAKE_DEVICES": devices, "FAKE_VISIBLE_DEVICES": "1"}
    done = run("abs", "--dtypes", "float16", **env)
    assert done.code == 0, done.err
    identity = json.loads((opgauge.one_run() / "run_identity.json").read_text())
    assert identity["device"]["token"] == "1"
    assert identity["device"]["uuid"] == identity["child"]["uuid"] == "FAKE-1111"
    hello = json.loads((opgauge.one_run() / "events.jsonl").read_text().splitlines()[0])
    # C03: the mask as it was before the framework was imported.
    assert hello["message"]["visible"] == {"FAKE_VISIBLE_DEVICES": "1"}


def test_a_framework_of_another_vendor_measures_nothing(run, opgauge):
    env = {
        "ZL_BACKEND": "musa",
        "OPGAUGE_LIBRARY_PATH": str(LIBRARIES),
        "OPGAUGE_FAKE_VENDOR": "devices=1",
    }
    done = run("abs", "--dtypes", "float16", **env)
    assert done.code == 4
    assert "device guard: planned backend is musa" in done.err
    assert rows_of(opgauge.one_run()) == []


def test_the_compact_shapes_reach_the_corpus(run, opgauge):
    assert run("mm", "--dtypes", "float16").code == 0
    plan = json.loads((opgauge.one_run() / "plan.json").read_text())
    assert plan["shapes"]["value"] == "compact"
    assert (opgauge.folder / ".cache/opgauge/shapes").is_dir()
    assert plan["shapes"]["file"] in plan["command"]
    nodes = [row["case"]["node"] for row in rows_of(opgauge.one_run())]
    assert nodes.count(nodes[0]) <= 3


def test_an_option_that_the_corpus_rejects_is_told_in_the_corpus_words(run, opgauge):
    done = run("mm", "--dtypes", "complex128")
    assert done.code == 1
    assert "invalid choice: 'complex128'" in done.err


def test_a_mark_of_one_parameter_set_runs_only_that_one(run, opgauge):
    done = run("mv", "--dtypes", "float16", "--shapes", "upstream")
    assert done.code == 0, done.err
    operators = {row["case"]["operator"] for row in rows_of(opgauge.one_run())}
    assert operators == {"mv"}
