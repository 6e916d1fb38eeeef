# SPDX-License-Identifier: Apache-2.0
"""Scenes of plain @triton.autotune; test_bridge_tuning_plain.py says what must come of them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import tuned_process as stage
from tuned_process import channel, hooks, triton


def scene_record() -> Any:
    tuner = stage.tuner_of(16, 32, 64)
    stage.times[32] = [1.0, 0.9, 1.1]
    for n in (100, 100, 200):
        tuner[(1,)](stage.SimpleNamespace(dtype="fp16"), n)
    return {
        "types": channel.types(),
        "winner": channel.of("winner")[0],
        "tuned": channel.of("tuned")[0],
        "keys": [message["key"] for message in channel.of("winner")],
        "launched": [options["BLOCK"] for options in stage.launches],
        "ids": sorted(hooks.runs.launched),
        "counts": hooks._desk.counts(),
        "version": triton.__version__,
        "fields": stage.fields(32),
    }


def scene_use() -> Any:
    called = []
    configs = [
        triton.Config({"BLOCK": block}, pre_hook=lambda args, block=block: called.append(block))
        for block in (16, 32)
    ]
    tuner = stage.tuner_of(configs=configs)
    stage.answer_use(stage.fields(32))
    for _ in range(3):
        tuner[(1,)](None, 100)
    return {
        "types": channel.types(),
        "own": tuner.best_config is configs[1],
        "called": called,
        "timed": stage.timed,
        "counts": hooks._desk.counts(),
    }


def scene_use_of_a_config_that_is_not_in_the_list() -> Any:
    called = []

    def pre_hook(args: Any) -> None:
        called.append(args["BLOCK"])

    tuner = stage.tuner_of(configs=stage.configs_of(16, 32, pre_hook=pre_hook))
    stage.answer_use({**stage.fields(128), "num_warps": 2})
    tuner[(1,)](None, 100)
    return {"called": called, "launches": stage.launches[0], "fields": stage.fields(128)}


def scene_exclude() -> Any:
    tuner = stage.tuner_of(16, 32, 64)
    exclude = [stage.fields(16)]
    channel.answers["winner"] = {"type": "tune", "exclude": exclude}
    tuner[(1,)](None, 100)
    return {"timed": stage.timed, "best": tuner.best_config.kwargs["BLOCK"]}


def scene_exclude_all() -> Any:
    tuner = stage.tuner_of(16, 32)
    exclude = [stage.fields(block) for block in (16, 32)]
    channel.answers["winner"] = {"type": "tune", "exclude": exclude}
    return stage.raised(lambda: tuner[(1,)](None, 100))


def scene_only() -> Any:
    tuner = stage.tuner_of(16, 32, 64)
    only = [stage.fields(block) for block in (32, 64, 128)]
    channel.answers["winner"] = {"type": "tune", "only": only, "exclude": [stage.fields(32)]}
    tuner[(1,)](None, 100)
    return {"timed": stage.timed, "best": tuner.best_config.kwargs["BLOCK"]}


def scene_only_unknown() -> Any:
    """Nothing of what was named is a candidate here."""
    tuner = stage.tuner_of(16, 32)
    channel.answers["winner"] = {"type": "tune", "only": [stage.fields(128)]}
    tuner[(1,)](None, 100)
    return {"timed": stage.timed}


def scene_bad_timings() -> Any:
    """The first is NaN, the second does not compile, the third is infinite, the last works."""
    stage.times.update({16: [float("nan")] * 3, 64: [float("inf")] * 3})
    stage.failing[32] = stage.out_of_resources()
    tuner = stage.tuner_of(16, 32, 64, 128)
    tuner[(1,)](None, 100)
    return {"tuned": channel.of("tuned")[0], "best": tuner.best_config.kwargs["BLOCK"]}


def scene_nothing_works() -> Any:
    for block in (16, 32):
        stage.failing[block] = stage.out_of_resources()
    tuner = stage.tuner_of(16, 32)
    error = stage.raised(lambda: tuner[(1,)](None, 100))
    return {"error": error, "types": channel.types(), "tuned": channel.of("tuned")[0]}


def _fails(error: BaseException, answer: Any, **options: Any) -> Any:
    stage.failing[32] = error
    stage.answer_use(stage.fields(32))
    channel.answers["winner_failed"] = answer
    tuner = options.pop("tuner", None) or stage.tuner_of(16, 32, 64)
    outcome = stage.raised(lambda: tuner[(1,)](None, 100))
    return {
        "outcome": outcome,
        "types": channel.types(),
        "failed": channel.of("winner_failed"),
        "timed": stage.timed,
        "launched": [options["BLOCK"] for options in stage.launches],
        "ids": sorted(hooks.runs.launched),
        "tuner": tuner,
    }


def _tune() -> Any:
    return {"type": "tune", "exclude": [stage.fields(32)]}


def scene_evicted() -> Any:
    found = _fails(stage.out_of_resources(), _tune())
    tuner = found.pop("tuner")
    tuner[(1,)](None, 100)
    return {**found, "later": channel.types(), "best": tuner.best_config.kwargs["BLOCK"]}


def scene_evicted_for_a_timeout() -> Any:
    error = RuntimeError("the compiler did not end")
    error.__cause__ = TimeoutError("60 s")
    found = _fails(error, _tune())
    return {name: found[name] for name in ("outcome", "failed")}


def scene_evicted_for_an_error() -> Any:
    found = _fails(ValueError("first\nsecond"), _tune())
    return {name: found[name] for name in ("outcome", "failed")}


def scene_go() -> Any:
    found = _fails(ValueError("does not launch"), {"type": "go"})
    return {name: found[name] for name in ("outcome", "types", "launched", "ids")}


def scene_own_memory() -> Any:
    """A tuner whose own `run` may remember more than opgauge can make it forget."""

    class Remembers(triton.runtime.Autotuner):
        def run(self, *args: Any, **kwargs: Any) -> Any:
            return super().run(*args, **kwargs)

    configs = stage.configs_of(16, 32)
    tuner = Remembers(stage.stub_kernel, ["x", "n", "BLOCK"], configs, ["n"], [], [])
    found = _fails(ValueError("does not launch"), {"type": "go"}, tuner=tuner)
    return {name: found[name] for name in ("outcome", "types", "failed")}


def scene_out_of_memory() -> Any:
    class OutOfMemoryError(RuntimeError):
        pass

    return _fails(OutOfMemoryError("of the device"), _tune())["types"]


def scene_dead_device() -> Any:
    hooks._desk._alive = lambda: False
    return _fails(ValueError("lost"), _tune())["types"]


def scene_fails_later() -> Any:
    """A winner that ran once is not to blame."""
    stage.answer_use(stage.fields(32))
    tuner = stage.tuner_of(16, 32)
    tuner[(1,)](None, 100)
    stage.failing[32] = ValueError("later")
    return {"outcome": stage.raised(lambda: tuner[(1,)](None, 100)), "types": channel.types()}


def scene_single_config() -> Any:
    tuner = stage.tuner_of(16)
    tuner[(1,)](None, 100)
    return {"cache": type(tuner.cache).__name__, "said": channel.said, "timed": stage.timed}


def scene_disk_cache() -> Any:
    folder = tempfile.mkdtemp()
    os.environ["TRITON_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_AUTOTUNING"] = "1"
    options = {"cache_results": True} if _has_disk_cache() else {}
    tuner = stage.tuner_of(16, 32, **options)
    asked = bool(getattr(tuner, "cache_results", False))
    tuner[(1,)](None, 100)
    files = [path.name for path in Path(folder).rglob("*") if path.is_file()]
    return {"asked": asked, "files": files, "types": channel.types(), "has": _has_disk_cache()}


def _has_disk_cache() -> bool:
    return hasattr(triton.runtime.Autotuner, "check_disk_cache")


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


def scene_reset_and_restore() -> Any:
    log: list[str] = []
    tuner = stage.tuner_of(16, 32, reset_to_zero=["x"], restore_value=["x"])
    tuner[(1,)](Tensor(log), 100)
    return log


def scene_long_list() -> Any:
    configs = [triton.Config({"BLOCK": block, "NAME": "x" * 3000}) for block in range(1, 1001)]
    tuner = stage.tuner_of(configs=configs)
    tuner[(1,)](None, 100)
    tuned = channel.of("tuned")
    return {
        "more": [message.get("more", False) for message in tuned],
        "timings": sum(len(message["timings"]) for message in tuned),
        "short": all(len(str(message)) < 1 << 20 for message in tuned),
        "ids": len({message["id"] for message in tuned}),
        "best": tuned[-1]["config"]["BLOCK"],
    }


def scene_tunes_are_counted() -> Any:
    from opgauge_bridge import compiling

    tuner = stage.tuner_of(16, 32)
    counts = [compiling.count()]
    for n in (100, 100, 200):
        tuner[(1,)](None, n)
        counts.append(compiling.count())
    return counts


def scene_end() -> Any:
    tuner = stage.tuner_of(16, 32)
    hooks.tell_hooked()
    tuner[(1,)](None, 100)
    hooks.tell_end()
    return [message for message in channel.said if message["type"] in ("event", "log")]


def scene_unknown_cache() -> Any:
    class Cache:
        kept: dict[Any, Any] = {}

        def __contains__(self, key: Any) -> bool:
            return key in self.kept

        def __getitem__(self, key: Any) -> Any:
            return self.kept[key]

        def __setitem__(self, key: Any, config: Any) -> None:
            self.kept[key] = config

    tuner = stage.tuner_of(16, 32)
    tuner.cache = Cache()
    tuner[(1,)](None, 100)
    tuner[(1,)](None, 100)
    hooks.tell_end()
    return {"said": channel.said, "best": tuner.best_config.kwargs["BLOCK"]}


OF_THE_IMPORT = stage.tuner_of(16, 32)


def scene_tuner_of_the_import() -> Any:
    """Made where a corpus makes its own: before a fork server's children have hooks."""
    before = hooks._tuners.launched_unseen()
    OF_THE_IMPORT[(1,)](None, 100)
    return {
        "types": channel.types(),
        "timed": stage.timed,
        "launched": [before, hooks._tuners.launched_unseen()],
    }


def scene_stop() -> Any:
    """The child ends at once with 87; nobody comes back to tell."""
    channel.answers["winner"] = {"type": "stop", "reason": "replay miss"}
    pid = os.fork()
    if pid == 0:
        stage.tuner_of(16, 32)[(1,)](None, 100)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def scene_tuner_made_earlier() -> Any:
    """Its winners of before stay; they have no id."""
    tuner = stage.tuner_of(16, 32)
    config = tuner.configs[1]
    tuner.cache[(100,)] = config
    tuner[(1,)](None, 100)
    return {"best": tuner.best_config is config, "types": channel.types()}
