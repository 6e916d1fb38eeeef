# SPDX-License-Identifier: Apache-2.0
"""FlagGems' store of winners and timings, replaced below its caches; and its table of launches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .autotuner import Method, wrap
from .caches import WinnerCache
from .configs import build, fields_of, text_of
from .runs import Run, Runs


class StoreHooks:
    """In place of SQLPersistantModel's methods: no database is opened, read or written."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._tables: dict[str, WinnerCache] = {}
        self._times: dict[tuple[str, Any, str], tuple[float, ...]] = {}
        self.hooked = False

    def hook(self, module: Any) -> None:
        model = getattr(module, "SQLPersistantModel", None)
        if isinstance(model, type):
            own: dict[str, Method] = {
                "get_config": self._get_config,
                "put_config": self._put_config,
                "get_benchmark": self._get_benchmark,
                "put_benchmark": self._put_benchmark,
            }
            for name, method in own.items():
                self.hooked |= wrap(model, name, lambda _, method=method: _as_method(method))

    def _table(self, name: str) -> WinnerCache:
        if name not in self._tables:
            self._tables[name] = WinnerCache(self._runs, space=name)
        return self._tables[name]

    def _get_config(self, name: str, keys: Any) -> Any:
        return self._table(name).get(tuple(keys))

    def _put_config(self, name: str, keys: Any, config: Any) -> None:
        self._table(name)[tuple(keys)] = build(config) if isinstance(config, dict) else config

    def _sweeping(self, name: str, keys: Any) -> Run | None:
        run = self._runs.running()
        if run is None or run.sweep is None:
            return None
        run.sweep.benchmark_space = name
        run.sweep.benchmark_key = list(keys)
        return run

    def _get_benchmark(self, name: str, keys: Any, config: Any) -> tuple[float, ...] | None:
        run = self._sweeping(name, keys)
        if run is not None and run.entry is not None and run.entry.excludes(config):
            return None
        times = self._times.get((name, tuple(keys), text_of(fields_of(config))))
        if run is not None and run.sweep is not None and times is not None:
            run.sweep.add(config, times)
        return times

    def _put_benchmark(self, name: str, keys: Any, config: Any, benchmark: Any) -> None:
        run = self._sweeping(name, keys)
        # What does not work is not remembered: a later sweep has to find out why, as this one did.
        if not all(math.isfinite(value) for value in benchmark):
            return
        if run is None or run.entry is None or not run.entry.excludes(config):
            self._times[name, tuple(keys), text_of(fields_of(config))] = tuple(benchmark)


def _as_method(function: Callable[..., Any]) -> Method:
    def method(model: Any, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return method


class LaunchHooks:
    """LibEntry launches a kernel that it knows without asking the tuner again. Which key that
    kernel belongs to is told apart by the dictionary that LibEntry keeps with it."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        # By identity; the dictionary is kept, so that the identity stays its own.
        self._keys: dict[int, tuple[Any, frozenset[int]]] = {}

    def hook(self, module: Any) -> None:
        entry = getattr(module, "LibEntry", None)
        if isinstance(entry, type):
            wrap(entry, "run", self._run)

    def _run(self, method: Method) -> Method:
        def run(entry: Any, *args: Any, **kwargs: Any) -> Any:
            before = self._runs.launched
            self._runs.launched = set()
            try:
                outcome = method(entry, *args, **kwargs)
                self._note(outcome)
            finally:
                before |= self._runs.launched
                self._runs.launched = before
            return outcome

        return run

    def _note(self, outcome: Any) -> None:
        if not isinstance(outcome, tuple) or len(outcome) != 2:
            return
        kept = outcome[1]
        if self._runs.launched:
            self._keys[id(kept)] = (kept, frozenset(self._runs.launched))
        elif id(kept) in self._keys:
            self._runs.launched |= self._keys[id(kept)][1]
