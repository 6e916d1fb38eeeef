# SPDX-License-Identifier: Apache-2.0
"""Scenes of FlagGems' tuner and store. `flag_gems` is the stand-in of tuned_corpus, or real code
where OPGAUGE_FLAGGEMS is set; test_bridge_tuning_flaggems.py says what must come."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

FOLDER = tempfile.mkdtemp()
os.environ["FLAGGEMS_DB_URL"] = f"sqlite:///{FOLDER}/tuned.db"

import tuned_process as stage  # noqa: E402
from tuned_process import channel, hooks, triton  # noqa: E402

if os.environ.get("OPGAUGE_FLAGGEMS"):
    import tuned_real  # noqa: E402, F401

from flag_gems.utils.libentry import LibTuner, libentry, libtuner  # noqa: E402

GRID = (1,)


def tuner_of(*blocks: int, **options: Any) -> Any:
    configs = options.pop("configs", None) or stage.configs_of(*blocks)
    options.setdefault("do_bench", stage.stub_bench)
    return libtuner(configs=configs, key=["n"], **options)(stage.stub_kernel)


def files() -> list[str]:
    return [path.name for path in Path(FOLDER).rglob("*")]


def scene_record() -> Any:
    tuner = tuner_of(16, 32, 64, strategy="align32")
    stage.times[32] = [1.0, 0.9, 1.1]
    for n in (100, 101, 128, 129):
        tuner[GRID](None, n)
    return {
        "types": channel.types(),
        "winner": channel.of("winner")[0],
        "tuned": channel.of("tuned")[0],
        "keys": [[message["key"], message["raw_key"]] for message in channel.of("winner")],
        "space": tuner.config_table_name,
        "benchmark_space": tuner.benchmark_table_name,
        "protocol": list(tuner._benchmark_protocol),
        "own": tuner.best_config is tuner.configs[1],
        "timed": stage.timed,
        "ids": sorted(hooks.runs.launched),
        "files": files(),
    }


def scene_use() -> Any:
    called: list[int] = []
    configs = [
        triton.Config({"BLOCK": block}, pre_hook=lambda args, block=block: called.append(block))
        for block in (16, 32)
    ]
    tuner = tuner_of(configs=configs)
    stage.answer_use(stage.fields(32))
    for _ in range(2):
        tuner[GRID](None, 100)
    return {
        "types": channel.types(),
        "own": tuner.best_config is configs[1],
        "called": called,
        "timed": stage.timed,
        "files": files(),
    }


def scene_evicted() -> Any:
    tuner = tuner_of(16, 32, 64)
    stage.failing[32] = stage.out_of_resources()
    stage.answer_use(stage.fields(32))
    channel.answers["winner_failed"] = {"type": "tune", "exclude": [stage.fields(32)]}
    for _ in range(2):
        tuner[GRID](None, 100)
    return {
        "types": channel.types(),
        "can_drop": channel.of("winner_failed")[0]["can_drop"],
        "timed": stage.timed,
        "best": tuner.best_config.kwargs["BLOCK"],
        "timings": [row["config"]["BLOCK"] for row in channel.of("tuned")[0]["timings"]],
    }


def scene_launches_that_the_tuner_does_not_see() -> Any:
    entry = libentry()(tuner_of(16, 32))
    # What of a kernel LibEntry launches itself.
    seen = []
    for n in (100, 200, 100, 200):
        hooks.runs.launched.clear()
        _launch(entry, n)
        seen.append(sorted(hooks.runs.launched))
    return {"seen": seen, "asked": len(channel.of("winner"))}


class Kernel:
    """Compiled, as far as LibEntry looks at it."""

    def __getitem__(self, grid: Any) -> Any:
        return lambda *args: None


def _launch(entry: Any, n: int) -> None:
    stage.stub_kernel.run = lambda *args, **options: stage.launch(*args, **options) and Kernel()
    entry[GRID](None, n)


@LibTuner.register_policy("proposes")
def proposes(self: Any, bench: Any, configs: Any, args: Any, kwargs: Any) -> Any:
    """Looks beyond the list, and times some twice."""
    found = [*configs, *stage.configs_of(256)]
    timings = {config: bench(config) for config in found}
    best = min(found, key=lambda config: bench(config)[0])
    return best, timings


def scene_policy() -> Any:
    stage.times[256] = [0.5, 0.5, 0.5]
    tuner = tuner_of(16, 32, policy="proposes")
    for _ in range(2):
        tuner[GRID](None, 100)
    tuned = channel.of("tuned")[0]
    return {
        "types": channel.types(),
        "best": tuned["config"]["BLOCK"],
        "timed": stage.timed,
        "count": tuned["timed"],
        "timings": [row["config"]["BLOCK"] for row in tuned["timings"]],
        "launched": stage.launches[-1]["BLOCK"],
    }


def scene_policy_may_not_propose_what_is_excluded() -> Any:
    exclude = [stage.fields(block) for block in (16, 256)]
    channel.answers["winner"] = {"type": "tune", "exclude": exclude}
    tuner = tuner_of(16, 32, 64, policy="proposes")
    tuner[GRID](None, 100)
    tuned = channel.of("tuned")[0]
    return {
        "best": tuned["config"]["BLOCK"],
        "timed": stage.timed,
        "timings": [row["config"]["BLOCK"] for row in tuned["timings"]],
    }


def scene_run_modes() -> Any:
    """The tuner passes over its store: told all the same, and not remembered."""
    tuner = tuner_of(16, 32)
    with tuner.use_run_mode("force_policy"):
        tuner[GRID](None, 100)
    forced = channel.types()
    first = list(stage.timed)
    tuner[GRID](None, 100)
    tuned = channel.of("tuned")
    return {
        "forced": forced,
        "types": channel.types(),
        "first": first,
        "timed": stage.timed,
        "told": [[message["id"], message["timed"], len(message["timings"])] for message in tuned],
        "config": tuned[0]["config"]["BLOCK"],
        "files": files(),
    }


def scene_failures_are_not_remembered() -> Any:
    stage.failing[32] = stage.out_of_resources()
    tuner = tuner_of(16, 32)
    with tuner.use_run_mode("force_policy"):
        for _ in range(2):
            tuner[GRID](None, 100)
    return [
        [failure["config"]["BLOCK"] for failure in told["failed"]] for told in channel.of("tuned")
    ]


def scene_tables() -> Any:
    """FlagTune names other tables for other modes: each is a space of its own."""
    tuner = tuner_of(16, 32)
    tuner[GRID](None, 100)
    if hasattr(tuner, "_set_configs_and_strategy"):
        tuner._set_configs_and_strategy(stage.configs_of(64, 128), "default")
    else:
        tuner.configs = stage.configs_of(64, 128)
        tuner._name_tables("expanded")
    tuner[GRID](None, 100)
    asked = channel.of("winner")
    return {
        "spaces": len({message["space"] for message in asked}),
        "digests": len({message["facts"]["config_list_digest"] for message in asked}),
        "timed": stage.timed,
        "last": tuner.config_table_name == asked[1]["space"],
    }


def scene_single_config() -> Any:
    tuner = tuner_of(16)
    tuner[GRID](None, 100)
    return {"said": channel.said, "files": files()}


def scene_chosen_by_the_corpus() -> Any:
    """A corpus may store a choice without tuning."""
    tuner = tuner_of(16, 32)
    config = tuner.configs[1]
    tuner.cache[(100,)] = config
    tuner[GRID](None, 100)
    return {"own": tuner.best_config is config, "types": channel.types(), "files": files()}


def scene_hooked() -> Any:
    tuner_of(16, 32)
    hooks.tell_hooked()
    event = channel.said[0]
    return {"model": event["model"], "tuners": event["tuners"] >= 3}
