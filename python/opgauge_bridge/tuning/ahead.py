# SPDX-License-Identifier: Apache-2.0
"""Has a key's configurations compiled by a pool of forked workers while they are timed; what a
worker has compiled, Triton finds in its cache folder. Serial where forking is not possible."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from .. import backends, compiling, spent
from ..turns import turn
from . import compiles
from .configs import fields_of, text_of
from .pool import Outcome, Pool

Tell = Callable[..., Any]
_DEFAULT_DEADLINE_S = 60.0


class PinnedDriver:
    """Triton's driver with what a launch asks it first as constants: a worker has no device."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self._device = driver.get_current_device()
        self._stream = driver.get_current_stream(self._device)
        self._target = driver.get_current_target()

    def get_current_device(self) -> Any:
        return self._device

    def get_current_stream(self, device: Any = None) -> Any:
        return self._stream

    def get_current_target(self) -> Any:
        return self._target

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)


def _warm_up(target: Any) -> None:
    """What Triton computes once in a process and every worker would compute again."""
    with contextlib.suppress(Exception):
        compiler = sys.modules["triton.compiler.compiler"]
        cache = sys.modules["triton.runtime.cache"]
        (getattr(cache, "triton_key", None) or compiler.triton_key)()
        compiler.make_backend(target).hash()


def _task(tuner: Any, args: Any, meta: dict[str, Any], configs: list[Any]) -> Callable[[int], None]:
    """Goes the way of the tuner's own launch, up to the launch."""
    config_of_driver = sys.modules["triton.runtime.driver"].driver
    pinned = PinnedDriver(config_of_driver.active)
    named = dict(getattr(tuner, "nargs", None) or zip(tuner.arg_names, args, strict=False))
    _warm_up(pinned.get_current_target())

    def compile_one(index: int) -> None:
        config_of_driver.set_active(pinned)
        options = configs[index].all_kwargs()
        if configs[index].pre_hook is not None:
            configs[index].pre_hook({**named, **meta, **options})
        tuner.fn.run(*args, **{**meta, "warmup": True}, **options)

    return compile_one


class Compilation:
    """One key's configurations in the pool."""

    def __init__(self, kernel: str, configs: list[Any], jobs: int, pool: Pool, tell: Tell) -> None:
        self.kernel = kernel
        self.configs = configs
        self.pool = pool
        self._jobs = min(jobs, len(configs))
        self._tell = tell
        self._by_object = {id(config): index for index, config in enumerate(configs)}
        self._by_text = {text_of(fields_of(each)): index for index, each in enumerate(configs)}
        self._told = 0.0
        self._waited_s = 0.0
        self._hits = 0
        self._misses = 0

    def _index(self, config: Any) -> int | None:
        """A policy may ask for an equal configuration of its own."""
        index = self._by_object.get(id(config))
        return self._by_text.get(text_of(fields_of(config))) if index is None else index

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        began = time.monotonic()
        self._told = began
        with spent.on(spent.COMPILE):
            yield
        self._waited_s += time.monotonic() - began

    def _tell_progress(self, index: int | None) -> None:
        now = time.monotonic()
        if now - self._told < 0.5:
            return
        self._told = now
        self._tell(
            "event",
            name="compiling",
            kernel=self.kernel,
            done=len(self.pool.outcomes),
            total=self.pool.total,
            waiting_for="" if index is None else str(self.configs[index]),
        )

    def wait(self, config: Any) -> Outcome | None:
        """Until this one is compiled or has failed; None where the pool never had it."""
        index = self._index(config)
        if index is None:
            return None
        with self._waiting():
            return self.pool.wait(index, functools.partial(self._tell_progress, index))

    def wait_for_any(self, configs: list[Any]) -> Any:
        """The first of these that need not be waited for, when there is one."""
        indexes = [self._index(config) for config in configs]
        if None in indexes:
            return configs[indexes.index(None)]
        known = [index for index in indexes if index is not None]
        with self._waiting():
            tick = functools.partial(self._tell_progress, known[0])
            return configs[known.index(self.pool.wait_for_any(known, tick))]

    def wait_for_all(self) -> None:
        with self._waiting():
            self.pool.wait_for_all(lambda: self._tell_progress(self.pool.longest_running()))

    def failure(self, config: Any) -> Outcome | None:
        """Why this one must not be launched: it would hang or end this process too."""
        index = self._index(config)
        outcome = None if index is None else self.pool.outcomes.get(index)
        return outcome if outcome and outcome.state == "failed" and outcome.ended_worker else None

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Around the tuner's own timing: whether Triton had to compile after all."""
        begun = compiles.begun
        try:
            yield
        finally:
            self._hits += compiles.begun == begun
            self._misses += compiles.begun != begun

    def facts(self) -> dict[str, Any]:
        """The member `compile` of the message `tuned`."""
        states = [outcome.state for outcome in self.pool.outcomes.values()]
        totals = self.pool.totals
        return {
            "jobs": self._jobs,
            "ahead": states.count("compiled"),
            "hits": self._hits,
            "misses": self._misses,
            "failed": states.count("failed"),
            "seconds": totals.ended - totals.began,
            "cpu_seconds": totals.cpu_seconds,
            "longest_s": totals.longest_s,
            "waited_s": self._waited_s,
        }


