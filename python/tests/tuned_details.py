# SPDX-License-Identifier: Apache-2.0
"""Scenes of what a configuration and a kernel's source are made of; test_bridge_tuning_details.py
says what must come of them."""

from __future__ import annotations

import importlib
import inspect
import json
import linecache
import sys
import tempfile
from pathlib import Path
from typing import Any

import triton.language as tl

import tuned_process as stage
from opgauge_bridge.tuning import configs, imports
from opgauge_bridge.tuning.source_hash import kernel_source_hash
from tuned_process import channel, hooks, triton

FOLDER = tempfile.mkdtemp()
sys.path.insert(0, FOLDER)


def _module(name: str, text: str) -> Any:
    (Path(FOLDER) / f"{name}.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def _typed(block: int, dtype: Any, **options: Any) -> Any:
    return triton.Config({"BLOCK": block, "TYPE": dtype, "NONE": None}, **options)


def scene_values_that_json_has_not() -> Any:
    tuner = stage.tuner_of(configs=[_typed(16, tl.float16), _typed(32, tl.float32)])
    own, other = (configs.fields_of(config) for config in tuner.configs)
    stored = {name: value for name, value in other.items() if name != "TYPE"}
    even = triton.Config({"EVEN": 1})
    made = configs.own_config(tuner, {**other, "BLOCK": 64})
    return {
        "fields": [own["BLOCK"], own["TYPE"], "NONE" in own],
        "json": json.loads(json.dumps(own)) == own,
        "own": configs.own_config(tuner, other) is tuner.configs[1],
        "of_a_store_of_numbers": configs.own_config(tuner, stored) is tuner.configs[1],
        "made": [made.kwargs["BLOCK"], made.kwargs["TYPE"] is tl.float32, made.num_warps],
        "other_warps": configs.matches(tuner.configs[1], {**other, "num_warps": 8}),
        "one_more": configs.matches(tuner.configs[1], {**other, "MORE": 1}),
        "lacks_a_number": configs.matches(tuner.configs[1], {"TYPE": other["TYPE"]}),
        "truth": configs.matches(triton.Config({"EVEN": True}), configs.fields_of(even)),
    }


def scene_pre_hooks() -> Any:
    """A configuration made anew has a pre-hook only where all of the list have the same."""
    one, two = (lambda args: 1), (lambda args: 2)
    made = {}
    for name, hooks_ in {"same": (one, one), "some": (one, None), "two": (one, two)}.items():
        tuner = stage.tuner_of(
            configs=[
                triton.Config({"BLOCK": block}, pre_hook=hook)
                for block, hook in zip((16, 32), hooks_, strict=True)
            ]
        )
        made[name] = configs.own_config(tuner, stage.fields(64)).pre_hook is one
    return made


def scene_emptied_cache() -> Any:
    stage.answer_use(stage.fields(32))
    tuner = stage.tuner_of(16, 32)
    for _ in range(2):
        tuner[(1,)](None, 100)
        tuner.cache.clear()
    tuner.cache = {}
    tuner[(1,)](None, 100)
    return {"types": channel.types(), "timed": stage.timed, "ids": sorted(hooks.runs.launched)}


def scene_other_arguments_as_key() -> Any:
    """The same kernel and list, keyed by another argument."""
    for names in (["n"], ["x"]):
        configs_ = stage.configs_of(16, 32)
        triton.autotune(configs=configs_, key=names)(stage.stub_kernel)[(1,)](100, 100)
    return [message["id"] for message in channel.of("winner")]


KERNEL = """
import triton
import triton.language as tl
import constants
DEFAULT = 3
TYPE = tl.float16
TABLE = {"a": [1, 2]}
def plain_helper(x):
    return x
@triton.jit
def odd(x):
    return even(x)
@triton.jit
def even(x):
    return odd(x)
def make(scale):
    @triton.jit
    def kernel(x, n, BLOCK: tl.constexpr, LATE: tl.constexpr = DEFAULT):
        local = n
        for index in range(n):
            local += index
        y = tl.load(x).to(TYPE) + constants.SCALE * scale + TABLE["a"][0]
        tl.store(x, even(y))
    return kernel
"""


def _hash(scale: int = 1, kernel: str = KERNEL, constant: int = 1) -> str:
    _module("constants", f"SCALE = {constant}\n")
    module = _module("kernels", kernel)
    found = kernel_source_hash(module.make(scale))
    for name in ("constants", "kernels"):
        del sys.modules[name]
    (Path(FOLDER) / "kernels.py").unlink()
    linecache.clearcache()
    return found


def scene_what_a_kernel_uses() -> Any:
    return {
        "first": _hash(),
        "again": _hash(),
        "enclosed": _hash(scale=2),
        "of_a_module": _hash(constant=2),
        "dtype": _hash(kernel=KERNEL.replace("TYPE = tl.float16", "TYPE = tl.float32")),
        "table": _hash(kernel=KERNEL.replace("[1, 2]", "[1, 3]")),
        "recursive": _hash(kernel=KERNEL.replace("return odd(x)", "return odd(x + 1)")),
        "local_name": _hash(kernel=KERNEL.replace("TABLE = {", "index = 7\nTABLE = {")),
        "unused_function": _hash(kernel=KERNEL.replace("    return x\n", "    return x + 1\n")),
    }


def scene_no_source() -> Any:
    return [kernel_source_hash(len), kernel_source_hash(lambda x: x), kernel_source_hash(None)]


def scene_after_import() -> Any:
    seen = []
    (Path(FOLDER) / "looked_for.py").write_text("VALUE = 1\ndef function():\n    pass\n")
    wanted = {
        "looked_for": lambda module: seen.append(["new", module.VALUE]),
        "tuned_process": lambda module: seen.append(["there", module is stage]),
        "no_such_module": lambda module: seen.append(["never", 0]),
    }
    imports.after_import(wanted)
    module = importlib.import_module("looked_for")
    return {
        "seen": seen,
        "missing": stage.raised(lambda: importlib.import_module("no_such_module")),
        "source": inspect.getsource(module.function),
    }
