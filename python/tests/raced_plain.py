# SPDX-License-Identifier: Apache-2.0
"""Scenes of plain @triton.autotune whose configurations are raced; test_bridge_tuning_race.py says
what must come of them."""

from __future__ import annotations

from typing import Any

import raced_stage as track
import tuned_process as stage
from tuned_process import channel, triton


def _run(*blocks: int, **options: Any) -> dict[str, Any]:
    track.begin()
    tuner = stage.tuner_of(*blocks, **options)
    error = stage.raised(lambda: tuner[(1,)](None, 100))
    return {**track.found(), "error": error, "best": tuner.best_config.kwargs["BLOCK"]}


def scene_race() -> Any:
    return _run(40, 20, 30, 21, 22, 20000)


def scene_two_keys() -> Any:
    track.begin()
    tuner = stage.tuner_of(16, 32)
    for n in (100, 200, 100):
        tuner[(1,)](None, n)
    return {"types": channel.types(), "calls": track.found()["calls"]}


def scene_graph() -> Any:
    """The tuner's own timer replays a graph: the cache stays as the calls leave it."""
    return _run(16, 8, 32, use_cuda_graph=True)


def scene_graph_of_a_long_kernel() -> Any:
    return _run(64, 80, 96, use_cuda_graph=True)


def scene_failures() -> Any:
    stage.failing[32] = stage.out_of_resources()
    return _run(16, 32, 64)


def scene_nothing_works() -> Any:
    track.begin()
    for block in (16, 32):
        stage.failing[block] = stage.out_of_resources()
    tuner = stage.tuner_of(16, 32)
    error = stage.raised(lambda: tuner[(1,)](None, 100))
    return {**track.found(), "error": error}


def scene_an_error_that_the_tuner_does_not_expect() -> Any:
    track.begin()
    stage.failing[32] = ValueError("a mistake")
    tuner = stage.tuner_of(16, 32, 64)
    outcome = stage.raised(lambda: tuner[(1,)](None, 100))
    return {"outcome": outcome, "types": channel.types(), "own": tuner.do_bench.__name__}


def scene_full() -> Any:
    """The hooks leave the tuner's timer alone where no race is asked for."""
    track.begin(timing="full")
    tuner = stage.tuner_of(16, 32)
    tuner.do_bench = stage.stub_bench
    tuner[(1,)](None, 100)
    facts = track.found()
    facts["timing"]["seconds"] = facts["timing"]["seconds"] >= 0
    return facts


def scene_own_timer() -> Any:
    track.begin()
    tuner = stage.tuner_of(16, 32)
    tuner.do_bench = stage.stub_bench
    for n in (100, 200):
        tuner[(1,)](None, n)
    return {**track.found(), "stub": stage.timed}


def scene_no_device() -> Any:
    """The backend's module has none."""
    track.begin(backend="cpu")
    tuner = stage.tuner_of(16, 32)
    tuner.do_bench = stage.stub_bench
    for n in (100, 200):
        tuner[(1,)](None, n)
    return {**track.found(), "stub": stage.timed}


def scene_pruned() -> Any:
    prune = {"early_config_prune": lambda configs, named, **_: configs[1:]}
    return _run(8, 16, 32, prune_configs_by=prune)


def scene_pruned_to_one() -> Any:
    prune = {"early_config_prune": lambda configs, named, **_: configs[1:2]}
    return _run(8, 16, 32, prune_configs_by=prune)


def scene_excluded() -> Any:
    channel.answers["winner"] = {"type": "tune", "exclude": [stage.fields(8)]}
    return _run(8, 16, 32)


def scene_equal_configurations() -> Any:
    return _run(configs=stage.configs_of(16, 16, 8))


def scene_a_late_winner() -> Any:
    """The first one is fast as long as it is alone; in the full timing another is faster."""
    samples = iter(range(1000))
    track.times[16] = lambda: 10_000.0 if next(samples) < 7 else 12_000.0
    track.times.update({32: 11_000.0, 64: 11_500.0, 128: 10_800.0, 256: 20_000.0})
    return _run(16, 32, 64, 128, 256)


class Tensor:
    def __init__(self, log: list[str]) -> None:
        self.log = log

    def zero_(self) -> None:
        self.log.append("zero")

    def clone(self) -> str:
        self.log.append("clone")
        return "copy"

    def copy_(self, other: str) -> None:
        self.log.append(f"restore {other}")


def scene_hooks() -> Any:
    """Around every call, timed or not, as the tuner's own timer would have it."""
    track.begin()
    log: list[str] = []
    configs = [
        triton.Config({"BLOCK": block}, pre_hook=lambda args: log.append(f"pre {args['BLOCK']}"))
        for block in (16, 32)
    ]
    tuner = stage.tuner_of(configs=configs, reset_to_zero=["x"], restore_value=["x"])
    run = track.launch

    def launch(*args: Any, **options: Any) -> Any:
        log.append(f"run {options['BLOCK']}")
        return run(*args, **options)

    stage.stub_kernel.run = launch
    tuner[(1,)](Tensor(log), 100)
    return log


def scene_host_time() -> Any:
    """A host that takes a hundred times what the kernel takes."""
    track.HOST_NS = 1e6
    return _run(16, 8, 32)


def scene_launched_within_a_launch() -> Any:
    """A kernel's launch tunes another: each has its own race."""
    track.begin()
    inner, outer = stage.tuner_of(16, 32), stage.tuner_of(64, 128)

    def launch(*args: Any, **options: Any) -> Any:
        if options["BLOCK"] >= 64 and len(channel.of("tuned")) == 0:
            inner[(1,)](None, 100)
        return track.launch(*args, **options)

    stage.stub_kernel.run = launch
    outer[(1,)](None, 200)
    tuned = channel.of("tuned")
    return [[message["config"]["BLOCK"], message["timing"]["configs"]] for message in tuned]
