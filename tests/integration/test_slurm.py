# SPDX-License-Identifier: Apache-2.0
"""`opgauge batch --executor slurm` against a real Slurm of this host (tests/slurm/cluster.py)."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import SOURCE, Finished, Tool

sys.path.insert(0, str(SOURCE / "tests/slurm"))
import cluster as slurm

LANE = SOURCE / "tests/support"
CORPUS = SOURCE / "tests/data/corpus_flaggems"
VENDORS = SOURCE / "build/dev/tests/fake_vendor/now"
NATIVE = ["add", "layer_norm", "mm", "relu", "softmax", "sum"]
ABSENT = slurm.missing()

pytestmark = pytest.mark.skipif(ABSENT is not None, reason=f"no Slurm here: {ABSENT}")

# Runs before the stub lane does: writes what its job gives it, and does once what a test asks for.
LANE_PROGRAM = """#!{python}
import json, os, signal, sys
sys.path.insert(0, "{lane}")
import stub_lane
seen = {{k: v for k, v in os.environ.items() if k.endswith("VISIBLE_DEVICES")}}
task = os.environ["SLURM_ARRAY_TASK_ID"]
with open("{folder}/seen.jsonl", "a") as file:
    file.write(json.dumps({{"task": task, "node": os.environ["SLURMD_NODENAME"], "env": seen,
                            "devices": sys.argv[sys.argv.index("--devices") + 1]}}) + "\\n")
once = "{folder}/kill_task_once"
if os.path.exists(once):
    os.remove(once)
    batch = int(open(f"/proc/{{os.getppid()}}/stat").read().rsplit(")", 1)[1].split()[1])
    os.kill(batch, signal.SIGKILL)
lane = stub_lane.Lane()
for number in (signal.SIGINT, signal.SIGTERM):  # Slurm sends its own to each process of a task
    signal.signal(number, lane.interrupted)
