# SPDX-License-Identifier: Apache-2.0
"""A lane's children come from its fork server, and what they measure is what plain processes do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from conftest import CORPUS, rows_of, status_of
from lane import Lane

PROBLEM = "cannot import flag_gems: ValueError: not without a test"
ONLY_IN_A_TEST = """
import sys
if "pytest" not in sys.orig_argv:
    raise ValueError("not without a test")
"""


def lane_of(tool, *options: str, **env: str) -> Lane:
    words = ("--backend", "fake", "--dtypes", "float16", "--shapes", "upstream")
    return Lane(tool, *words, *options, **env)


def phases(lane: Lane) -> list[str]:
    return [message["text"] for message in lane.messages if message["type"] == "phase"]


def hello_of(run: Path) -> dict:
    line = (run / "events.jsonl").read_text(encoding="utf-8").splitlines()[0]
    return json.loads(line)["message"]


def measured(run: Path) -> list:
    return [(row["case"], row["status"], row["base"]["median_ns"]) for row in rows_of(run)]


def started(pid: int) -> list[str]:
    """The command line of a process, that of a forked one is its parent's."""
    return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").split("\0")


def test_rows_are_those_of_plain_processes_and_the_server_starts_once(corpus_tool):
    results = {}
    for option in ("", "--no-fork-server"):
        with lane_of(corpus_tool, *filter(None, [option])) as lane:
            runs = [lane.run(name) for name in ("mm", "abs", "mm")]
            assert [ended["status"] for ended, _ in runs] == ["passed"] * 3
            results[option] = [measured(run) for _, run in runs]
            assert lane.end() == 0
            ready = [m["fork_server"] for m in lane.messages if m["type"] == "ready"]
            assert ready == [option or True] * 4
            assert phases(lane).count("starting the fork server") == (not option)
            assert len({hello_of(run)["pid"] for _, run in runs}) == 3
            children = {"started": 1, "forked": int(not option)}
            assert [status_of(run)["children"] for _, run in runs] == [children] * 3
    assert results[""] == results["--no-fork-server"]
    assert all(results[""])


def test_children_are_forked_from_one_server_and_are_the_lanes_own(corpus_tool):
    with lane_of(corpus_tool, "--stall", "60", FAKE_HANG_CASE="2") as lane:
        run = lane.give("mm")
        lane.until("row")
        pid = hello_of(run)["pid"]
        assert "opgauge_bridge.fork_server" in started(pid)
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        assert int(stat.rpartition(")")[2].split()[1]) == lane.process.pid
        lane.process.send_signal(2)
        assert lane.until("ended")["status"] == "interrupted"
        assert lane.process.wait(timeout=30) == 130
        assert not Path(f"/proc/{pid}").exists()


def test_a_crash_costs_its_case_and_the_server_lives_on(corpus_tool):
    with lane_of(corpus_tool, FAKE_KILL_CASE="2") as lane:
        # The second time the case is known, and another one is killed.
        for known in (["ok", "failed"], ["ok", "skipped", "failed"]):
            ended, run = lane.run("mm")
            assert ended["status"] == "crashed"
            assert [row["status"] for row in rows_of(run)][: len(known)] == known
        assert phases(lane).count("starting the fork server") == 1
        assert not [text for text in phases(lane) if "no child" in text]
        assert lane.end() == 0


def test_the_corpuss_own_package_is_found_where_its_pytest_finds_it(corpus_tool, tmp_path):
    """FlagGems' pytest.ini says `pythonpath = src`; nothing else says where it is."""
    copy = tmp_path / "corpus"
    shutil.copytree(CORPUS, copy)
    shutil.move(copy / "stubs" / "flag_gems", copy / "src" / "flag_gems")
    with open(copy / "pytest.ini", "a", encoding="utf-8") as file:
        file.write("pythonpath = src\n")
    stubs = str(copy / "stubs")
    with lane_of(corpus_tool, OPGAUGE_CORPUS=str(copy), PYTHONPATH=stubs) as lane:
        for name in ("mm", "abs"):
            ended, run = lane.run(name)
            assert ended["status"] == "passed", ended
            assert hello_of(run)["forked"] is True
        lane.until("ready")
        assert lane.messages[-1]["fork_server"] is True


def test_where_the_corpus_cannot_be_imported_children_are_plain_processes(corpus_tool, tmp_path):
    stubs = tmp_path / "stubs"
    shutil.copytree(CORPUS / "stubs", stubs)
    module = stubs / "flag_gems" / "__init__.py"
    module.write_text(ONLY_IN_A_TEST + module.read_text(encoding="utf-8"), encoding="utf-8")
    with lane_of(corpus_tool, PYTHONPATH=str(stubs)) as lane:
        ended, run = lane.run("mm")
        assert ended["status"] == "passed", ended
        assert status_of(run)["status"] == "passed"
        assert f"no fork server: {PROBLEM}" in phases(lane)
        lane.until("ready")
        assert lane.messages[-1]["fork_server"] == PROBLEM
