# SPDX-License-Identifier: Apache-2.0
"""Races a key's configurations instead of having the tuner time each in full: bursts of the event
timer through the tuner's own `_bench`, so that its hooks and its exceptions stay its own."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from .. import backends
from .bursts import Bursts
from .configs import fields_of, text_of
from .facts import tuning_timer
from .race import Race

Tell = Callable[..., Any]
# A tuner's own timing of one configuration.
Bench = Callable[[Any], Any]
_NS_PER_MS = 1e6
# Part of the winners' scope: counts up when the rules of a race or what a sample is change.
_NAME = "opgauge.race 1"


def clears_cache(timer: str) -> bool | None:
    """Of what a tuner times with, as facts.tuning_timer() names it: whether each call finds the L2
    cleared. None: that is not known of it."""
    words = timer.split()
    name = words[0].strip("(',") if words else ""
    if name.startswith("triton") and "graph" in name:
        return False
    return True if name in ("triton.do_bench", "triton_do_bench") else None


def times_all(tuner: Any) -> bool:
    """Whether every candidate is timed whatever the others' times are: what a corpus's own policy
    asks for is not known before."""
    cls = type(tuner)
    policy = getattr(cls, "policy", None)
    if policy is None:
        return getattr(cls.run, "__module__", "") == "triton.runtime.autotuner"
    known = ["default"]
    # It proposes configurations only with a Triton that has a model; else it is the default one.
    if "triton.flagtune" not in sys.modules:
        known.append("flagtune")
    for name in known:
        with contextlib.suppress(Exception):  # no such name, or no table of policies
            if cls.get(name).policy is policy:
                return True
    return False


class Heat:
    """The race of one key."""

    def __init__(self, tuner: Any, configs: list[Any], bursts: Bursts) -> None:
        self._tuner = tuner
        self._configs = configs
        self._bursts = bursts
        self._race = Race(len(configs))
        self._begun: set[int] = set()
        self._seconds = 0.0
        self._by_object = {id(config): index for index, config in enumerate(configs)}
        self._by_text: dict[str, int] = {}
        for index, config in enumerate(configs):
            self._by_text.setdefault(text_of(fields_of(config)), index)

    # -- the race -----------------------------------------------------------------------------
    def queue(self) -> list[Any]:
        """The configurations of which any may be next; empty: the race is over."""
        return [self._configs[index] for index in self._race.queue]

    def begun(self, config: Any) -> bool:
        return self._by_object[id(config)] in self._begun

    def timed(self) -> int:
        return len(self._begun)

    def fail(self, config: Any) -> None:
        self._race.fail(self._by_object[id(config)])

    def turn(self, config: Any, bench: Bench) -> None:
        """One burst; what the tuner's own `_bench` takes for a failure is one."""
        index = self._by_object[id(config)]
        wanted = self._race.samples(index)
        taken: list[float] = []
        began = time.perf_counter()
        with _instead(self._tuner, self._do_bench(index, wanted, taken)):
            values = bench(config)
        self._seconds += time.perf_counter() - began
        # A tuner that knows an equal kernel's time does not ask for another.
        self._race.add(index, taken or [_median_of(values) * _NS_PER_MS] * wanted)

    def _do_bench(self, index: int, wanted: int, taken: list[float]) -> Callable[..., Any]:
        def do_bench(kernel_call: Callable[[], Any], *_: Any, **__: Any) -> list[float]:
            if index in self._begun:
                taken.extend(self._bursts.take(kernel_call, wanted))
            else:
                self._begun.add(index)
                taken.extend(self._bursts.first(kernel_call))
            return [value / _NS_PER_MS for value in taken[:1] * 3]

        return do_bench

    # -- the outcome --------------------------------------------------------------------------
    def knows(self, config: Any) -> bool:
        return self._index(config) is not None

    def _index(self, config: Any) -> int | None:
        """A policy may ask for an equal configuration of its own."""
        index = self._by_object.get(id(config))
        return self._by_text.get(text_of(fields_of(config))) if index is None else index

    def values(self, config: Any) -> list[float]:
        """What the tuner is told, in milliseconds. It takes the shortest: of what was dropped, none
        is shorter than the winner, whose time is of later and of more samples."""
        index = self._index(config)
        assert index is not None
        values = [value / _NS_PER_MS for value in self._race.times(index)]
        winner = self._race.winner()
        if winner is not None and index != winner and self._race.runners[index].dropped:
            best = self._race.times(winner)[0] / _NS_PER_MS
            if values[0] <= best:
                values[0] = math.nextafter(best, math.inf)
        return values

    def facts(self) -> dict[str, Any]:
        """The member `timing` of the message `tuned`."""
        return {
            "how": "race",
            "configs": len(self._configs),
            "dropped": self._race.dropped(),
            "calls": self._bursts.calls,
            "device_s": self._bursts.device_ns / 1e9,
            "seconds": self._seconds,
        }