lane.run()
"""


@pytest.fixture(scope="module")
def site():
    """Nodes of two vendors, the third with a gres that is not called gpu."""
    nodes = [
        slurm.Node("gpu", "a", 2, "nvidia_gpu_env"),
        slurm.Node("gpu", "b", 2, "amd_gpu_env"),
        slurm.Node("npu", "", 2),
        slurm.Node("gpu", "plain", 2),
    ]
    # munged refuses a folder that others may not search, as pytest's are.
    with tempfile.TemporaryDirectory(prefix="opgauge-slurm-") as folder:
        made = slurm.Cluster(Path(folder), nodes)
        made.up()
        yield made
        made.down()


class Batches:
    """Batches of the native corpus in folder `a`, their lanes stand-ins."""

    def __init__(self, tool: Tool, site: slurm.Cluster) -> None:
        self.tool, self.site, self.folder = tool, site, tool.folder / "a"
        program = tool.folder / "lane"
        program.write_text(
            LANE_PROGRAM.format(python=sys.executable, folder=tool.folder, lane=LANE)
        )
        program.chmod(0o755)
        tool.env |= {
            "SLURM_CONF": str(site.conf),
            "OPGAUGE_LANE_PROGRAM": str(program),
            "OPGAUGE_LOCKS": str(tool.folder / "locks"),
            "OPGAUGE_FAKE_DEVICES": json.dumps([{"uuid": f"FAKE-000{i}"} for i in range(3)]),
        }
        self.script()

    def script(self, **ops: dict[str, Any]) -> None:
        path = self.tool.folder / "lane.json"
        path.write_text(json.dumps({"ops": ops, "log": str(self.tool.folder / "lanes.jsonl")}))
        self.tool.env["STUB_LANE"] = str(path)

    def words(self, *names: str, gres: str = "npu:1") -> list[str]:
        words = ["batch", *names, "--executor", "slurm", "--run-dir", "a", "--gres", gres]
        words += ["--poll", "0.2", "--record-wait", "2"]
        return words if "--backend" in names else [*words, "--backend", "fake"]

    def __call__(self, *names: str, gres: str = "npu:1", timeout: float = 90) -> Finished:
        return self.tool(*self.words(*names, gres=gres), timeout=timeout)

    def start(self, *names: str) -> subprocess.Popen[str]:
        return self.tool.start(*self.words(*names))

    def resume(self) -> Finished:
        return self.tool("batch", "--resume", "a", "--poll", "0.2", "--record-wait", "2")

    def rows(self) -> dict[str, dict[str, str]]:
        with open(self.folder / "ops_status.csv", newline="") as file:
            return {row["op"]: row for row in csv.DictReader(file)}

    def statuses(self) -> dict[str, str]:
        return {op: row["status"] for op, row in self.rows().items()}

    def record(self, task: int) -> dict[str, Any]:
        return json.loads((self.folder / f"tasks/{task:03}.json").read_text())

    def jobs(self) -> list[dict[str, Any]]:
        return json.loads((self.folder / "jobs.json").read_text())["jobs"]

    def given(self) -> list[str]:
        """Operators that lanes were given, in order."""
        log = self.tool.folder / "lanes.jsonl"
        text = log.read_text() if log.exists() else ""
        lines = [json.loads(line) for line in text.splitlines()]
        return [line["job"]["operator"] for line in lines if "job" in line]

    def seen(self) -> list[dict[str, Any]]:
        path = self.tool.folder / "seen.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def live(self) -> list[str]:
        """Tasks of the last job that Slurm holds to be running or waiting."""
        told = self.site.call("squeue", "-h", "-r", "-j", self.jobs()[-1]["id"], "-o", "%i")
        return told.split()

    def wait_for_lane(self, count: int = 1) -> None:
        wait_for(lambda: len(self.seen()) >= count)


def wait_for(what: Any, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture
def batches(opgauge: Tool, site: slurm.Cluster):
    made = Batches(opgauge, site)
    yield made
    if (made.folder / "jobs.json").exists():
        site.call("scancel", *[job["id"] for job in made.jobs() if job["id"]])
    wait_for(lambda: not site.call("squeue", "-h", "-o", "%i").strip())


def test_operators_become_the_tasks_of_one_array_and_their_tables_one_table(batches):
    done = batches("*", "--tasks", "3", "--chunk-minutes", "0.01")
    assert done.code == 0, done.err
    assert batches.statuses() == dict.fromkeys(NATIVE, "passed")
    assert sorted(batches.given()) == NATIVE
    (job,) = batches.jobs()
    assert job["tasks"] == [0, 1, 2]
    for row in batches.rows().values():
        assert row["backend"] == "fake"
        assert (batches.folder / row["run_dir"]).is_dir()
        assert row["run_dir"].startswith("tasks/00")
    assert {batches.record(task)["exit"] for task in range(3)} == {0}
    state = json.loads((batches.folder / "batch.json").read_text())
    assert (state["state"], state["exit_code"]) == ("finished", 0)


def test_a_failed_operator_fails_the_batch_and_no_other_one(batches):
    batches.script(mm={"status": "failed", "reason": "wrong result", "exit_code": 1})
    done = batches("mm", "add", "nmm", "--tasks", "2", "--chunk-minutes", "0.01")
    assert done.code == 1
    assert batches.statuses() == {"mm": "failed", "add": "passed", "nmm": "no_tests"}
    assert batches.rows()["mm"]["error"] == "wrong result"
    assert len(batches.jobs()) == 1  # done, though its exit code is 1


def test_a_gres_that_slurm_sets_no_variable_for_is_pinned_by_its_numbers(batches):
    assert batches("mm", "add", "--tasks", "2", "--chunk-minutes", "0.01").code == 0
    assert sorted(entry["env"]["FAKE_VISIBLE_DEVICES"] for entry in batches.seen()) == ["0", "1"]
    assert {entry["node"] for entry in batches.seen()} == {"n3"}
    assert "Slurm gave npu:1(IDX:" in batches.record(0)["devices"]


@pytest.mark.parametrize(
    ("backend", "gres", "variable"),
    [
        ("cuda", "gpu:a:1", "CUDA_VISIBLE_DEVICES"),
        ("rocm", "gpu:b:1", "ROCR_VISIBLE_DEVICES"),
        # No flag in gres.conf: Slurm sets the variables of all vendors.
        ("rocm", "gpu:plain:1", "ROCR_VISIBLE_DEVICES"),
        ("ascend", "npu:1", "ASCEND_RT_VISIBLE_DEVICES"),
    ],
)
def test_a_vendors_own_variable_is_the_only_one_that_its_lanes_see(
    batches, backend, gres, variable
):
    batches.tool.env |= {
        "OPGAUGE_LIBRARY_PATH": str(VENDORS),
        "OPGAUGE_FAKE_VENDOR": "devices=3",
        "OPGAUGE_PYTHON": sys.executable,
        # What a submitter's shell holds is no device of the job.
        "CUDA_VISIBLE_DEVICES": "7",
        "HIP_VISIBLE_DEVICES": "7",
    }
    done = batches("mm", "--backend", backend, "--corpus", str(CORPUS), gres=gres)
    assert done.code == 0, done.err + (batches.folder / "tasks/000.log").read_text()
    (seen,) = batches.seen()
    assert seen["env"] == {variable: "0"}


def test_a_task_that_dies_without_a_word_is_submitted_again_and_goes_on(batches):
    (batches.tool.folder / "kill_task_once").touch()
    done = batches("mm", "add")
    assert done.code == 0, done.err
    assert "task 0 is submitted again" in done.err
    assert len(batches.jobs()) == 2
    assert batches.statuses() == {"mm": "passed", "add": "passed"}


def test_a_task_that_keeps_dying_is_named_with_its_log(batches):
    batches.script(mm={"do": "hang"})
    run = batches.start("mm", "--task-retries", "0")
    batches.wait_for_lane()
    batches.site.call("scancel", "--batch", "--signal=KILL", batches.jobs()[0]["id"])
    _, err = run.communicate(timeout=60)
    assert run.returncode == 1
    assert batches.statuses() == {"mm": "not_run"}
    assert "signal 9; see" in batches.rows()["mm"]["error"]
    assert "tasks/000.log" in err


def test_scancel_by_somebody_else_leaves_a_batch_to_go_on_with(batches):
    batches.script(mm={"do": "hang"})
    run = batches.start("mm", "add", "--tasks", "2", "--chunk-minutes", "0.01")
    wait_for((batches.folder / "tasks/001.json").exists)
    wait_for(lambda: batches.record(1)["state"] == "ended")
    batches.site.call("scancel", batches.jobs()[0]["id"])
    _, err = run.communicate(timeout=60)
    assert run.returncode == 1, err
    assert batches.statuses() == {"mm": "not_run", "add": "passed"}
    assert "cancelled" in batches.rows()["mm"]["error"].lower()
    batches.script()
    done = batches.resume()
    assert done.code == 0, done.err
    assert batches.statuses() == {"mm": "passed", "add": "passed"}
    assert batches.given().count("add") == 1
    assert batches.jobs()[1]["tasks"] == [0]


def test_an_interrupt_cancels_all_tasks_before_it_returns(batches):
    batches.script(**dict.fromkeys(NATIVE, {"do": "hang"}))
    run = batches.start("*", "--tasks", "4", "--chunk-minutes", "0.01")
    batches.wait_for_lane(2)  # the node has two devices: the other tasks wait
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert batches.live() == []
    assert set(batches.statuses().values()) == {"not_run"}
    assert "opgauge batch --resume" in err
    batches.script()
    done = batches.resume()
    assert done.code == 0, done.err
    assert batches.statuses() == dict.fromkeys(NATIVE, "passed")


def test_a_killed_submitter_is_followed_by_one_that_takes_its_job_over(batches):
    batches.script(mm={"sleep": 4})
    run = batches.start("mm")
    batches.wait_for_lane()
    run.kill()
    run.communicate()
    done = batches.resume()
    assert done.code == 0, done.err
    assert len(batches.jobs()) == 1
    assert batches.given() == ["mm"]


def test_a_requeued_task_goes_on_where_it_was(batches):
    batches.script(add={"sleep": 60})
    run = batches.start("mm", "add", "--tasks", "1")
    wait_for(lambda: "add" in batches.given())
    batches.script()
    batches.site.call("scontrol", "requeue", f"{batches.jobs()[0]['id']}_0")
    # Slurm holds a requeued job back until its credential has expired.
    _, err = run.communicate(timeout=90)
    assert run.returncode == 0, err
    assert batches.record(0)["restarts"] == 1
    assert batches.given() == ["mm", "add", "add"]
    assert len(batches.jobs()) == 1


def test_a_job_whose_submit_was_not_answered_is_found_and_not_submitted_twice(batches):
    wrapper = batches.tool.folder / "bin/sbatch"
    wrapper.parent.mkdir()
    controller = batches.site.pids["slurmctld"]
    # The group of a tool is killed at its end, so what goes on must have left it.
    wrapper.write_text(
        "#!/bin/sh\n"
        f"kill -STOP {controller}\n"
        f"setsid sh -c 'sleep 12; kill -CONT {controller}' >/dev/null 2>&1 </dev/null &\n"
        'exec /usr/bin/sbatch "$@"\n'
    )
    wrapper.chmod(0o755)
    batches.tool.env["PATH"] = f"{wrapper.parent}:{batches.tool.env['PATH']}"
    done = batches("mm", timeout=120)
    assert done.code == 0, done.err
    (job,) = batches.jobs()
    assert job["id"]
    told = batches.site.call("squeue", "-h", "-t", "all", "-n", job["name"], "-o", "%F")
    assert told.split() == [job["id"]]
    assert batches.given() == ["mm"]


def test_tasks_run_on_without_their_controller(batches):
    batches.script(mm={"sleep": 3})
    run = batches.start("mm")
    batches.wait_for_lane()
    batches.site.signal("slurmctld", signal.SIGSTOP)
    try:
        _, err = run.communicate(timeout=60)  # a look is given up after ten seconds
    finally:
        batches.site.signal("slurmctld", signal.SIGCONT)
    assert run.returncode == 0, err
    assert "asking again" in err
    assert batches.statuses() == {"mm": "passed"}


def test_a_job_that_can_never_start_is_given_up_with_slurms_reason(batches):
    done = batches("mm", "--sbatch", "--cpus-per-task=64", "--pending-limit", "2")
    assert done.code == 1
    assert batches.statuses() == {"mm": "not_run"}
    assert (
        "nothing started within 2.0 s; slurm says: PartitionConfig" in batches.rows()["mm"]["error"]
    )
    assert batches.live() == []


@pytest.mark.parametrize(
    ("more", "gres", "code", "line"),
    [
        ([], "gpu:99", 2, "sbatch: sbatch: error: Batch job submission failed: Requested node "),
        (["--partition", "none"], "npu:1", 2, "invalid partition specified: none"),
        (["--devices", "0"], "npu:1", 2, "--devices is not for --executor slurm"),
    ],
)
def test_what_slurm_refuses_is_one_line(batches, more, gres, code, line):
    done = batches("mm", *more, gres=gres)
    assert done.code == code
    assert line in done.err.splitlines()[-1]


def test_a_task_without_a_device_says_so(batches):
    done = batches("mm", gres="")
    assert done.code == 1
    assert "Slurm gave this task no device" in batches.rows()["mm"]["error"]


def test_a_real_lane_measures_in_a_task(batches):
    del batches.tool.env["OPGAUGE_LANE_PROGRAM"]
    quick = ["--max-time", "0.05", "--min-samples", "3", "--dtypes", "float32"]
    done = batches("add", "relu", "--backend", "cpu", *quick, gres="")
    assert done.code == 0, done.err + (batches.folder / "tasks/000.log").read_text()
    rows = batches.rows()
    assert {op: row["status"] for op, row in rows.items()} == {"add": "passed", "relu": "passed"}
    for row in rows.values():
        assert int(row["rows_ok"]) > 0
        assert (row["backend"], row["timer"]) == ("cpu", "host")
        assert (batches.folder / row["run_dir"] / "rows.jsonl").exists()


@pytest.mark.skipif("OPGAUGE_SLOW_TESTS" not in os.environ, reason="Slurm takes over a minute")
def test_a_task_out_of_time_keeps_what_it_has_measured(batches):
    batches.script(mm={"do": "hang"})
    done = batches(
        "add", "mm", "--tasks", "1", "--task-time", "1", "--task-retries", "0", timeout=180
    )
    assert done.code == 1
    assert batches.statuses() == {"add": "passed", "mm": "not_run"}
    assert "ended as timeout: TIMEOUT (TimeLimit)" in batches.rows()["mm"]["error"]
