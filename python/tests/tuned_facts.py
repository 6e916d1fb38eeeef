# SPDX-License-Identifier: Apache-2.0
"""Scenes of what a winner is kept for; test_bridge_tuning_plain.py says what must come of them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import tuned_process as stage
from tuned_process import channel, hooks, triton


def scene_two_tuners() -> Any:
    """Of one name, with another body, and once more the very same."""
    source = "import triton\n@triton.jit\ndef kernel(x, n, BLOCK: triton.language.constexpr):\n"
    first, second = (
        _module(f"two_{index}", source + f"    y = x + {index}\n").kernel for index in (1, 2)
    )
    for kernel in (first, second):
        kernel.run = stage.launch
    for kernel in (first, second, second):
        stage.tuner_of(16, 32, kernel=kernel)[(1,)](None, 100)
    asked = channel.of("winner")
    return {
        "kernels": [message["kernel"] for message in asked],
        "ids": [message["id"] for message in asked],
        "hashes": len({message["facts"]["kernel_source_hash"] for message in asked}),
        "tuned": len(channel.of("tuned")),
        "launched": sorted(hooks.runs.launched),
    }


def _module(name: str, text: str, folder: str = "") -> Any:
    folder = folder or tempfile.mkdtemp()
    (Path(folder) / f"{name}.py").write_text(text)
    sys.path.insert(0, folder)
    module = __import__(name)
    del sys.modules[name]
    return module


SOURCE = """
import triton
import triton.language as tl
SCALE = tl.constexpr(SCALE_VALUE)
UNUSED = 1
@triton.jit
def helper(x):
    return HELPER
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    y = helper(x) * SCALE
    tl.store(x, y)
"""


def _hashes(scale: str = "2", helper: str = "x + 1", change: tuple[str, str] = ("", "")) -> Any:
    from opgauge_bridge.tuning.facts import facts_of

    text = SOURCE.replace("SCALE_VALUE", scale).replace("HELPER", helper)
    kernel = _module("sources", text.replace(*change) if change[0] else text).kernel
    facts = facts_of(stage.tuner_of(16, 32, kernel=triton.heuristics({"n": lambda _: 1})(kernel)))
    return [facts.kernel_source_hash, facts.triton_source_hash, facts.kernel]


RULES = """
import triton
LIMIT = 8
def size(args):
    return FIRST
@triton.heuristics({"n": size, "m": lambda args: SECOND + LIMIT})
@triton.jit
def kernel(x, n, m, BLOCK: triton.language.constexpr):
    y = x
"""


def scene_heuristics() -> Any:
    from opgauge_bridge.tuning.facts import facts_of

    found = []
    for first, second in [("1", "2"), ("1  # a comment", "2"), ("3", "2"), ("1", "4")]:
        kernel = _module("rules", RULES.replace("FIRST", first).replace("SECOND", second)).kernel
        found.append(facts_of(stage.tuner_of(16, 32, kernel=kernel)).kernel_source_hash)
    return found


def scene_source_hashes() -> Any:
    comment = "# a comment\n\n@triton.jit\ndef kernel"
    return {
        "first": _hashes(),
        "again": _hashes(),
        "comment": _hashes(change=("@triton.jit\ndef kernel", comment)),
        "comment_inside": _hashes(change=("    tl.store", "    # why\n\n    tl.store")),
        "unused_global": _hashes(change=("UNUSED = 1", "UNUSED = 2")),
        "code": _hashes(change=("tl.store(x, y)", "tl.store(x, y + 1)")),
        "global": _hashes(scale="3"),
        "helper": _hashes(helper="x + 2"),
    }


def scene_digests() -> Any:
    from opgauge_bridge.tuning.facts import config_list_digest

    def of(*blocks: int, **options: Any) -> str:
        return config_list_digest(stage.configs_of(*blocks, **options))

    return {
        "order": of(16, 32) == of(32, 16),
        "more": of(16, 32) == of(16, 32, 64),
        "warps": of(16, 32) == of(16, 32, num_warps=8),
        "hook": of(16, 32) == of(16, 32, pre_hook=stage.launch),
    }


def custom_bench(kernel_call: Any, quantiles: Any) -> Any:
    return stage.stub_bench(kernel_call, quantiles)


def scene_timers() -> Any:
    import triton.testing

    from opgauge_bridge.tuning.facts import tuning_timer

    found = {
        "old_arguments": tuning_timer(stage.tuner_of(16, 32, warmup=3, rep=7)),
        "old_default": tuning_timer(stage.tuner_of(16, 32, warmup=3)),
        "graph": tuning_timer(stage.tuner_of(16, 32, use_cuda_graph=True)),
    }
    tuner = stage.tuner_of(16, 32)
    tuner.do_bench = custom_bench
    found["custom"] = tuning_timer(tuner)
    tuner.do_bench = triton.testing.do_bench
    found["default"] = tuning_timer(tuner)
    return found