class Ahead:
    """Decides whether and how a pool is made; keeps what compiling each configuration took."""

    def __init__(self, tell: Tell, backend: str, tune: dict[str, Any]) -> None:
        self._tell = tell
        self._backend = backend
        self._jobs = int(tune.get("compile_jobs") or 1)
        self._overlap = bool(tune.get("overlap", True))
        self._deadline_s = float(tune.get("compile_deadline_s") or _DEFAULT_DEADLINE_S)
        self._said: set[str] = set()
        self._costs: dict[tuple[str, str], float] = {}

    def begin(
        self, tuner: Any, args: Any, meta: dict[str, Any], configs: list[Any]
    ) -> Compilation | None:
        """For a key that is about to be timed. None: each configuration compiles as it comes."""
        if len(configs) < 2:
            return None
        compilation = self._start(tuner, args, meta, configs)
        # Where others use the device in the meantime, nothing is won by timing while the rest
        # compiles.
        if compilation is not None and (not self._overlap or turn().shared):
            try:
                with turn().away():
                    compilation.wait_for_all()
            except BaseException:  # an interrupt: the workers must not go on
                self.end(compilation)
                raise
        return compilation

    def check(self, tuner: Any, args: Any, meta: dict[str, Any], config: Any) -> None:
        """Raises where compiling a replayed winner would hang or end this process; what else it
        may raise comes from its launch."""
        compilation = self._start(tuner, args, meta, [config])
        if compilation is None:
            return
        try:
            with turn().away():
                compilation.wait(config)
            failure = compilation.failure(config)
        finally:
            compilation.pool.end()
        if failure is not None:
            raise error_of(compilation.kernel, config, failure)

    def end(self, compilation: Compilation) -> None:
        """No longer compiles what was not asked for."""
        for index, seconds in compilation.pool.seconds.items():
            name = (compilation.kernel, text_of(fields_of(compilation.configs[index])))
            self._costs[name] = max(seconds, self._costs.get(name, 0.0))
        compilation.pool.end()

    def _start(
        self, tuner: Any, args: Any, meta: dict[str, Any], configs: Any
    ) -> Compilation | None:
        if self._jobs <= 1:
            return None
        reason = self._hindrance()
        if not reason:
            kernel = getattr(getattr(tuner, "base_fn", None), "__name__", "")
            try:
                with spent.on(spent.COMPILE):
                    task = _task(tuner, args, meta, configs)
                    pool = Pool(task, self._order(kernel, configs), self._jobs, self._deadline_s)
                return Compilation(kernel, configs, self._jobs, pool, self._tell)
            except Exception as error:  # no fork, or a Triton with another driver
                reason = f"no compile worker can be forked: {type(error).__name__}: {error}"
        self._say(reason)
        return None

    def _hindrance(self) -> str:
        if not backends.fork_compile(self._backend):
            return f"forking beside a device of backend {self._backend} is not known to work"
        if os.environ.get("TRITON_ALWAYS_COMPILE", "0").lower() in ("1", "true", "on", "yes", "y"):
            return "TRITON_ALWAYS_COMPILE keeps Triton from using what a worker compiles"
        known = compiles.watch() and compiling.watch()
        return "" if known else "this Triton's compiler has no class ASTSource"

    def _say(self, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            text = f"configurations are compiled one after another: {reason}"
            self._tell("log", level="info", text=text)

    def _order(self, kernel: str, configs: list[Any]) -> list[int]:
        """As the tuner will ask for them; where all are awaited, the longest known ones first."""
        order = list(range(len(configs)))
        if not self._overlap:
            costs = [self._costs.get((kernel, text_of(fields_of(each))), 0.0) for each in configs]
            order.sort(key=lambda index: -costs[index])
        return order


def error_of(kernel: str, config: Any, failure: Outcome) -> Exception:
    """As a launch would raise it, had it ended."""
    text = (
        f"opgauge: kernel {kernel} does not compile with {config}: {failure.message}; with "
        "--compile-jobs 1 it is compiled within the measuring process"
    )
    return TimeoutError(text) if failure.kind == "timeout" else RuntimeError(text)
