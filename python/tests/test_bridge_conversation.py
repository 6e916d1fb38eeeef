# SPDX-License-Identifier: Apache-2.0
"""The conversation of a whole child, message by message."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fake_parent import DEADLINE_S, job, run_child, run_corpus

CONVERSATION_OF_ABS = [
    "hello",
    "collected",
    "event",
    "device",
    "test_begin",
    *["case_begin", *["side_begin", "samples", "side_end"] * 2, "case_end"] * 3,
    "test_end",
    "bye",
]


def test_a_run_is_told_in_the_order_of_the_protocol() -> None:
    child = run_corpus("test_abs.py::test_abs", "--dtypes", "float16")
    assert child.exit_code == 0, child.output
    assert child.types() == CONVERSATION_OF_ABS
    assert [message["seq"] for message in child.messages] == list(
        range(1, len(CONVERSATION_OF_ABS) + 1)
    )


def test_hello_carries_the_visibility_variables_of_the_start_and_the_version_of_the_tool() -> None:
    child = run_corpus(
        "test_abs.py::test_abs",
        environment={"CUDA_VISIBLE_DEVICES": "6,7", "ROCR_VISIBLE_DEVICES": ""},
    )
    hello = child.messages[0]
    assert hello["type"] == "hello"
    assert (hello["protocol"], hello["child"], hello["version"]) == (1, "pytest", "1.2.3")
    assert hello["visible"] == {"CUDA_VISIBLE_DEVICES": "6,7", "ROCR_VISIBLE_DEVICES": ""}
    assert hello["pid"] > 1


def test_the_answer_stop_ends_the_child_with_87_before_anything_is_measured() -> None:
    child = run_corpus(
        "test_abs.py", rules={"device": {"type": "stop", "reason": "another device"}}
    )
    assert child.exit_code == 87
    assert child.types() == ["hello", "collected", "event", "device"]


def test_an_answer_that_the_guard_does_not_know_is_a_protocol_error() -> None:
    child = run_corpus("test_abs.py", rules={"device": {"type": "perhaps"}})
    assert child.exit_code == 88


def test_a_parent_of_another_protocol_is_a_protocol_error() -> None:
    child = run_corpus("test_abs.py", rules={"hello": job(protocol=2)})
    assert child.exit_code == 88
    assert child.types() == ["hello"]


def test_an_answer_to_another_question_is_a_protocol_error() -> None:
    child = run_corpus("test_abs.py", rules={"device": {"type": "go", "to": 1}})
    assert child.exit_code == 88


@pytest.mark.parametrize("question", ["hello", "device", "case_begin", "side_begin", "samples"])
def test_a_child_whose_parent_is_gone_exits_with_86(question: str) -> None:
    child = run_corpus("test_abs.py::test_abs", rules={question: lambda _: None})
    assert child.exit_code == 86
    assert child.types()[-1] == question


def test_without_a_channel_the_plugins_do_nothing() -> None:
    child = run_corpus("test_abs.py::test_abs", "--dtypes", "float16", connected="no")
    assert child.exit_code == 0
    assert child.messages == []
    assert "1 passed" in child.output


def test_grandchildren_do_not_inherit_the_channel(tmp_path: Any) -> None:
    (tmp_path / "test_it.py").write_text(
        "import os, subprocess, sys\n"
        "def test_it():\n"
        "    assert 'OPGAUGE_CHANNEL_FD' not in os.environ\n"
        "    program = 'import os; print(len(os.listdir(\"/proc/self/fd\")))'\n"
        "    out = subprocess.run([sys.executable, '-c', program], close_fds=False,\n"
        "                         stdout=subprocess.PIPE, text=True).stdout\n"
        # The three standard streams and the folder that is being read.
        "    assert out.split() == ['4']\n"
    )
    child = run_child(tmp_path, "test_it.py")
    assert child.one("test_end")["outcome"] == "passed", child.output


# -- collecting -----------------------------------------------------------------------------------
def test_a_collection_error_is_told_with_its_cause_and_no_device_is_asked_for() -> None:
    child = run_corpus("test_broken_import.py", "test_abs.py::test_abs")
    collected = child.one("collected")
    assert collected["errors"] == [
        {
            "node": "benchmark/test_broken_import.py",
            "message": "ModuleNotFoundError: No module named 'a_module_that_does_not_exist'",
        }
    ]
    assert child.of("device", "test_begin", "case_begin") == []
    assert child.one("bye")["exit"] == child.exit_code == 2


def test_a_conftest_that_cannot_be_loaded_is_a_collection_error() -> None:
    child = run_corpus("test_abs.py::test_abs", environment={"FAKE_NO_GEMS": "1"})
    (error,) = child.one("collected")["errors"]
    assert error["node"].endswith("benchmark/conftest.py")
    assert error["message"] == "RuntimeError: no device found for any vendor"
    assert child.exit_code == 4
    assert child.types() == ["hello", "collected"]


def test_a_node_that_does_not_exist_is_an_empty_collection() -> None:
    child = run_corpus("test_abs.py::test_nothing")
    assert child.one("collected") == {
        "type": "collected",
        "seq": 2,
        "nodes": [],
        "errors": [],
        "deselected": 0,
    }
    assert child.one("bye")["exit"] == child.exit_code == 4


def test_deselected_tests_are_counted() -> None:
    child = run_corpus("test_abs.py", "-k", "backward")
    collected = child.one("collected")
    assert collected["nodes"] == ["benchmark/test_abs.py::test_abs_backward"]
    assert collected["deselected"] == 1


def test_a_file_without_tests_ends_with_pytests_own_code_for_it(tmp_path: Any) -> None:
    (tmp_path / "test_empty.py").write_text("")
    child = run_child(tmp_path, "test_empty.py")
    assert child.one("collected")["nodes"] == []
    assert child.one("bye")["exit"] == child.exit_code == 5


def test_a_corpus_with_nothing_to_hook_says_so(tmp_path: Any) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    child = run_child(tmp_path, "test_it.py")
    log = child.one("log")
    assert log["level"] == "error"
    assert "neither a Benchmark class nor triton's do_bench" in log["text"]


# -- how tests end --------------------------------------------------------------------------------
def test_skips_carry_their_reasons() -> None:
    child = run_corpus("test_skipped.py")
    ends = {message["node"].split("::")[1]: message for message in child.of("test_end")}
    assert ends["test_needs_library"]["outcome"] == "skipped"
    assert ends["test_needs_library"]["reason"] == "Skipped: it needs a library that is not here"
    assert ends["test_skip_by_mark"]["outcome"] == "skipped"
    assert ends["test_skip_by_mark"]["reason"] == "Skipped: broken upstream"
    assert child.of("case_begin") == []
    assert child.one("bye")["exit"] == 0


@pytest.mark.parametrize(
    ("body", "outcome", "reason"),
    [
        ("assert 1 == 2, 'first\\nsecond'", "failed", "AssertionError: first"),
        ("pytest.fail('too slow')", "failed", "Failed: too slow"),
        ("pytest.xfail('known')", "skipped", "_pytest.outcomes.XFailed: known"),
        ("raise KeyError('x')", "failed", "KeyError: 'x'"),
        ("pass", "passed", ""),
    ],
)
def test_an_outcome_has_the_first_line_of_its_message(
    tmp_path: Any, body: str, outcome: str, reason: str
) -> None:
    (tmp_path / "test_it.py").write_text(f"import pytest\ndef test_it():\n    {body}\n")
    end = run_child(tmp_path, "test_it.py").one("test_end")
    assert (end["outcome"], end["reason"]) == (outcome, reason)
    assert end["seconds"] >= 0


@pytest.mark.parametrize(
    ("fixture", "test", "outcome"),
    [
        ("raise ValueError('before')", "pass", "error"),
        ("yield; raise ValueError('after')", "pass", "error"),
        ("yield; raise ValueError('after')", "assert False", "failed"),
    ],
)
def test_a_failing_fixture_is_an_error_unless_the_test_failed_itself(
    tmp_path: Any, fixture: str, test: str, outcome: str
) -> None:
    (tmp_path / "test_it.py").write_text(
        f"import pytest\n@pytest.fixture\ndef it():\n    {fixture}\ndef test_it(it):\n    {test}\n"
    )
    assert run_child(tmp_path, "test_it.py").one("test_end")["outcome"] == outcome


# -- a parent that is killed ----------------------------------------------------------------------
PARENT = """
import sys
sys.path.insert(0, {folder!r})
from fake_parent import run_corpus
run_corpus("test_abs.py::test_abs",
           environment={{"FAKE_HANG_CASE": "1", "FAKE_HANG_MARK": {mark!r}}})
"""


def test_a_child_that_hangs_is_killed_with_its_parent(tmp_path: Path) -> None:
    mark = tmp_path / "hangs"
    program = PARENT.format(folder=str(Path(__file__).parent), mark=str(mark))
    deadline = time.monotonic() + DEADLINE_S
    with subprocess.Popen([sys.executable, "-c", program]) as parent:
        # Only then the child waits for nothing that its parent's end would close.
        while not (mark.exists() and mark.read_text()):
            assert time.monotonic() < deadline, "the child never began to hang"
            time.sleep(0.01)
        parent.kill()
        parent.wait()
    child = int(mark.read_text())
    while running(child):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.01)


def running(pid: int) -> bool:
    """False also for a process that has ended and that nobody has waited for."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False


def test_what_was_imported_is_no_work_for_the_garbage_collector(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import gc\n\ndef test_frozen():\n    assert gc.get_freeze_count() > 10_000\n"
    )
    child = run_child(tmp_path, "test_it.py")
    ends = [message for message in child.messages if message["type"] == "test_end"]
    assert [end["outcome"] for end in ends] == ["passed"], child.output
