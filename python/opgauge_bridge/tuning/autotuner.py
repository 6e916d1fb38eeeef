# SPDX-License-Identifier: Apache-2.0
"""Where the tuning hooks are put on Triton's Autotuner and on every class that a corpus makes of
it, and on what a corpus builds around them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

from .caches import WinnerCache
from .runs import Runs

Method = Callable[..., Any]
Tuners = list["weakref.ref[Any]"]

# Tuners that were made before there were hooks, in the server that this process was forked from.
_made_before: Tuners = []


def remember_tuners(module: Any) -> None:
    """For a process that imports a corpus and has no hooks: those are put on in its children."""
    base = getattr(module, "Autotuner", None)
    method = base.__dict__.get("__init__") if isinstance(base, type) else None
    if method is None:
        return

    @functools.wraps(method)
    def __init__(tuner: Any, *args: Any, **kwargs: Any) -> None:
        method(tuner, *args, **kwargs)
        _made_before.append(weakref.ref(tuner))

    base.__init__ = __init__


def wrap(cls: type, name: str, make: Callable[[Method], Method]) -> bool:
    """Replaces a method where the class itself defines it, once."""
    method = cls.__dict__.get(name)
    if not callable(method) or hasattr(method, "opgauge_tuning"):
        return False
    wrapped = functools.wraps(method)(make(method))
    wrapped.opgauge_tuning = True  # type: ignore[attr-defined]
    setattr(cls, name, wrapped)
    return True


class TunerHooks:
    """Knows the hooked classes and their objects."""

    def __init__(self, runs: Runs, warn: Callable[[str], None]) -> None:
        self._runs = runs
        self._warn = warn
        self._warned: set[type] = set()
        self._tuners: Tuners = []
        self.classes: set[type] = set()

    def hook(self, module: Any) -> None:
        """Of `module`, the class Autotuner with all that are derived from it, now or later."""
        base = getattr(module, "Autotuner", None)
        if isinstance(base, type):
            wrap(base, "__init__", lambda method: self._init(method, base))
            self._hook_class(base, base)
            for cls in _below(base):
                self._hook_class(cls, base)

    def launched_unseen(self) -> bool:
        """Whether a tuner that has a choice made one."""
        tuners = [
            tuner
            for tuner in (ref() for ref in [*_made_before, *self._tuners])
            if tuner is not None
        ]
        return any(len(tuner.configs) > 1 and hasattr(tuner, "best_config") for tuner in tuners)

    def _init(self, method: Method, base: type) -> Method:
        def __init__(tuner: Any, *args: Any, **kwargs: Any) -> None:
            for cls in type(tuner).__mro__:
                if issubclass(cls, base):
                    self._hook_class(cls, base)
            method(tuner, *args, **kwargs)
            self._tuners.append(weakref.ref(tuner))

        return __init__

    def _hook_class(self, cls: type, base: type) -> None:
        if cls in self.classes:
            return
        self.classes.add(cls)
        wrap(cls, "run", self._run)
        wrap(cls, "prune_configs", self._prune)
        wrap(cls, "_bench", self._bench)
        wrap(cls, "check_disk_cache", self._check_disk_cache)

    def _run(self, method: Method) -> Method:
        def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            if type(tuner.cache) is not WinnerCache:
                self._adopt(tuner)
            return self._runs.launch(tuner, args, kwargs, lambda: method(tuner, *args, **kwargs))

        return run

    def _adopt(self, tuner: Any) -> None:
        """Gives a tuner its new memory. One with a single configuration has nothing to remember,
        and a corpus's store that is replaced as a whole stays where it is."""
        if len(tuner.configs) <= 1 or hasattr(tuner.cache, "model"):
            return
        if isinstance(tuner.cache, dict):
            tuner.cache = WinnerCache(self._runs, known=tuner.cache)
        elif type(tuner.cache) not in self._warned:
            self._warned.add(type(tuner.cache))
            self._warn(
                f"the winners of {type(tuner).__name__} are neither recorded nor replayed: its "
                f"cache of class {type(tuner.cache).__name__} is not known"
            )

    def _prune(self, method: Method) -> Method:
        def prune_configs(tuner: Any, kwargs: dict[str, Any], *rest: Any) -> Any:
            pruned = method(tuner, kwargs, *rest)
            run = self._runs.of(tuner)
            return self._runs.about_to_tune(tuner, pruned, run.args if run else (), kwargs)

        return prune_configs

    def _bench(self, method: Method) -> Method:
        def _bench(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            meta = {name: value for name, value in kwargs.items() if name != "config"}

            def call(config: Any) -> Any:
                return method(tuner, *args, **{**kwargs, "config": config})

            return self._runs.bench(tuner, kwargs.get("config"), args, meta, call)

        return _bench

    def _check_disk_cache(self, method: Method) -> Method:
        def check_disk_cache(tuner: Any, key: Any, configs: Any, bench: Callable[[], Any]) -> bool:
            bench()
            return False

        return check_disk_cache


def _below(base: type) -> list[type]:
    found = []
    for cls in type.__subclasses__(base):
        found += [cls, *_below(cls)]
    return found
