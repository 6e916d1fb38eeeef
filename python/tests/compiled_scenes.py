# SPDX-License-Identifier: Apache-2.0
"""Scenes of kernels that are compiled ahead; test_bridge_compile_ahead.py says what must come of
them."""

from __future__ import annotations

from typing import Any

import triton.language as tl

import compiled_stage as theatre
from tuned_process import triton


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def _configs(*blocks: int, **options: Any) -> list[Any]:
    return [triton.Config({"BLOCK": block}, **options) for block in blocks]


def scene_plain() -> Any:
    theatre.begin()
    tuner = triton.autotune(configs=_configs(16, 32, 64, 128), key=["n"])(scale)
    tuner[(1,)](theatre.Tensor(), theatre.Tensor(), 100)
    return theatre.tell_facts()


def _run(configs: list[Any], kernel: Any = scale, n: int = 100, **tune: Any) -> dict[str, Any]:
    theatre.begin(**tune)
    tuner = triton.autotune(configs=configs, key=["n"])(kernel)
    tuner[(1,)](theatre.Tensor(), theatre.Tensor(), n)
    return theatre.tell_facts()


def scene_arguments() -> Any:
    """By name; a pointer that is not aligned, another that is none; a number that is 1."""

    @triton.jit
    def kernel(x, y, z, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)

    theatre.begin()
    tuner = triton.autotune(configs=_configs(16, 32), key=["n"])(kernel)
    tuner[(1,)](x=theatre.Tensor(1 << 20), y=theatre.Tensor(4100), z=None, n=1)
    return theatre.tell_facts()


def scene_not_specialized() -> Any:
    kernel = triton.jit(scale.fn, do_not_specialize=["n"])
    return _run(_configs(16, 32), kernel, n=64)


def scene_heuristics() -> Any:
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr, HALF: tl.constexpr, EVEN: tl.constexpr):
        at = tl.arange(0, HALF)
        if EVEN:
            tl.store(y + at, tl.load(x + at))

    values = {"HALF": lambda args: args["BLOCK"] // 2, "EVEN": lambda args: args["n"] % 2 == 0}
    return _run(_configs(16, 32, 64), triton.heuristics(values)(kernel))


def scene_pre_hook() -> Any:
    """It changes an argument, and with it how the kernel is specialised."""

    def move(args: dict[str, Any]) -> None:
        args["x"].address = 4096 if args["BLOCK"] == 32 else 4100

    return _run(_configs(16, 32, 64, pre_hook=move))


def scene_descriptor() -> Any:
    """Of TMA, whose block belongs to the kernel's signature; Triton 3.4 and later."""
    if triton.__version__ < "3.4":
        return None
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def kernel(desc, y, n, BLOCK: tl.constexpr):
        at = tl.arange(0, BLOCK)
        tl.store(y + at, desc.load([0, 0]).reshape(BLOCK))

    def shape(args: dict[str, Any]) -> None:
        args["desc"].block_shape = [1, args["BLOCK"]]

    theatre.begin()
    theatre.Driver.launcher_cls = lambda self, source, metadata: lambda *args: None
    tuner = triton.autotune(configs=_configs(16, 32, 64, pre_hook=shape), key=["n"])(kernel)
    desc = TensorDescriptor(theatre.Tensor(), [64, 64], [64, 1], [1, 16])
    tuner[(1,)](desc, theatre.Tensor(), 100)
    return theatre.tell_facts()


def scene_pre_hook_wants_the_device() -> Any:
    """Then its configuration is compiled where the device is, and is no failure."""
    main = theatre.os.getpid()

    def hook(args: dict[str, Any]) -> None:
        if theatre.os.getpid() != main and args["BLOCK"] == 32:
            raise RuntimeError("CUDA error: initialization error")

    return _run(_configs(16, 32, 64, pre_hook=hook))


def scene_does_not_compile() -> Any:
    @triton.jit
    def kernel(x, y, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK != 32, "not this one")
        if BLOCK == 64:
            y.no_such_method()
        tl.store(y, tl.load(x))

    return _run(_configs(16, 32, 64, 128), kernel)


def scene_equal_configurations_in_another_order() -> Any:
    """As a corpus's own policy may ask for them, and not for all."""

    def policy(tuner: Any, kwargs: dict[str, Any]) -> list[Any]:
        return _configs(64, 16)

    theatre.begin()
    tuner = triton.autotune(configs=_configs(16, 32, 64, 128), key=["n"])(scale)
    pruned = tuner.prune_configs

    def prune_configs(kwargs: Any) -> Any:
        pruned(kwargs)
        return policy(tuner, kwargs)

    tuner.prune_configs = prune_configs
    tuner[(1,)](theatre.Tensor(), theatre.Tensor(), 100)
    facts = theatre.tell_facts()
    return {name: facts[name] for name in ("hits", "misses", "timed")}


def scene_not_overlapped() -> Any:
    facts = _run(_configs(16, 32, 64, 128), overlap=False)
    return {"known": theatre.timed, "ahead": facts["ahead"], "hits": facts["hits"]}


def scene_a_key_of_known_kernels() -> Any:
    """Triton has them in memory by then."""
    theatre.begin()
    tuner = triton.autotune(configs=_configs(16, 32), key=["n"])(scale)
    for n in (100, 200):
        tuner[(1,)](theatre.Tensor(), theatre.Tensor(), n)
    return [message["compile"]["hits"] for message in theatre.channel.of("tuned")]


def scene_exception() -> Any:
    """The tuner gives up in the middle."""
    theatre.begin()
    tuner = triton.autotune(configs=_configs(16, 32, 64, 128), key=["n"])(scale)
    tuner.do_bench = None
    try:
        tuner[(1,)](theatre.Tensor(), theatre.Tensor(), 100)
    except TypeError:
        return theatre.children()
    return "no exception"


def _serial(backend: str) -> Any:
    theatre.begin()
    ahead = theatre.Ahead(theatre.channel.tell, backend, {"compile_jobs": 2})
    theatre.hooks.runs._ahead = ahead
    tuner = triton.autotune(configs=_configs(16, 32), key=["n"])(scale)
    for n in (100, 200):
        tuner[(1,)](theatre.Tensor(), theatre.Tensor(), n)
    told = theatre.channel.of("tuned")[-1]
    logs = [[log["level"], log["text"]] for log in theatre.channel.of("log")]
    return {"logs": logs, "compile": "compile" in told, "timed": told["timed"]}


def scene_serial_backend() -> Any:
    return _serial("musa")


def scene_no_fork() -> Any:
    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    theatre.os.fork = fork
    return _serial("fake")
