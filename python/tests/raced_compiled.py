# SPDX-License-Identifier: Apache-2.0
"""Scenes of kernels that are raced while others of their key compile; test_bridge_tuning_race.py
says what must come of them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import triton.language as tl

import compiled_stage as theatre
import raced_stage as track
from tuned_process import channel, hooks, triton

launched: list[int] = []  # the BLOCK of each launch


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK != 256, "not this one")
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at))


def _begin(jobs: int = 2) -> None:
    theatre.begin(jobs)
    track.begin()
    driver = theatre.Driver()
    driver.get_benchmarker = lambda: triton.testing.do_bench  # type: ignore[method-assign]
    # Warps tell the configurations apart: a launcher sees no BLOCK.
    driver.launcher_cls = lambda source, metadata: lambda *args: _launch(metadata.num_warps)
    triton.runtime.driver.set_active(driver)


def _launch(warps: int) -> None:
    launched.append(warps)
    track.module.launch({1: 12_000.0, 2: 10_000.0, 4: 11_000.0, 8: 90_000.0}[warps], 30_000.0)


def _configs(**options: Any) -> list[Any]:
    blocks = (16, 32, 64, 128)
    return [
        triton.Config({"BLOCK": block}, num_warps=1 << index, **options)
        for index, block in enumerate(blocks)
    ]


def _run(configs: list[Any]) -> dict[str, Any]:
    tuner = triton.autotune(configs=configs, key=["n"])(kernel)
    tuner[(1,)](theatre.Tensor(), theatre.Tensor(), 100)
    facts = theatre.tell_facts()
    told = channel.of("tuned")[-1]
    return {
        **{name: facts[name] for name in ("ahead", "hits", "misses", "failed", "timed")},
        "best": tuner.best_config.num_warps,
        "order": list(dict.fromkeys(launched)),
        "failures": facts["failures"],
        "dropped": told["timing"]["dropped"],
        "children": theatre.children(),
    }


def scene_compiled() -> Any:
    _begin()
    return _run(_configs())


def scene_one_compiles_late() -> Any:
    """The first one, until another has been launched; a race that waited for it would not end."""
    _begin()
    main, others = os.getpid(), Path(theatre.FOLDER) / f"others-{os.getpid()}"

    def hook(args: dict[str, Any]) -> None:
        if os.getpid() == main:
            if args["BLOCK"] != 16:
                others.touch()
        elif args["BLOCK"] == 16:
            while not others.exists():
                time.sleep(0.01)

    return _run(_configs(pre_hook=hook))


def scene_one_does_not_compile() -> Any:
    _begin()
    return _run([*_configs(), triton.Config({"BLOCK": 256})])


def scene_serial() -> Any:
    _begin(jobs=1)
    tuner = triton.autotune(configs=_configs(), key=["n"])(kernel)
    tuner[(1,)](theatre.Tensor(), theatre.Tensor(), 100)
    return {"best": tuner.best_config.num_warps, "pool": hooks.runs._ahead._jobs}