def _median_of(values: Any) -> float:
    """Of what a tuner's timer returned."""
    first = values if values is None or isinstance(values, (int, float)) else values[0]
    return math.nan if first is None else float(first)


@contextlib.contextmanager
def _instead(tuner: Any, do_bench: Callable[..., Any]) -> Iterator[None]:
    """Puts a timer in the place of the tuner's own."""
    timer = tuner.do_bench
    if hasattr(tuner, "seen_tuned_metas"):
        tuner.seen_tuned_metas = {}  # or an equal kernel's time would be all that comes
    tuner.do_bench = do_bench
    try:
        yield
    finally:
        tuner.do_bench = timer


class Racing:
    """Decides which tuners race; owns the device that their bursts run on."""

    def __init__(self, tell: Tell, backend: str, tune: dict[str, Any]) -> None:
        self._tell = tell
        self._backend = backend
        self._wanted = tune.get("timing") == "race"
        self._device: Any = None
        self._said: set[str] = set()

    def timer_name(self, tuner: Any) -> str:
        """What times the configurations, as it is part of the winners' scope."""
        cold = self._cold(tuner)
        if cold is None:
            return tuning_timer(tuner)
        return f"{_NAME} l2={'cold' if cold else 'hot'}"

    def begin(self, tuner: Any, configs: list[Any]) -> Heat | None:
        """None: the tuner times each on its own."""
        cold = self._cold(tuner)
        if cold is None:
            return None
        self._device.synchronize()  # the inputs may be made on another stream
        return Heat(tuner, configs, Bursts(self._device, cold))

    def end(self) -> None:
        """The cache's buffer is the corpus's memory until the next race."""
        if self._device is not None:
            self._device.forget_flush_buffer()

    def _cold(self, tuner: Any) -> bool | None:
        """Whether each call finds the L2 cleared, as with the tuner's own timer; None: no race."""
        if not self._wanted or not self._has_device():
            return None
        kernel = getattr(getattr(tuner, "base_fn", None), "__name__", "a kernel")
        if not times_all(tuner):
            self._say(f"{kernel}: its tuner has a policy of its own")
            return None
        timer = tuning_timer(tuner)
        cold = clears_cache(timer)
        if cold is None:
            self._say(f"{kernel}: its tuner times with {timer or 'an unknown timer'}")
        return cold

    def _has_device(self) -> bool:
        if self._device is not None:
            return True
        try:
            self._device = backends.device(self._backend)
            reason = f"the bridge has no event timer for backend {self._backend}"
        except Exception as error:  # its framework's own
            reason = f"the event timer cannot be had: {type(error).__name__}: {error}"
        if self._device is None:
            self._wanted = False
            text = f"--tune-timing race: {reason}; each tuner times in full, on its own"
            self._tell("log", level="warning", text=text)
        return self._device is not None

    def _say(self, reason: str) -> None:
        if reason not in self._said:
            self._said.add(reason)
            text = f"not raced, each configuration is timed in full: {reason}"
            self._tell("log", level="info", text=text)
