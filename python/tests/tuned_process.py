# SPDX-License-Identifier: Apache-2.0
"""One process with a real Triton and without a device: what the scenarios of the tuning hooks use.

`python tuned_process.py MODULE...` runs every function `scene_*` of these modules, each in a forked
process, and prints {scene: value} as JSON. With OPGAUGE_LATE_HOOKS the modules are imported first
and hooks put on in each process, as in the child of a fork server.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opgauge_bridge import channel as wire  # noqa: E402
from opgauge_bridge.tuning import Hooks  # noqa: E402
from opgauge_bridge.tuning.autotuner import remember_tuners  # noqa: E402
from opgauge_bridge.tuning.imports import after_import  # noqa: E402

Message = dict[str, Any]


class FakeChannel:
    """Keeps what was said, as JSON carries it, and answers by rule."""

    def __init__(self) -> None:
        self.said: list[Message] = []
        self.answers: dict[str, Any] = {"winner": {"type": "tune", "exclude": []}}

    def tell(self, type_: str, **members: Any) -> int:
        text = json.dumps({"type": type_, **wire.jsonable(members)}, allow_nan=False)
        self.said.append(json.loads(text))
        return len(self.said)

    def ask(self, type_: str, **members: Any) -> Message:
        self.tell(type_, **members)
        answer = self.answers[type_]
        return answer(self.said[-1]) if callable(answer) else answer

    def of(self, *types: str) -> list[Message]:
        return [message for message in self.said if message["type"] in types]

    def types(self) -> list[str]:
        return [message["type"] for message in self.said]


channel = FakeChannel()
hooks = Hooks(channel, "none")  # type: ignore[arg-type]
LATE = bool(os.environ.get("OPGAUGE_LATE_HOOKS"))
if LATE:
    after_import({"triton.runtime.autotuner": remember_tuners})
else:
    hooks.install()

import triton  # noqa: E402
from triton.runtime.errors import OutOfResources  # noqa: E402

launches: list[Message] = []  # the options of each launch of a stub kernel
failing: dict[int, BaseException] = {}  # BLOCK to what its launch raises
times: dict[int, Any] = {}  # BLOCK to what the timer returns
timed: list[int] = []


def launch(*args: Any, grid: Any = None, warmup: bool = False, **options: Any) -> str:
    if options["BLOCK"] in failing:
        raise failing[options["BLOCK"]]
    launches.append(options)
    return "kernel"


def stub_bench(kernel_call: Callable[[], Any], quantiles: Any = None, **settings: Any) -> Any:
    kernel_call()
    block = launches[-1]["BLOCK"]
    timed.append(block)
    return times.get(block, [float(block), block - 0.5, block + 0.5])


class FakeDriver:
    def get_benchmarker(self) -> Any:
        return stub_bench

    def get_current_target(self) -> Any:
        return SimpleNamespace(backend="fake", arch=7, warp_size=32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0


triton.runtime.driver.set_active(FakeDriver())


def out_of_resources() -> BaseException:
    return OutOfResources(300000, 232448, "shared memory")


@triton.jit
def stub_kernel(x, n, BLOCK: triton.language.constexpr):
    pass


stub_kernel.run = launch


def configs_of(*blocks: int, **options: Any) -> list[Any]:
    return [triton.Config({"BLOCK": block}, **options) for block in blocks]


def tuner_of(*blocks: int, kernel: Any = stub_kernel, **options: Any) -> Any:
    """A plain tuner of a kernel, keyed by its argument `n`."""
    configs = options.pop("configs", None) or configs_of(*blocks)
    return triton.autotune(configs=configs, key=["n"], **options)(kernel)


def fields(block: int) -> Message:
    """A stub kernel's configuration, as it stands in messages."""
    return {name: value for name, value in configs_of(block)[0].all_kwargs().items()}


def blocks(configs: list[Message]) -> list[int]:
    return [config["BLOCK"] for config in configs]


def raised(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def answer_use(config: Message) -> None:
    channel.answers["winner"] = {"type": "use", "config": config}


def _in_fork(scene: Callable[[], Any]) -> Any:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        if LATE:
            hooks.install()
        try:
            outcome = {"value": scene()}
        except BaseException:
            outcome = {"error": traceback.format_exc()}
        with os.fdopen(writer, "w") as end:
            json.dump(outcome, end)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as end:
        text = end.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else {"error": "the process ended without a word"}


def main(names: list[str]) -> None:
    found = {}
    for name in names:
        module = importlib.import_module(name)
        for scene, function in vars(module).items():
            if scene.startswith("scene_"):
                found[scene] = _in_fork(function)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    # The scenes import this module by its name.
    sys.modules["tuned_process"] = sys.modules["__main__"]
    main(sys.argv[1:])
