# SPDX-License-Identifier: Apache-2.0
"""The pool of forked workers by itself; its tasks only sleep, print or die."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import fake_parent
from opgauge_bridge.tuning import compiles
from opgauge_bridge.tuning.pool import Outcome, Pool

assert fake_parent  # makes the package under test importable
Make = Callable[..., Pool]
COMPILED = Outcome("compiled")


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Pool] = []

    def make_pool(task: Any, count: int, jobs: int = 2, deadline_s: float = 60.0) -> Pool:
        made.append(Pool(task, range(count), jobs, deadline_s))
        return made[-1]

    yield make_pool
    for pool in made:
        pool.end()


def compiling() -> None:
    """As the compiler announces that it begins."""
    assert compiles.listener is not None
    compiles.listener()


def nothing() -> None:
    pass


def spans(folder: Path) -> dict[int, tuple[float, float, int]]:
    return {int(path.name): tuple(json.loads(path.read_text())) for path in folder.iterdir()}


def sleeps(folder: Path, seconds: Callable[[int], float]) -> Callable[[int], None]:
    def task(index: int) -> None:
        began = time.monotonic()
        time.sleep(seconds(index))
        (folder / str(index)).write_text(json.dumps([began, time.monotonic(), os.getpid()]))

    return task


def test_one_long_compile_goes_on_beside_all_others(make: Make, tmp_path: Path) -> None:
    """Case: the first of 12 takes 14 times as long as each of the others."""
    pool = make(sleeps(tmp_path, lambda index: 1.4 if index == 0 else 0.1), 12)
    pool.wait_for_all(nothing)
    found = spans(tmp_path)
    began, ended, worker = found.pop(0)
    assert len(found) == 11
    assert all(other[2] != worker for other in found.values())
    assert sum(began <= other[0] and other[1] <= ended for other in found.values()) >= 8
    assert pool.totals.longest_s == pytest.approx(ended - began, abs=0.2)


def test_one_can_be_had_while_a_later_one_compiles(make: Make, tmp_path: Path) -> None:
    pool = make(sleeps(tmp_path, lambda index: 60.0 if index == 1 else 0.0), 4)
    assert pool.wait(0, nothing) == pool.wait(3, nothing) == COMPILED
    assert 1 not in pool.outcomes
    assert pool.longest_running() == 1


def test_workers_go_on_while_nobody_waits(make: Make, tmp_path: Path) -> None:
    pool = make(sleeps(tmp_path, lambda index: 0.0), 50)
    end = time.monotonic() + 30
    while len(list(tmp_path.iterdir())) < 50 and time.monotonic() < end:
        time.sleep(0.01)
    assert pool.outcomes == {}
    pool.wait_for_all(nothing)
    assert pool.outcomes == {index: COMPILED for index in range(50)}


def test_a_task_beyond_its_deadline_is_killed_and_the_next_one_done(make: Make) -> None:
    def task(index: int) -> None:
        compiling()
        time.sleep(600 if index == 0 else 0)

    ticks: list[int] = []
    pool = make(task, 3, jobs=1, deadline_s=1.5)
    first = pool.pids()
    pool.wait_for_all(lambda: ticks.append(1))
    assert pool.outcomes == {
        0: Outcome("failed", "timeout", "compiling was stopped after 1.5 s", True),
        1: COMPILED,
        2: COMPILED,
    }
    assert pool.pids() != first
    assert ticks


def test_what_hinders_a_worker_before_it_compiles_is_no_failure(make: Make) -> None:
    def task(index: int) -> None:
        if index == 0:
            os.kill(os.getpid(), signal.SIGSEGV)
        raise ValueError("of a heuristic")

    pool = make(task, 2, jobs=1)
    pool.wait_for_all(nothing)
    assert [pool.outcomes[index].state for index in (0, 1)] == ["skipped", "skipped"]
    assert pool.outcomes[0].message == "the compiler was killed by SIGSEGV"
    assert pool.outcomes[1].message == "ValueError: of a heuristic"


def test_a_worker_that_others_end_is_not_waited_for(make: Make) -> None:
    pool = make(lambda index: time.sleep(600), 1, jobs=1)
    os.kill(pool.pids()[0], signal.SIGKILL)
    assert pool.wait(0, nothing) in (
        Outcome("skipped", "error", "the compiler was killed by SIGKILL", True),
        Outcome("skipped", "error", "no worker is left"),
    )


def test_the_end_kills_and_reaps_every_worker(make: Make) -> None:
    pool = make(lambda index: time.sleep(600), 4, jobs=4)
    pids = pool.pids()
    assert len(pids) == 4
    pool.end()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert pool.wait(0, nothing) is None


def test_there_are_no_more_workers_than_tasks(make: Make) -> None:
    assert len(make(lambda index: time.sleep(600), 3, jobs=16).pids()) == 3


def test_a_worker_leaves_what_is_its_parents(make: Make, tmp_path: Path) -> None:
    """Neither its files nor its signal handlers; what it prints comes where the parent's does."""
    here, there = socket.socketpair()
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)

    def task(index: int) -> None:
        print("said by a worker")
        files = [Path(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
        facts = {
            # That of the listing is closed by now.
            "files": [os.readlink(path).split(":")[0] for path in files if path.is_symlink()],
            "signal": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
            "blocked": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        }
        (tmp_path / "facts").write_text(json.dumps(facts))
        time.sleep(0 if index == 0 else 600)

    try:
        pool = make(task, 2, jobs=1)
        assert pool.wait(0, nothing) == COMPILED
        there.close()
        here.settimeout(30)
        assert here.recv(1) == b""  # the worker, which still runs, has closed its copy
    finally:
        signal.signal(signal.SIGTERM, before)
        here.close()
    facts = json.loads((tmp_path / "facts").read_text())
    assert facts == {"files": ["pipe", "pipe"], "signal": True, "blocked": 0}


def test_the_printed_of_a_worker_is_kept(make: Make, capfd: pytest.CaptureFixture[str]) -> None:
    make(lambda index: print("said by a worker"), 1, jobs=1).wait_for_all(nothing)
    assert capfd.readouterr().out == "said by a worker\n"


def test_of_the_workers_processor_time_all_is_counted(make: Make) -> None:
    def task(index: int) -> None:
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass

    pool = make(task, 3)
    pool.wait_for_all(nothing)
    assert pool.totals.cpu_seconds >= 0.5
    assert sorted(pool.seconds) == [0, 1, 2]
