# SPDX-License-Identifier: Apache-2.0
"""Stub kernels that queue scripted times on a device with a virtual clock, for scenes of raced
configurations."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import tuned_process as stage
from fake_device import L2_BYTES, FakeDevice
from opgauge_bridge.tuning.racing import Racing
from tuned_process import channel, hooks

FLUSH = f"fill {2 * L2_BYTES}"
HOST_NS = 30_000.0

os.environ["OPGAUGE_FAKE_CLOCK"] = __name__
made = FakeDevice()
module = made.module
times: dict[int, Any] = {}  # BLOCK to nanoseconds, or to a function that gives them


def device() -> FakeDevice:
    return made


def launch(*args: Any, **options: Any) -> Any:
    kernel = stage.launch(*args, **options)
    time = times.get(options["BLOCK"], options["BLOCK"] * 1000.0)
    module.launch(time() if callable(time) else time, HOST_NS)
    return kernel


def begin(backend: str = "fake", timing: str = "race") -> None:
    """In the scene's own process. A driver whose timer is Triton's own, which is never called."""
    import triton.testing

    racing = Racing(channel.tell, backend, {"timing": timing})
    hooks.runs._racing = racing
    hooks._desk._timer_name = racing.timer_name
    stage.stub_kernel.run = launch
    driver = stage.FakeDriver()
    driver.get_benchmarker = lambda: triton.testing.do_bench  # type: ignore[method-assign]
    triton.runtime.driver.set_active(driver)


def found() -> dict[str, Any]:
    """What was told, and which kernels ran how often."""
    tuned = channel.of("tuned")[-1]
    calls = Counter(options["BLOCK"] for options in stage.launches)
    return {
        "config": tuned["config"] and tuned["config"]["BLOCK"],
        "times": {row["config"]["BLOCK"]: row["times"] for row in tuned["timings"]},
        "failed": [[row["config"]["BLOCK"], row["kind"]] for row in tuned["failed"]],
        "timing": tuned.get("timing"),
        "timed": tuned["timed"],
        "timer": channel.of("winner")[-1]["facts"]["tuning_timer"],
        "calls": {str(block): count for block, count in calls.items()},
        "flushes": module.log.count(FLUSH),
        "buffer": made._flush_buffer is not None,
        "logs": [[log["level"], log["text"]] for log in channel.of("log")],
    }
