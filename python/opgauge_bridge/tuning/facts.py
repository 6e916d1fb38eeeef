# SPDX-License-Identifier: Apache-2.0
"""Under what a tuner's choice holds: the facts that go with each question to the parent."""

from __future__ import annotations

import hashlib
import inspect
import sys
from typing import Any, NamedTuple

from .configs import fields_of, plain, qualified_name, text_of
from .source_hash import jit_function, kernel_source_hash, rules_of

_DEFAULT_WARMUP_MS = 25
_DEFAULT_REP_MS = 100


class Facts(NamedTuple):
    """Texts; "" is unknown."""

    kernel: str
    kernel_source_hash: str
    triton_source_hash: str
    config_list_digest: str
    tuning_timer: str
    compiler: str

    def message(self) -> dict[str, str]:
        return {name: value for name, value in self._asdict().items() if name != "kernel"}


# By identity, with the object, so that the identity stays its own.
_sources: dict[tuple[int, ...], tuple[Any, str, str]] = {}
_digests: dict[int, tuple[Any, str]] = {}
_compiler: str | None = None


def facts_of(tuner: Any) -> Facts:
    kernel = jit_function(tuner)
    ours, tritons = _source_hashes(kernel, rules_of(tuner))
    name = getattr(getattr(tuner, "base_fn", None), "__name__", "") or kernel.__name__
    digest = config_list_digest(tuner.configs)
    return Facts(name, ours, tritons, digest, tuning_timer(tuner), compiler())


def _source_hashes(kernel: Any, rules: list[tuple[str, Any]]) -> tuple[str, str]:
    key = (id(kernel), *(id(rule) for _, rule in rules))
    known = _sources.get(key)
    if known is None:
        known = ((kernel, rules), kernel_source_hash(kernel, rules), _triton_hash(kernel))
        _sources[key] = known
    return known[1], known[2]


def _triton_hash(kernel: Any) -> str:
    # It refuses kernels whose globals contradict each other; so will the launch, in its own words.
    try:
        return str(getattr(kernel, "cache_key", ""))
    except Exception:
        return ""


def config_list_digest(configs: list[Any]) -> str:
    """Of the whole list before pruning, in any order, with the pre-hooks' names."""
    known = _digests.get(id(configs))
    if known is None:
        known = (configs, _digest(configs))
        _digests[id(configs)] = known
    return known[1]


def _digest(configs: list[Any]) -> str:
    lines = []
    for config in configs:
        hook = config.pre_hook
        lines.append(f"{text_of(fields_of(config))} {qualified_name(hook) if hook else ''}")
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "replace")).hexdigest()


def tuning_timer(tuner: Any) -> str:
    """What times the configurations, with its settings."""
    protocol = getattr(tuner, "_benchmark_protocol", None)
    try:
        timer = tuner.do_bench
    except Exception:  # no active driver
        timer = None
    if protocol is not None:
        own = "custom" in str(protocol[0]) and timer is not None
        return repr(tuple(protocol)) + (f" {qualified_name(timer)}" if own else "")
    if timer is None:
        return ""
    return _wrapped_timer(tuner, timer) or _named_timer(timer)


def _wrapped_timer(tuner: Any, timer: Any) -> str:
    """Triton's lambdas around its own timers, made of the decorator's old arguments."""
    if qualified_name(timer) != "triton.runtime.autotuner.Autotuner.__init__.<locals>.<lambda>":
        return ""
    warmup = getattr(tuner, "num_warmups", None)
    rep = getattr(tuner, "num_reps", None)
    rep = _DEFAULT_REP_MS if rep is None else rep
    if "do_bench_cudagraph" in timer.__code__.co_freevars:
        return f"triton.do_bench_cudagraph rep={rep}"
    return f"triton.do_bench warmup={_DEFAULT_WARMUP_MS if warmup is None else warmup} rep={rep}"


def _named_timer(timer: Any) -> str:
    name = qualified_name(timer)
    if name.startswith("triton."):
        name = f"triton.{name.rsplit('.', 1)[1]}"
    try:
        parameters = inspect.signature(timer).parameters
    except (TypeError, ValueError):
        return name
    settings = [
        f" {setting}={parameters[setting].default}"
        for setting in ("warmup", "rep")
        if setting in parameters and parameters[setting].default is not inspect.Parameter.empty
    ]
    return name + "".join(settings)


def compiler() -> str:
    """Asked at a launch, when the device is in use anyway."""
    global _compiler
    if _compiler is None:
        triton = sys.modules.get("triton")
        parts = ["triton", str(getattr(triton, "__version__", ""))]
        try:
            target = sys.modules["triton.runtime.driver"].driver.active.get_current_target()
            parts += [str(target.backend), str(target.arch)]
        except Exception:
            pass  # no such facts in this Triton
        _compiler = " ".join(part for part in parts if part)
    return _compiler


def raw_key(tuner: Any, args: Any, kwargs: dict[str, Any], key: Any) -> list[Any]:
    """`key` before the tuner normalised it; [] where that cannot be said."""
    names = list(getattr(tuner, "keys", None) or [])
    if not hasattr(tuner, "get_key"):
        return [plain(part) for part in key]
    named = {**dict(zip(tuner.arg_names, args, strict=False)), **kwargs}
    if any(name not in named for name in names):
        return []
    return [plain(named[name]) for name in names] + [plain(part) for part in key[len(names) :]]
