# SPDX-License-Identifier: Apache-2.0
"""Which tuner runs at this moment, what its live tuning finds, and what its launch uses."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from .. import compiling, spent
from ..errors import first_line
from . import ahead
from .caches import WinnerCache
from .configs import fields_of, own_config
from .desk import Desk, Entry, failure_kind
from .racing import Bench, Heat, Racing
from .sweep import Sweep, without_nan


class Run:
    """One call of a tuner's `run`."""

    def __init__(self, tuner: Any, args: Any, kwargs: dict[str, Any]) -> None:
        self.tuner = tuner
        self.args = args
        self.kwargs = kwargs
        self.begin()

    def begin(self) -> None:
        """Anew, after a winner was dropped."""
        self.entry: Entry | None = None
        self.cache: WinnerCache | None = None
        self.key: Any = None
        self.sweep: Sweep | None = None
        self.candidates: list[Any] = []
        self.compiled: ahead.Compilation | None = None
        self.benched = False
        self.heat: Heat | None = None
        self.racing = False


class Runs:
    """The tuners that run now (one may launch another's kernel) and the keys launched of late."""

    def __init__(self, desk: Desk, ahead_: ahead.Ahead, racing: Racing) -> None:
        self._desk = desk
        self._ahead = ahead_
        self._racing = racing
        self._stack: list[Run] = []
        self.launched: set[int] = set()

    def running(self) -> Run | None:
        return self._stack[-1] if self._stack else None

    def of(self, tuner: Any) -> Run | None:
        return self._stack[-1] if self._stack and self._stack[-1].tuner is tuner else None

    # -- the launch ---------------------------------------------------------------------------
    def launch(self, tuner: Any, args: Any, kwargs: dict[str, Any], call: Callable[[], Any]) -> Any:
        """In place of a tuner's `run`; `call` is the tuner's own."""
        if len(tuner.configs) <= 1 or self.of(tuner) is not None:
            return call()
        self._desk.launches += 1
        run = Run(tuner, args, kwargs)
        self._stack.append(run)
        try:
            try:
                result = call()
            except Exception as error:
                if not self._dropped(run, error):
                    raise
                result = call()
            self._launched(run)
            return result
        finally:
            self._stack.pop()
            self._end_compiling(run)

    def _end_compiling(self, run: Run) -> None:
        if run.compiled is not None:
            self._ahead.end(run.compiled)

    def _launched(self, run: Run) -> None:
        if run.sweep is not None:  # the tuner never stores what it chose in such a run
            self.chosen(run.tuner.best_config)
        if run.entry is not None:
            run.entry.ran = True
            self.launched.add(run.entry.id)

    def _dropped(self, run: Run, error: Exception) -> bool:
        """Whether a replayed winner failed at its first launch and is now forgotten."""
        entry, cache = run.entry, run.cache
        if entry is None or cache is None or not entry.replayed or entry.ran or run.sweep:
            return False
        if not self._desk.evict(entry, error, can_drop(run)):
            return False
        cache.forget(run.key)
        run.begin()
        return True

    # -- the memory ---------------------------------------------------------------------------
    def look_up(self, cache: WinnerCache, key: Any) -> None:
        """A running tuner looks for a winner. Afterwards the cache has what the parent named."""
        run = self.running()
        if run is None:
            return
        self._desk.lookups += 1
        entry = cache.entries.get(key)
        if entry is None and not cache.has(key):
            entry = self._desk.entry(run.tuner, run.args, run.kwargs, cache.space, key)
            cache.entries[key] = entry
        # The answer holds for the process, also where a corpus has emptied the cache.
        if entry is not None and entry.fields is not None and not cache.has(key):
            cache.remember(key, own_config(run.tuner, entry.fields))
        run.entry, run.cache, run.key = entry, cache, key
        if entry is not None and entry.replayed and not entry.checked:
            self._ahead.check(run.tuner, run.args, run.kwargs, dict.get(cache, key))
            entry.checked = True

    def chosen(self, config: Any) -> None:
        """The running tuner has tuned and made its choice."""
        run = self.running()
        if run is None or run.sweep is None:
            return
        sweep, run.sweep = run.sweep, None
        self._end_compiling(run)
        if run.entry is None:
            return
        fields = fields_of(config)
        if run.compiled is not None:
            sweep.compile = run.compiled.facts()
        self._desk.tell_tuned(run.entry, sweep, fields)
        self._refuse(run, config)
        # Where the tuner passed over its memory, later launches choose for themselves.
        if run.cache is not None and sweep.works(fields):
            run.entry.fields = fields

    def _refuse(self, run: Run, config: Any) -> None:
        """Where nothing works, a tuner takes any, and its launch would hang or end this process."""
        failure = run.compiled.failure(config) if run.compiled is not None else None
        if run.compiled is not None and failure is not None:
            if run.cache is not None:
                run.cache.forget(run.key)
            raise ahead.error_of(run.compiled.kernel, config, failure)

    # -- the tuning ---------------------------------------------------------------------------
    def about_to_tune(self, tuner: Any, pruned: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The candidates of a key that is about to be tuned, less those that have failed."""
        run = self.of(tuner)
        if run is None:
            return pruned
        if run.entry is None:
            run.entry = self._unlooked_entry(tuner, args, kwargs)
        if run.sweep is None:
            run.sweep = Sweep()
            compiling.count_tune()
        entry = run.entry
        run.candidates = list(pruned)
        if entry is None or not (entry.excluded or entry.only):
            return pruned
        left = [config for config in pruned if not entry.excludes(config)]
        if not left and entry.only:
            # The tuner prunes all that were named: its own candidates are then as good.
            entry.only = []
            left = [config for config in pruned if not entry.excludes(config)]
        run.candidates = left
        if not left:
            raise RuntimeError(
                f"opgauge: nothing left to tune for kernel {tuner.base_fn.__name__}: all "
                f"{len(pruned)} configurations are excluded since they failed as replayed "
                "winners; tune anew with --tune record"
            )
        return left

    def _unlooked_entry(self, tuner: Any, args: Any, kwargs: dict[str, Any]) -> Entry | None:
        """Some modes of a corpus's tuner pass over its memory; their timings have a key too."""
        space, get_key = getattr(tuner, "config_table_name", None), getattr(tuner, "get_key", None)
        if space is None or get_key is None:
            return None
        named = {**dict(zip(tuner.arg_names, args, strict=False)), **kwargs}
        key = get_key({name: named[name] for name in tuner.arg_names if name in named})
        return self._desk.entry(tuner, args, kwargs, space, key)

    def bench(self, tuner: Any, config: Any, args: Any, meta: dict[str, Any], call: Bench) -> Any:
        """In place of a tuner's timing of one configuration; `call` is its own, for any."""
        run = self.of(tuner)
        if run is None or run.sweep is None or run.racing:
            return call(config)
        if run.entry is not None and run.entry.excludes(config):
            return [math.inf] * 3
        if not run.benched:
            run.benched = True
            run.compiled = self._ahead.begin(tuner, args, meta, run.candidates)
            self._race(run, run.sweep, call)
        if run.heat is not None and run.heat.knows(config):
            values: Any = run.heat.values(config)
        else:
            values = self._timed(run, run.sweep, config, call)
        run.sweep.add(config, values)
        return without_nan(values)

    def _timed(self, run: Run, sweep: Sweep, config: Any, call: Bench) -> Any:
        """What cannot be compiled is not timed."""
        sweep.timed += 1
        with _failures_noted(run.tuner, config, sweep):
            if self._failed(run, sweep, config):
                return [math.inf] * 3
            began = time.perf_counter()
            counted = run.compiled.counted() if run.compiled else contextlib.nullcontext()
            with counted, spent.on(spent.TUNE):
                values = call(config)
            sweep.timing["seconds"] += time.perf_counter() - began
            return values

    def _failed(self, run: Run, sweep: Sweep, config: Any) -> bool:
        """Whether a worker could not compile it; waits for that."""
        outcome = run.compiled.wait(config) if run.compiled else None
        if outcome is None or outcome.state != "failed":
            return False
        sweep.add_failure(config, outcome.kind, outcome.message)
        return True

    # -- the race -----------------------------------------------------------------------------
    def _race(self, run: Run, sweep: Sweep, call: Bench) -> None:
        """At the first timing of a key: all are raced now, and the tuner is told as it asks."""
        sweep.timing = {"how": "full", "configs": len(run.candidates), "seconds": 0.0}
        # A corpus's store may have had the times of some.
        new = [config for config in run.candidates if not sweep.has(config)]
        heat = self._racing.begin(run.tuner, new)
        if heat is None:
            return
        run.racing = True
        try:
            while queue := heat.queue():
                self._turn(run, sweep, heat, queue, call)
        finally:
            run.racing = False
            self._racing.end()
        run.heat = heat
        sweep.timed = heat.timed()
        sweep.timing = heat.facts()

    def _turn(self, run: Run, sweep: Sweep, heat: Heat, queue: list[Any], call: Bench) -> None:
        """Of one that is compiled; the others may still be."""
        config = run.compiled.wait_for_any(queue) if run.compiled else queue[0]
        if self._failed(run, sweep, config):
            heat.fail(config)
            return

        def bench(config: Any) -> Any:
            with _failures_noted(run.tuner, config, sweep):
                return call(config)

        new = run.compiled is not None and not heat.begun(config)
        counted = run.compiled.counted() if run.compiled and new else contextlib.nullcontext()
        with counted, spent.on(spent.TUNE):
            heat.turn(config, bench)


def can_drop(run: Run) -> bool:
    """Whether the tuner asks its `cache` at every launch: a corpus's own `run` may remember more,
    unless it is the one whose store is replaced."""
    if run.cache is not None and run.cache.space:
        return True
    method = getattr(type(run.tuner), "run", None)
    return getattr(method, "__module__", "") == "triton.runtime.autotuner"


@contextlib.contextmanager
def _failures_noted(tuner: Any, config: Any, sweep: Sweep) -> Iterator[None]:
    """A tuner takes what does not compile for infinitely slow, and keeps the reason to itself."""
    if not hasattr(tuner, "do_bench"):
        yield
        return
    timer = tuner.do_bench

    def do_bench(*args: Any, **kwargs: Any) -> Any:
        try:
            return timer(*args, **kwargs)
        except Exception as error:
            sweep.add_failure(config, failure_kind(error) or "error", first_line(error))
            raise

    tuner.do_bench = do_bench
    try:
        yield
    finally:
        tuner.do_bench = timer
