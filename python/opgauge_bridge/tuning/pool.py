# SPDX-License-Identifier: Apache-2.0
"""Compiles a key's configurations in forked workers: knows who compiles what, kills what exceeds
the deadline, replaces a worker that died, and is driven only by those who wait for a result."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import compile_child

Tick = Callable[[], None]
# A pipe holds 64 KiB; what is beyond is compiled when it is timed.
_MOST = 16_000
_TICK_S = 0.5


@dataclass(frozen=True)
class Outcome:
    """`state`: "compiled", "failed", or "skipped": only the process with the device can tell."""

    state: str
    kind: str = ""
    message: str = ""
    ended_worker: bool = False  # it would hang or end the process that times, too


@dataclass
class _Worker:
    pid: int
    results: int
    buffer: bytes = b""
    index: int | None = None
    # What it does now; also before its first word, or one that is stuck there is never ended.
    began: float = field(default_factory=time.monotonic)
    compiling: bool = False


@dataclass
class Totals:
    cpu_seconds: float = 0.0
    longest_s: float = 0.0
    began: float = field(default_factory=time.monotonic)
    ended: float = field(default_factory=time.monotonic)


class Pool:
    """`task(index)` compiles one; it runs in a worker. Raises OSError where none can be made."""

    def __init__(
        self, task: compile_child.Task, order: Sequence[int], jobs: int, deadline_s: float
    ) -> None:
        self._task = task
        self._deadline_s = deadline_s
        self._workers: list[_Worker] = []
        self._left = set(order[:_MOST])
        self.total = len(self._left)
        self.outcomes: dict[int, Outcome] = {}
        self.seconds: dict[int, float] = {}
        self.totals = Totals()
        self._queue, writer = os.pipe()
        numbers = (index.to_bytes(compile_child.NUMBER_BYTES, "little") for index in order[:_MOST])
        os.write(writer, b"".join(numbers))
        os.close(writer)
        try:
            for _ in range(min(jobs, self.total)):
                self._add_worker()
        except OSError:
            if not self._workers:
                self.end()
                raise

    # -- workers ------------------------------------------------------------------------------
    def pids(self) -> list[int]:
        return [worker.pid for worker in self._workers]

    def _add_worker(self) -> None:
        reader, writer = os.pipe()
        try:
            pid = self._fork(writer)
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        os.set_blocking(reader, False)
        self._workers.append(_Worker(pid, reader))

    def _fork(self, results: int) -> int:
        """No signal and no collection may run the parent's code in the new process."""
        parent, collecting = os.getpid(), gc.isenabled()
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        gc.disable()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of threads, which a worker does without
                pid = os.fork()
            if pid == 0:
                compile_child.serve(self._task, self._queue, results, parent)
        finally:
            if collecting:
                gc.enable()
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        return pid

    def _died(self, worker: _Worker) -> None:
        """Its pipe has ended; one that found the queue empty has no configuration."""
        self._workers.remove(worker)
        os.close(worker.results)
        status = _reap(worker.pid)
        if worker.index is not None:
            self._settle(worker, "failed", "error", f"the compiler {_end_of(status)}")
            self._replace()

    def _stop_late(self) -> None:
        now = time.monotonic()
        for worker in list(self._workers):
            if now - worker.began > self._deadline_s:
                self._workers.remove(worker)
                _kill(worker)
                message = f"compiling was stopped after {self._deadline_s:g} s"
                self._settle(worker, "failed", "timeout", message)
                self._replace()

    def _settle(self, worker: _Worker, state: str, kind: str, message: str) -> None:
        """Of a worker's configuration that has no result; what hindered it before the compiler
        had begun is not the configuration's fault."""
        index = worker.index
        if index is not None and index in self._left:
            state = state if worker.compiling else "skipped"
            self._end_of_one(index, Outcome(state, kind, message, True), worker.began)

    def _replace(self) -> None:
        if self._left:
            with contextlib.suppress(OSError):
                self._add_worker()

    # -- results ------------------------------------------------------------------------------
    def pump(self, timeout_s: float = 0.0) -> None:
        """Takes what the workers say, and waits up to `timeout_s` for the first of it."""
        poller = select.poll()
        for worker in self._workers:
            poller.register(worker.results, select.POLLIN)
        ready = {number for number, _ in poller.poll(max(timeout_s, 0.0) * 1000)}
        for worker in [each for each in self._workers if each.results in ready]:
            self._read(worker)
        self._stop_late()
        if not self._workers:
            for index in list(self._left):  # a worker was ended by others
                self._end_of_one(index, Outcome("skipped", "error", "no worker is left"), None)

    def _read(self, worker: _Worker) -> None:
        while True:
            try:
                data = os.read(worker.results, 65536)
            except BlockingIOError:
                return
            if not data:
                self._died(worker)
                return
            *lines, worker.buffer = (worker.buffer + data).split(b"\n")
            for line in lines:
                self._heard(worker, json.loads(line))

    def _heard(self, worker: _Worker, said: dict[str, Any]) -> None:
        if said["state"] == "begun":
            worker.index, worker.began, worker.compiling = said["index"], said["at"], False
        elif said["state"] == "compiling":
            worker.compiling = True
        else:
            worker.index = None
            took_from = worker.began
            worker.began = time.monotonic()
            outcome = Outcome(said["state"], said.get("kind", ""), said.get("message", ""))
            self.totals.cpu_seconds += said["cpu_seconds"]
            self.seconds[said["index"]] = said["seconds"]
            self._end_of_one(said["index"], outcome, took_from)

    def _end_of_one(self, index: int, outcome: Outcome, began: float | None) -> None:
        self._left.discard(index)
        self.outcomes[index] = outcome
        if began is not None:
            self.totals.ended = time.monotonic()
            took = self.seconds.get(index, self.totals.ended - began)
            self.totals.longest_s = max(self.totals.longest_s, took)

    # -- waiting ------------------------------------------------------------------------------
    def wait(self, index: int, tick: Tick) -> Outcome | None:
        """The outcome of one; None where the pool does not have it."""
        self._wait_while(lambda: index in self._left, tick)
        return self.outcomes.get(index)

    def wait_for_any(self, indexes: Sequence[int], tick: Tick) -> int:
        """The first of these that has an outcome, or that the pool does not have."""
        self._wait_while(lambda: all(index in self._left for index in indexes), tick)
        return next(index for index in indexes if index not in self._left)

    def wait_for_all(self, tick: Tick) -> None:
        self._wait_while(lambda: bool(self._left), tick)

    def _wait_while(self, waits: Callable[[], bool], tick: Tick) -> None:
        self.pump()
        while waits():
            began = [worker.began for worker in self._workers]
            limit = min(began, default=time.monotonic()) + self._deadline_s - time.monotonic()
            self.pump(min(_TICK_S, max(limit, 0.001)))
            if waits():
                tick()

    def longest_running(self) -> int | None:
        busy = [worker for worker in self._workers if worker.index is not None]
        return min(busy, key=lambda worker: worker.began).index if busy else None

    def end(self) -> None:
        """Kills every worker that is left. May be called again."""
        for worker in self._workers:
            _kill(worker)
        self._workers.clear()
        self._left.clear()
        if self._queue >= 0:
            os.close(self._queue)
            self._queue = -1


def _kill(worker: _Worker) -> None:
    """With the assembler it started, which has no other parent."""
    for pid in [*_children(worker.pid), worker.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    os.close(worker.results)
    _reap(worker.pid)


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]


def _reap(pid: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # this process lets the kernel reap
        return 0


def _end_of(code: int) -> str:
    if code >= 0:
        return f"ended its process with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-code).name}"
    return f"was killed by signal {-code}"
