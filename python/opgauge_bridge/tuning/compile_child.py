# SPDX-License-Identifier: Apache-2.0
"""A forked worker of the compile pool: takes numbers from a pipe that all workers share and writes
one JSON line for each step to a pipe of its own. It must not call the device, and never returns."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

from .. import compiling
from ..channel import die_with_parent
from ..errors import causes_of, first_line
from . import compiles
from .desk import failure_kind

Task = Callable[[int], None]
NUMBER_BYTES = 4
# The process that times has its core to itself.
_NICE = 5
_LONGEST_MESSAGE = 500


def serve(task: Task, queue: int, results: int, parent: int) -> NoReturn:
    """The whole life of a worker, straight after its fork with all signals blocked."""
    try:
        _leave_parent(queue, results, parent)
        while True:
            number = os.read(queue, NUMBER_BYTES)
            if len(number) < NUMBER_BYTES:
                break
            _do(task, int.from_bytes(number, "little"), results)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)  # no handler, no destructor and no traceback of what is the parent's


def _leave_parent(queue: int, results: int, parent: int) -> None:
    die_with_parent()
    if os.getppid() != parent:
        os._exit(0)
    gc.freeze()  # what the parent left behind may want the device when it is collected
    gc.enable()
    faulthandler.disable()
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if signal.getsignal(number) not in (signal.SIG_DFL, signal.SIG_IGN, None):
            signal.signal(number, signal.SIG_DFL)
    _close_all_but(queue, results)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    with contextlib.suppress(OSError):
        os.nice(_NICE)


def _close_all_but(*kept: int) -> None:
    """The channel and other workers' pipes too, or nobody would see their end. pytest's capture
    has its own file objects; what it reads is behind 1 and 2."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):  # the listing's own
                os.close(int(name))
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="replace", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace", closefd=False)


def _do(task: Task, index: int, results: int) -> None:
    def tell(state: str, **members: Any) -> None:
        line = json.dumps({"index": index, "state": state, **members}) + "\n"
        os.write(results, line.encode("ascii"))

    begun, made = compiles.begun, compiling.count()
    began, cpu = time.monotonic(), _cpu_seconds()
    tell("begun", at=began)
    compiles.listener = lambda: tell("compiling")
    try:
        task(index)
        state, failure = "compiled", {}
    except BaseException as error:
        kind = failure_kind(error)
        message = _message(error)
        # Only the compiler's own failure is the configuration's. Any other is left to the process
        # that times it, which may meet none since it has the device.
        own = compiles.begun > begun and compiling.count() == made and not _wants_device(error)
        state = "failed" if own and kind else "skipped"
        failure = {"kind": kind or "error", "message": message}
    seconds = time.monotonic() - began
    tell(state, seconds=seconds, cpu_seconds=_cpu_seconds() - cpu, **failure)


def _message(error: BaseException) -> str:
    """A compiler's message begins with the place and ends with the reason."""
    first, last = first_line(error), (str(error).strip().splitlines() or [""])[-1].strip()
    return (first if last in first else f"{first} {last}")[:_LONGEST_MESSAGE]


def _cpu_seconds() -> float:
    """With the assembler, which is a process of its own."""
    return sum(os.times()[:4])


def _wants_device(error: BaseException) -> bool:
    """Frameworks say so where a forked process asks for the device."""
    texts = [str(each) for each in causes_of(error)]
    return any("forked subprocess" in text or "initialization error" in text for text in texts)
