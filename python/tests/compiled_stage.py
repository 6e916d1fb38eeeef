# SPDX-License-Identifier: Apache-2.0
"""Real compiling on each Triton without a device: a driver, an assembler and a device library that
are stand-ins; all between them is Triton's own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FOLDER = Path(tempfile.mkdtemp())
PTXAS = """#!/bin/sh
case "$*" in *--version*)
    echo "Cuda compilation tools, release 12.4, V12.4.99"
    exit 0
esac
for word; do case "$word" in *.ptx) source=$word; ;; *.o) target=$word; ;; esac; done
if [ -n "$SLOW_PTXAS" ]; then echo $$ >"$SLOW_PTXAS"; exec sleep 600; fi
[ -z "$DEADLY_PTXAS" ] || kill -9 $PPID
cp "$source" "$target"
"""
(FOLDER / "ptxas").write_text(PTXAS)
(FOLDER / "ptxas").chmod(0o755)
(FOLDER / "libdevice.ll").write_text("")
os.environ["TRITON_PTXAS_PATH"] = str(FOLDER / "ptxas")
os.environ["TRITON_LIBDEVICE_PATH"] = str(FOLDER / "libdevice.ll")

from triton.backends.compiler import GPUTarget  # noqa: E402

from opgauge_bridge.tuning import compiles  # noqa: E402
from opgauge_bridge.tuning.ahead import Ahead  # noqa: E402
from tuned_process import channel, hooks, triton  # noqa: E402

launched: list[tuple[Any, ...]] = []
timed: list[Any] = []  # what was known of the pool when each was timed


class Driver:
    """Of a device that is not there. Only the process that made it may ask it."""

    utils = SimpleNamespace(
        get_device_properties=lambda device: {"max_shared_mem": 232448},
        load_binary=lambda name, kernel, shared, device: (object(), 1, 32, 0, 1024)[
            : 4 if triton.__version__ < "3.4" else 5
        ],
    )

    def launcher_cls(self, source: Any, metadata: Any) -> Any:
        return lambda *args: launched.append((metadata.num_warps, args))

    def get_benchmarker(self) -> Any:
        return bench

    def get_current_target(self) -> Any:
        return self._told("target", GPUTarget("cuda", 90, 32))

    def get_current_device(self) -> Any:
        return self._told("device", 0)

    def get_current_stream(self, device: int) -> Any:
        return self._told("stream", 0)

    def _told(self, what: str, value: Any) -> Any:
        if os.getpid() != self.owner:
            raise RuntimeError(f"a worker asks the driver for the {what}")
        return value

    owner = os.getpid()


def bench(kernel_call: Any, quantiles: Any = None, **settings: Any) -> Any:
    run = hooks.runs.running()
    timed.append(len(run.compiled.pool.outcomes) if run and run.compiled else None)
    kernel_call()
    return [1.0 + len(launched)] * 3


class Dtype:
    itemsize = 4

    def __str__(self) -> str:
        return "torch.float32"


class Tensor:
    """Of torch, as far as a launch looks at it."""

    def __init__(self, address: int = 1 << 20) -> None:
        self.dtype = FLOAT32
        self.address = address

    def data_ptr(self) -> int:
        return self.address


FLOAT32 = Dtype()


def begin(jobs: int = 2, **tune: Any) -> None:
    """In the scene's own process."""
    Driver.owner = os.getpid()
    triton.runtime.driver.set_active(Driver())
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(dir=FOLDER)
    hooks.runs._ahead = Ahead(channel.tell, "fake", {"compile_jobs": jobs, **tune})


def tell_facts() -> dict[str, Any]:
    """What the sweep told of compiling; times as truths."""
    told = channel.of("tuned")[-1]
    facts = dict(told["compile"])
    seconds = {name: facts.pop(name) for name in ("seconds", "cpu_seconds", "longest_s")}
    facts["times"] = all(value > 0 for value in seconds.values())
    del facts["waited_s"]
    failed = [[row["config"].get("BLOCK"), row["kind"], row["message"]] for row in told["failed"]]
    return {
        **facts,
        "failures": failed,
        "timed": told["timed"],
        "launched": len(launched),
        "begun": compiles.begun,
    }


def children() -> list[str]:
    """The living children of this process, workers too."""
    text = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    return text.split()
