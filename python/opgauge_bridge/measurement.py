# SPDX-License-Identifier: Apache-2.0
"""One side measured with opgauge's own timers: the conversation around its bursts.

The corpus calls its do_bench; hooks.py hands the call here instead. The parent says how many
samples to take and when it is enough.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

from . import compiling
from .backends.torch_device import NotCaptured, TorchDevice
from .channel import EXIT_STOPPED, Channel
from .graph import GraphTimer, NoDeviceWork
from .timers import EventTimer, Timer
from .turns import turn

_NS_PER_MS = 1e6


class SideMeasurement:
    """Takes one side's samples; afterwards `flags` says how far they can be trusted."""

    def __init__(self, channel: Channel, device: TorchDevice, settings: dict[str, Any]) -> None:
        self._channel = channel
        self._device = device
        self._settings = settings
        self.flags: set[str] = set()

    def run(self, side: str, timer_name: str, call: Callable[[], Any]) -> float:
        """The median in milliseconds, as a do_bench returns it; NaN without one."""
        timer = self._make(timer_name, call)
        try:
            timer.prepare()
            with turn().kept():
                idle = isinstance(timer, GraphTimer) and not self._capture(side, timer)
                return self._converse(side, timer, idle)
        finally:
            timer.close()

    def _make(self, name: str, call: Callable[[], Any]) -> Timer:
        holds = bool(self._settings.get("hold", True))
        if not holds:
            self.flags.add("no_device_hold")
        if name == "graph":
            return GraphTimer(self._device, call, holds, self._device.current_stream())
        return EventTimer(self._device, call, holds, self._settings.get("l2") != "hot")

    # -- recording a graph --------------------------------------------------------------------
    def _capture(self, side: str, timer: GraphTimer) -> bool:
        """Told before and after: a child that dies of it must not be asked to try again. False
        where there is no work to record."""
        self._channel.tell("event", name="capture_begin", side=side)
        works = True
        try:
            timer.capture()
        except NoDeviceWork:
            works = False
            self.flags.add(f"no_device_work:{side}")
        except NotCaptured as error:
            self.give_up(side, error.kind, str(error))
        except Exception as error:
            self._channel.tell("event", name="capture_end", side=side)
            raise error
        self._channel.tell("event", name="capture_end", side=side)
        return works

    def give_up(self, side: str, kind: str, message: str) -> None:
        """This process cannot be trusted after it; the parent starts another one."""
        self._channel.ask("capture_failed", side=side, kind=kind, message=message)
        os._exit(EXIT_STOPPED)

    # -- the bursts ---------------------------------------------------------------------------
    def _converse(self, side: str, timer: Timer, idle: bool) -> float:
        answer = self._channel.ask(
            "side_begin",
            side=side,
            timer=timer.name,
            first_call_ns=timer.first_call_ns,
            estimate_ns=None if idle else timer.estimate_ns,
            no_device_work=idle,
        )
        while answer.get("type") in ("more", "cool_down"):
            if answer["type"] == "cool_down":
                time.sleep(float(answer.get("seconds") or 0))
            answer = self._burst(side, timer, answer)
        self._channel.tell("side_end", side=side)
        if timer.hold_short:
            self.flags.add("host_in_sample")
        median = answer.get("median_ns")
        return float(median) / _NS_PER_MS if median else math.nan

    def _burst(self, side: str, timer: Timer, answer: dict[str, Any]) -> dict[str, Any]:
        calls = int(answer.get("calls_per_sample") or 1)
        before = compiling.count()
        try:
            values = timer.burst(int(answer["samples"]), calls)
        except NotCaptured as error:
            self.give_up(side, error.kind, str(error))
        if compiling.count() != before:
            self.flags.add("tuned_while_timed")
        return self._channel.ask(
            "samples",
            side=side,
            timer=timer.name,
            calls_per_sample=calls,
            values_ns=values,
            complete=False,
            settings=timer.settings(),
        )
