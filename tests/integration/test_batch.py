# SPDX-License-Identifier: Apache-2.0
"""`opgauge batch` with stub lanes: selection, table, order, resume, interrupts."""

from __future__ import annotations

import csv
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import SOURCE, Finished, Tool

LANE = SOURCE / "tests/support/stub_lane.py"
CORPUS = SOURCE / "tests/data/corpus_flaggems"
NATIVE = ["add", "layer_norm", "mm", "relu", "softmax", "sum"]


def fakes(count: int) -> str:
    return json.dumps([{"uuid": f"FAKE-000{i}"} for i in range(count)])


class Batches:
    """Batches of the native corpus on stand-in devices, in folder `a`."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.folder = tool.folder / "a"
        self.log = tool.folder / "lanes.jsonl"
        tool.env |= {"OPGAUGE_LANE_PROGRAM": str(LANE), "OPGAUGE_LOCKS": str(tool.folder / "locks")}
        self.devices(2)

    def devices(self, count: int) -> None:
        self.tool.env["OPGAUGE_FAKE_DEVICES"] = fakes(count)

    def script(self, **ops: dict[str, Any]) -> None:
        path = self.tool.folder / "lane.json"
        path.write_text(json.dumps({"ops": ops, "log": str(self.log)}))
        self.tool.env["STUB_LANE"] = str(path)

    def words(self, *names: str) -> list[str]:
        return ["batch", *names, "--backend", "fake", "--devices", "all", "--run-dir", "a"]

    def __call__(self, *names: str, **env: str) -> Finished:
        return self.tool(*self.words(*names), **env)

    def resume(self, *words: str, **env: str) -> Finished:
        return self.tool("batch", "--resume", "a", *words, **env)

    def rows(self) -> dict[str, dict[str, str]]:
        with open(self.folder / "ops_status.csv", newline="") as file:
            return {row["op"]: row for row in csv.DictReader(file)}

    def statuses(self) -> dict[str, str]:
        return {op: row["status"] for op, row in self.rows().items()}

    def state(self) -> dict[str, Any]:
        return json.loads((self.folder / "batch.json").read_text())

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def given(self) -> list[str]:
        """Operators in the order in which lanes were given them."""
        return [line["job"]["operator"] for line in self.lines() if "job" in line]


@pytest.fixture
def batches(opgauge: Tool) -> Batches:
    made = Batches(opgauge)
    made.script()
    return made


def wait_for(what: Any, seconds: float = 20) -> None:
    until = time.time() + seconds
    while not what():
        assert time.time() < until
        time.sleep(0.02)


def test_all_operators_run_once_each_and_the_table_has_the_columns(batches):
    done = batches("*")
    assert done.code == 0, done.err
    assert sorted(batches.given()) == NATIVE
    rows = batches.rows()
    assert list(rows["mm"]) == [
        "op", "status", "exit", "signal", "seconds", "backend", "device", "timer", "tuning",
        "rows_ok", "rows_failed", "rows_flagged", "geomean_speedup", "markers", "run_dir", "error",
    ]  # fmt: skip
    mm = rows["mm"]
    mm.pop("seconds")
    assert mm.pop("device") in ("FAKE-0000", "FAKE-0001")
    assert mm == {
        "op": "mm", "status": "passed", "exit": "0", "signal": "", "backend": "fake",
        "timer": "graph", "tuning": "record", "rows_ok": "2", "rows_failed": "0",
        "rows_flagged": "0", "geomean_speedup": "1.25", "markers": "", "run_dir": "runs/mm",
        "error": "",
    }  # fmt: skip
    assert (batches.folder / "runs/mm").is_dir()
    state = batches.state()
    assert (state["state"], state["exit_code"]) == ("finished", 0)
    assert state["run_options"] == ["--backend", "fake"]


def test_why_a_lane_forks_nothing_is_told_once(batches):
    """Known only after the first operator has been tried."""
    batches.devices(1)
    batches.script(add={"fork_server": "cannot import flag_gems"}, mm={"sleep": 3})
    done = batches("add", "mm", "relu")
    assert done.code == 0
    told = [line for line in (done.out + done.err).splitlines() if "fork server" in line]
    assert [line.partition(": ")[2] or line for line in told] == [
        "device FAKE-0000: no fork server: cannot import flag_gems"
    ]
    live = json.loads((batches.folder / "live.json").read_text())
    assert live["lanes"][0]["fork_server"] == "cannot import flag_gems"


def test_a_misspelt_name_is_a_row_and_the_others_go_on(batches):
    batches.script(relu={"status": "skipped"}, sum={"status": "collect_error", "reason": "torch"})
    done = batches("mm", "sofmax", "relu", "sum")
    assert done.code == 1
    assert batches.statuses() == {
        "mm": "passed", "sofmax": "no_tests", "relu": "skipped", "sum": "collect_error"
    }  # fmt: skip
    assert "did you mean 'softmax'?" in batches.rows()["sofmax"]["error"]
    assert sorted(batches.given()) == ["mm", "relu", "sum"]


def test_selecting_nothing_is_a_usage_error_and_makes_no_folder(batches):
    (batches.tool.folder / "empty").write_text("# nothing\n\n")
    for words in ([], ["nosuch"], ["nosuch*"], ["--from-file", "empty"], ["--stage", "alpha"]):
        done = batches(*words)
        assert done.code == 2, words
        assert len(done.err.splitlines()) == 1
    assert not batches.folder.exists()


def test_files_globs_and_duplicates(batches):
    (batches.tool.folder / "ops").write_text("mm  # the product\n# add\n\nmm\ns*\n")
    assert batches("--from-file", "ops", "mm").code == 0
    assert list(batches.statuses()) == ["mm", "softmax", "sum"]


def test_an_operator_in_several_files_is_measured_in_each(batches, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for file in ("one", "two"):
        (corpus / f"test_{file}.py").write_text(
            "import pytest\n@pytest.mark.mul\ndef test_mul():\n    triton.testing.do_bench()\n"
        )
    words = batches.words("mul")
    done = batches.tool(*words, "--corpus", str(corpus), OPGAUGE_PYTHON=sys.executable)
    assert done.code == 0, done.err
    assert list(batches.statuses()) == ["mul@test_one.py", "mul@test_two.py"]
    files = {line["job"]["file"] for line in batches.lines()}
    assert files == {"test_one.py", "test_two.py"}


def test_stages_and_marks_narrow(batches):
    words = batches.words("--stage", "stable")
    done = batches.tool(*words, "--corpus", str(CORPUS), OPGAUGE_PYTHON=sys.executable)
    assert done.code == 0, done.err
    assert list(batches.statuses()) == ["mm"]


def test_what_failed_in_a_batch_and_what_is_not_in_it(batches):
    batches.script(mm={"status": "failed", "reason": "wrong"}, add={"status": "timeout"})
    assert batches("mm", "add", "relu").code == 1
    batches.script()
    batches.folder = batches.tool.folder / "b"
    words = ["--backend", "fake", "--run-dir"]
    assert batches.tool("batch", "--failed-in", "a", *words, "b").code == 0
    assert list(batches.statuses()) == ["add", "mm"]
    batches.folder = batches.tool.folder / "c"
    assert batches.tool("batch", "--not-in", "a", *words, "c").code == 0
    assert list(batches.statuses()) == ["layer_norm", "softmax", "sum"]


def test_the_longest_of_an_earlier_batch_comes_first(batches):
    batches.script(add={"seconds": 1}, mm={"seconds": 9}, relu={"seconds": 4})
    assert batches("add", "relu", "mm").code == 0
    batches.devices(1)
    batches.log.unlink()
    assert batches.tool("batch", "*", "--backend", "fake", "--run-dir", "b").code == 0
    # The unknown ones count as the median, 4 s.
    assert batches.given() == ["mm", "layer_norm", "relu", "softmax", "sum", "add"]


def test_lanes_share_the_work_and_one_folder_has_one_lane(batches):
    batches.devices(4)
    batches.script(**{op: {"sleep": 0.2} for op in NATIVE})
    assert batches("*").code == 0
    assert len({line["device"] for line in batches.lines()}) == 4
    folders = [line["job"]["run_dir"] for line in batches.lines()]
    assert len(set(folders)) == len(folders) == 6


def test_words_of_a_corpus_are_data(batches):
    batches.script(
        mm={"status": "failed", "reason": "=cmd|' /C calc'!A0"},
        add={"status": "failed", "reason": 'a,"b"\n\x1b[31mred'},
        relu={"status": "failed", "reason": "@x", "markers": {"-danger": 2}},
    )
    done = batches("mm", "add", "relu")
    assert done.code == 1
    assert "\x1b" not in done.out + done.err
    rows = batches.rows()
    assert rows["mm"]["error"] == "'=cmd|' /C calc'!A0"
    assert rows["add"]["error"] == 'a,"b"\\x0a\\x1b[31mred'
    assert rows["relu"]["markers"] == "'-danger 2"


def test_an_interrupt_completes_the_table_and_resume_does_the_rest(batches):
    batches.devices(1)
    batches.script(relu={"sleep": 60})
    child = batches.tool.start(*batches.words("mm", "relu", "sum"))
    wait_for(lambda: batches.log.exists() and batches.given() == ["mm", "relu"])
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert f"opgauge batch --resume {batches.folder}" in err
    assert batches.statuses() == {"mm": "passed", "relu": "interrupted", "sum": "not_run"}
    assert {op: row["run_dir"] for op, row in batches.rows().items()} == {
        "mm": "runs/mm", "relu": "runs/relu", "sum": "",
    }  # fmt: skip
    assert batches.state()["state"] == "interrupted"
    batches.script()
    batches.log.unlink()
    done = batches.resume()
    assert done.code == 0, done.err
    assert batches.given() == ["relu", "sum"]
    assert [line["job"]["resume"] for line in batches.lines()] == [True, False]
    assert set(batches.statuses().values()) == {"passed"}


def test_a_second_interrupt_ends_at_once(batches):
    batches.script(mm={"do": "hang_for_good"})
    child = batches.tool.start(*batches.words("mm"))
    wait_for(lambda: batches.log.exists())
    time.sleep(0.3)
    begin = time.time()
    child.send_signal(signal.SIGINT)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    assert child.returncode == 130
    assert time.time() - begin < 9
    assert batches.statuses() == {"mm": "interrupted"}


@pytest.mark.parametrize("after", [1, 3, 5])
def test_after_sigkill_nothing_is_lost_and_nothing_repeated(batches, after):
    batches.script(**{op: {"sleep": 0.15} for op in NATIVE})
    child = batches.tool.start(*batches.words("*"))
    wait_for(lambda: batches.log.exists() and len(batches.given()) >= after)
    child.kill()
    child.communicate()
    ended = [run.parent.name for run in batches.folder.glob("runs/*/status.json")]
    pids = {line["pid"] for line in batches.lines()}
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert batches.tool("batch", "status", "a").out.endswith("state: ended without a word\n")
    batches.script()
    batches.log.unlink()
    done = batches.resume()
    assert done.code == 0, done.err
    assert set(batches.given()).isdisjoint(ended)
    assert sorted([*batches.given(), *ended]) == NATIVE
    assert set(batches.statuses().values()) == {"passed"}


def test_resume_repeats_nothing_of_a_finished_batch(batches):
    batches.script(mm={"status": "failed", "reason": "wrong"})
    assert batches("mm", "add").code == 1
    batches.log.unlink()
    assert batches.resume().code == 1
    assert not batches.log.exists()


def test_resume_refuses_another_caliber_selection_or_options(batches):
    batches.script(mm={"status": "failed"})
    assert batches("mm", "add").code == 1
    before = (batches.folder / "batch.json").read_bytes()
    other = json.dumps([{"uuid": "FAKE-0000", "name": "Other Accelerator"}])
    for done, words in (
        (batches.resume(OPGAUGE_FAKE_DEVICES=other), '["Other Accelerator"], was ["Fake Acc'),
        (batches.resume("relu"), "it selects 2 operators, not these 1"),
        (batches.resume("--timeout", "9"), "its options are '--backend fake', not '--timeout 9'"),
    ):
        assert done.code == 3
        assert words in done.err
        assert len(done.err.splitlines()) == 1
    assert (batches.folder / "batch.json").read_bytes() == before
    assert batches.resume("mm", "add").code == 1


def test_a_batch_that_runs_is_shown_and_not_run_twice(batches):
    batches.script(mm={"sleep": 30})
    child = batches.tool.start(*batches.words("mm", "add"))
    live = batches.folder / "live.json"
    wait_for(lambda: live.exists() and "case_index" in live.read_text())
    status = batches.tool("batch", "status", "a", "--json").json()
    assert status["running"] is True
    mm = next(lane for lane in status["lanes"] if lane.get("entry") == "mm")
    assert (mm["case"], mm["case_index"], mm["planned"]) == ("mm float16", 1, 2)
    assert "mm  case 1 of 2" in batches.tool("batch", "status", "a").out
    assert batches.statuses()["mm"] == "running"
    done = batches.resume()
    assert done.code == 3
    assert "is being run by another process" in done.err
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=30)
    assert child.returncode == 143
    # Lanes are always ended by SIGINT.
    assert batches.rows()["mm"]["error"] == "interrupted by SIGTERM"


def test_a_folder_that_is_no_batch(batches):
    batches.folder.mkdir()
    assert batches.tool("batch", "status", "a").code == 2
    assert batches.resume().code == 2
    (batches.folder / "batch.json").write_text('{"schema_version": 99}')
    done = batches.tool("batch", "status", "a")
    assert (done.code, done.out) == (1, "")
    assert "schema version 99" in done.err
    (batches.folder / "batch.json").write_text('{"schema')
    assert batches.resume().code == 1


def test_warmup_devices_are_not_for_batches(batches):
    done = batches("mm", "--warmup-devices", "2")
    assert done.code == 2
    assert "--warmup-devices is not for batch" in done.err


def test_the_terminal_shows_each_device(batches):
    import pty

    batches.script(mm={"sleep": 1.2})
    parent, child = pty.openpty()
    pid = os.fork()
    if pid == 0:
        os.chdir(batches.tool.folder)
        os.dup2(child, 2)
        os.execve(
            batches.tool.command()[0],
            batches.tool.command(*batches.words("mm")),
            {**batches.tool.env, "TERM": "xterm"},
        )
    os.close(child)
    shown = b""
    try:
        while more := os.read(parent, 65536):
            shown += more
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    text = shown.decode()
    assert "mm  case 1 of 2" in text
    assert "1 running" in text
    assert text.endswith("\x1b[J")


def test_two_batches_do_not_share_a_device(batches):
    batches.script(mm={"sleep": 30})
    child = batches.tool.start(*batches.words("mm"))
    wait_for(lambda: batches.log.exists())
    other = ["batch", "add", "--backend", "fake", "--run-dir", "b"]
    done = batches.tool(*other, "--devices", "1")
    assert done.code == 4
    assert f"is leased by pid {child.pid}" in done.err
    waiting = batches.tool.start(*other, "--devices", "1", "--wait-lease", "20")
    time.sleep(0.3)
    assert waiting.poll() is None
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=30)
    _, err = waiting.communicate(timeout=30)
    assert waiting.returncode == 0, err


def test_real_lanes_measure_what_the_parent_hands_out(batches):
    del batches.tool.env["OPGAUGE_LANE_PROGRAM"]
    case = {
        "case": {"operator": "mm", "dtype": "float16", "shapes": [[1, 1]]},
        "base": {"values_ns": [6000], "estimate_ns": 6000},
        "candidate": {"values_ns": [3000], "estimate_ns": 3000},
    }
    script = batches.tool.folder / "script.json"
    script.write_text(json.dumps({"tests": [{"node": "fake::mm", "cases": [case]}]}))
    done = batches("*", OPGAUGE_FAKE_SCRIPT=str(script))
    assert done.code == 0, done.err
    rows = batches.rows()
    assert list(rows) == NATIVE
    assert {row["status"] for row in rows.values()} == {"passed"}
    assert {row["geomean_speedup"] for row in rows.values()} == {"2"}
    assert {row["rows_ok"] for row in rows.values()} == {"1"}
    for op in NATIVE:
        assert json.loads((batches.folder / f"runs/{op}/status.json").read_text())["exit_code"] == 0
