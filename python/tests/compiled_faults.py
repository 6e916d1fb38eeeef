# SPDX-License-Identifier: Apache-2.0
"""Scenes of an assembler that hangs or takes its worker with it; test_bridge_compile_ahead.py says
what must come of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from compiled_scenes import scale

import compiled_stage as theatre
import tuned_process as stage
from tuned_process import channel, triton

MARK = theatre.FOLDER / "assembler"
# Far more than any other compile takes.
DEADLINE_S = 6


def _configs(fault: str, *bad: int) -> list[Any]:
    """A pre-hook tells the assembler, which is a process of the worker, what to do."""
    main = os.getpid()

    def hook(args: dict[str, Any]) -> None:
        os.environ.pop(fault, None)
        if os.getpid() != main and args["BLOCK"] in bad:
            os.environ[fault] = str(MARK)

    return [triton.Config({"BLOCK": block}, pre_hook=hook) for block in (16, 32, 64)]


def _run(configs: list[Any]) -> dict[str, Any]:
    theatre.begin(compile_deadline_s=DEADLINE_S)
    tuner = triton.autotune(configs=configs, key=["n"])(scale)
    outcome = stage.raised(lambda: tuner[(1,)](theatre.Tensor(), theatre.Tensor(), 100))
    return {
        "outcome": outcome,
        "types": [type_ for type_ in channel.types() if type_ != "event"],
        "children": theatre.children(),
        **(theatre.tell_facts() if channel.of("tuned") else {}),
    }


def scene_hangs() -> Any:
    found = _run(_configs("SLOW_PTXAS", 32))
    events = channel.of("event")
    return {
        **found,
        "assembler": _is_alive(int(MARK.read_text())),
        "event": [events[-1][name] for name in ("name", "kernel", "done", "total")],
        "waiting_for": events[-1]["waiting_for"].split(",")[0],
        "seconds": "seconds" in events[-1],
    }


def _is_alive(pid: int) -> bool:
    """One that was killed may be waiting for its reaper."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)
    return True


def scene_kills_its_worker() -> Any:
    return _run(_configs("DEADLY_PTXAS", 16, 64))


def scene_kills_every_worker() -> Any:
    """The tuner would take one of them all the same, and so end the process that times."""
    found = _run(_configs("DEADLY_PTXAS", 16, 32, 64))
    return {**found, "config": channel.of("tuned")[-1]["config"]}


def scene_winner_hangs() -> Any:
    configs = _configs("SLOW_PTXAS", 32)
    stage.answer_use(stage.fields(32))
    exclude = [stage.fields(32)]
    channel.answers["winner_failed"] = {"type": "tune", "exclude": exclude}
    found = _run(configs)
    failed = channel.of("winner_failed")[0]
    return {**found, "failed_kind": failed["kind"], "message": failed["message"]}


def scene_winner_compiles() -> Any:
    stage.answer_use(stage.fields(32))
    found = _run(_configs("SLOW_PTXAS"))
    return {**found, "begun": theatre.compiles.begun, "launched": len(theatre.launched)}
