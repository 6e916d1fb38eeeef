# SPDX-License-Identifier: Apache-2.0
"""Several lanes of a batch on one device: children take turns, and what one of them lacked beside
others it is given alone."""

from __future__ import annotations

import csv
import fcntl
import json
from pathlib import Path

import pytest
from conftest import rows_of
from test_batch import Batches, wait_for

WORDS = ("--backend", "fake", "--dtypes", "float16", "--shapes", "upstream", "--run-dir", "a")


@pytest.fixture
def batches(corpus_tool) -> Batches:
    batches = Batches(corpus_tool)
    batches.devices(1)
    return batches


def conversation(run: Path) -> list[dict]:
    lines = (run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def turns_of(run: Path) -> list[tuple[float, float]]:
    """When the run's child had its turn, from the answer to the end that it told."""
    turns, asked, begun = [], None, None
    for line in conversation(run):
        message = line["message"]
        if message.get("type") == "turn":
            asked = message["seq"]
        elif asked is not None and message.get("to") == asked:
            begun, asked = line["t_s"], None
        elif message.get("type") == "turn_end":
            turns.append((begun, line["t_s"]))
    return turns


def test_children_launch_and_time_only_while_they_have_the_turn(corpus_tool):
    locks = corpus_tool.folder / "locks"
    locks.mkdir()
    corpus_tool.env["OPGAUGE_LOCKS"] = str(locks)
    runs = corpus_tool.folder / "a/runs"
    with open(locks / "turn-FAKE-0000.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        batch = corpus_tool.start("batch", "mm", "abs", *WORDS, "--lanes-per-device", "2")
        phase = "waiting for another operator on this device"
        wait_for(lambda: corpus_tool("batch", "status", "a").out.count(phase) == 2)
        assert [(run / "rows.jsonl").read_text() for run in runs.iterdir()] == ["", ""]
    out, err = batch.communicate(timeout=60)
    assert batch.returncode == 0, out + err
    for run in runs.iterdir():
        own = turns_of(run)
        timed = [
            line["t_s"]
            for line in conversation(run)
            if line["message"].get("type") in ("side_begin", "samples", "side_end")
        ]
        assert own and timed
        assert all(any(begin <= at <= end for begin, end in own) for at in timed)
        identity = json.loads((run / "run_identity.json").read_text())
        assert identity["settings"]["device_lanes"] == 2
        assert all(row["flags"] == [] for row in rows_of(run))


def test_rows_of_a_shared_device_are_of_another_caliber(corpus_tool):
    corpus_tool.env["OPGAUGE_LOCKS"] = str(corpus_tool.folder / "locks")
    assert corpus_tool("batch", "abs", *WORDS, "--lanes-per-device", "2").code == 0
    assert corpus_tool("batch", "abs", *WORDS[:-1], "b").code == 0
    refused = corpus_tool("compare", "a", "b")
    assert refused.code == 3
    assert "device_use (A: shared, B: own)" in refused.err


def test_an_operator_that_ran_out_of_memory_beside_others_is_tried_alone(batches):
    batches.script(
        abs={"status": "oom", "reason": "ran out of memory", "exit_code": 1},
        mm={"sleep": 1},
        add={"sleep": 1},
    )
    done = batches("abs", "mm", "add", "--lanes-per-device", "3")
    assert "abs ran out of memory beside others" in done.err
    jobs = [json.loads(line) for line in batches.log.read_text().splitlines()]
    begun = [(entry["job"]["operator"], Path(entry["job"]["run_dir"]).name) for entry in jobs]
    assert sorted(begun[:3])[0] == ("abs", "abs")
    assert begun[3:] == [("abs", "abs~alone")]
    # Not before the last of the others had ended.
    assert jobs[3]["at"] >= max(job["at"] for job in jobs[:3]) + 0.9
    assert batches.statuses() == {"abs": "oom", "mm": "passed", "add": "passed"}
    assert done.code == 1


def test_a_device_that_is_taken_out_takes_all_its_lanes_along(batches):
    health = {"ok": False, "problems": ["it does not answer"], "warnings": []}
    batches.script(mm={"health": health, "sleep": 1}, abs={"sleep": 2})
    done = batches("mm", "abs", "add", "index_fill", "--lanes-per-device", "2")
    assert done.code == 4
    statuses = batches.statuses()
    assert statuses["mm"] == statuses["abs"] == "passed"
    assert statuses["add"] == statuses["index_fill"] == "not_run"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("mm", "--backend", "fake", "--lanes-per-device", "2", "--corpus", "native"),
            "native corpus",
        ),
        (("mm", "--backend", "fake", "--lanes-per-device", "2", "--exclusive"), "--exclusive"),
        (("mm", "--executor", "slurm", "--lanes-per-device", "2"), "--executor slurm"),
        (("mm", "--lanes-per-device", "0"), "--lanes-per-device"),
    ],
)
def test_what_cannot_share_a_device_is_refused(batches, words, says):
    done = batches.tool("batch", *words, "--run-dir", "a")
    assert done.code == 2
    assert says in done.err
    assert not batches.folder.exists()


def test_the_table_names_the_folder_of_the_last_attempt(batches):
    batches.script(abs={"status": "oom"}, mm={"sleep": 0.2})
    batches("abs", "mm", "--lanes-per-device", "2")
    with open(batches.folder / "ops_status.csv", newline="") as file:
        rows = {row["op"]: row for row in csv.DictReader(file)}
    assert rows["abs"]["run_dir"].endswith("abs~alone")
