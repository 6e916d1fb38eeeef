# SPDX-License-Identifier: Apache-2.0
"""Scenes of FlagGems' tuner whose configurations are raced; `flag_gems` as in tuned_flaggems."""

from __future__ import annotations

from typing import Any

import tuned_flaggems as corpus

import raced_stage as track
import tuned_process as stage
from tuned_process import channel


def _tuner(*blocks: int, **options: Any) -> Any:
    """Whose own timer is never called: the race puts another in its place."""
    track.begin()
    protocol = options.pop("protocol", ("triton_do_bench", 25, 100))
    tuner = corpus.tuner_of(*blocks, **options)
    tuner._benchmark_protocol = protocol
    return tuner


def scene_race() -> Any:
    tuner = _tuner(40, 20, 30, 21, 22)
    for _ in range(2):
        tuner[corpus.GRID](None, 100)
    return {**track.found(), "types": channel.types(), "best": tuner.best_config.kwargs["BLOCK"]}


def scene_graph() -> Any:
    tuner = _tuner(8, 16, 32, protocol=("triton_cuda_graph_replay_v1", 25, 100, 10, 10.0))
    tuner[corpus.GRID](None, 100)
    return track.found()


def scene_custom() -> Any:
    tuner = _tuner(16, 32, protocol=("custom_do_bench", -1, -1))
    tuner[corpus.GRID](None, 100)
    return {**track.found(), "stub": stage.timed}


def scene_policy() -> Any:
    tuner = _tuner(16, 32, policy="proposes")
    tuner[corpus.GRID](None, 100)
    return {**track.found(), "stub": stage.timed}


def scene_known_times() -> Any:
    """What the store has need not be raced: here all but the evicted one."""
    tuner = _tuner(16, 32, 64)
    with tuner.use_run_mode("force_policy"):
        for _ in range(2):
            tuner[corpus.GRID](None, 100)
    tuned = channel.of("tuned")
    return [[message["timed"], len(message["timings"]), "timing" in message] for message in tuned]
