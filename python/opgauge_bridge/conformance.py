# SPDX-License-Identifier: Apache-2.0
"""Checks the timers themselves on one device, with work of known size: nothing at all, a short
fill of memory, and long ones of which one is twice the other.

The child sends raw samples, the parent judges them (docs/measuring.md). A run's child does so
before its first test where no record is kept; `opgauge doctor --timers` starts this module alone.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable
from typing import Any

from . import backends
from .backends.torch_device import NotCaptured, TorchDevice
from .channel import EXIT_PROTOCOL_ERROR, EXIT_STOPPED, EXIT_UNTRUSTED, Channel
from .device_report import device_report
from .errors import first_line
from .session import session as our_session
from .timers import EventTimer

_SMALL_BYTES = 4096
_LARGE_BYTES = 256 << 20  # the longer fill writes twice as much
_MEMORY_SHARE = 8  # a large fill is at most this part of the free memory
_LARGE_OVER_L2 = 2  # and at least this many times the L2: or its speed would change with its size
_LONGEST_LARGE_NS = 2e6
_NULL_SAMPLES = 128
_SMALL_SAMPLES = 64
_LARGE_SAMPLES = 20
_GRAPH_SAMPLES = 10
_GRAPH_NS = 1e6
# As long as a host's clock needs to be sure of a percent, however late it wakes up.
_UNIT_NS = 20e6
_UNIT_REPEATS = 3
_MOST_CALLS = 2000


def _nothing() -> None:
    """A call that launches nothing: its sample is the timer's own."""


def _host_ns(device: TorchDevice, call: Callable[[], Any]) -> float:
    begin = device.now_ns()
    call()
    device.synchronize()
    return max(1.0, float(device.now_ns() - begin))


class TimerCheck:
    """One device's samples of work of known size; `facts` is the protocol's."""

    def __init__(self, device: TorchDevice, holds: bool) -> None:
        self._device = device
        self._holds = holds
        self.facts: dict[str, Any] = {"hold": holds}
        self.trusted = True  # False: a capture failed in this process

    def run(self, timers: list[str]) -> None:
        free = self._device.memory_free_bytes()
        size = min(_LARGE_BYTES, free // _MEMORY_SHARE)
        if size < _LARGE_OVER_L2 * self._device.l2_bytes():
            self.facts["problem"] = f"{free} bytes of free memory are too few for long fills"
            return
        buffer = self._device.buffer(2 * size)
        try:
            self._measure(buffer, self._bearable(buffer, size), "graph" in timers)
        finally:
            del buffer
            self._device.release()

    def _bearable(self, buffer: Any, size: int) -> int:
        """Less than `size` where memory is slow."""
        self._device.fill(buffer, 0)
        self._device.synchronize()
        taken = _host_ns(self._device, lambda: self._device.fill(buffer, 0)) / 2
        return max(_SMALL_BYTES, int(size * min(1.0, _LONGEST_LARGE_NS / taken)))

    def _measure(self, buffer: Any, size: int, graph: bool) -> None:
        small, large, double = (
            self._fill(buffer, count) for count in (_SMALL_BYTES, size, 2 * size)
        )
        self.facts["bytes"] = {"small": _SMALL_BYTES, "n": size}
        self.facts["null_event_ns"] = self._event_ns(_nothing, _NULL_SAMPLES)
        if self._holds:
            idle = self._event_ns(lambda: self._device.hold(0), _SMALL_SAMPLES)
            self.facts["empty_kernel_event_ns"] = idle
        self.facts["fill_small_event_ns"] = self._event_ns(small, _SMALL_SAMPLES)
        self.facts["fill_n_event_ns"] = self._event_ns(large, _LARGE_SAMPLES)
        self.facts["fill_2n_event_ns"] = self._event_ns(double, _LARGE_SAMPLES)
        calls = math.ceil(_UNIT_NS / _host_ns(self._device, double))
        self.facts["unit"] = [
            self._unit(double, min(calls, _MOST_CALLS)) for _ in range(_UNIT_REPEATS)
        ]
        if graph:
            self._graph(large)

    def _fill(self, buffer: Any, size: int) -> Callable[[], None]:
        part = buffer[:size]
        return lambda: self._device.fill(part, 1)

    def _event_ns(self, call: Callable[[], Any], samples: int) -> list[float]:
        timer = EventTimer(self._device, call, self._holds, cold=False)
        timer.prepare()
        return timer.burst(samples, 1)

    def _unit(self, call: Callable[[], Any], calls: int) -> dict[str, float]:
        """The same stretch of time by the device's events and by the host's clock."""
        begin, end = self._device.event(), self._device.event()
        self._device.synchronize()
        host = self._device.now_ns()
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        self._device.synchronize()
        host = self._device.now_ns() - host
        return {"host_ns": float(host), "event_ns": begin.elapsed_time(end) * 1e6}

    def _graph(self, call: Callable[[], Any]) -> None:
        # Only where the job asks for it: not every backend can record graphs.
        from .graph import GraphTimer, NoDeviceWork

        with self._device.on(self._device.stream()):
            timer = GraphTimer(self._device, call, self._holds, self._device.current_stream())
            try:
                timer.prepare()
                timer.capture()
                calls = int(_GRAPH_NS / max(1.0, timer.estimate_ns))
                self.facts["graph_calls"] = max(1, min(calls, _MOST_CALLS))
                self.facts["fill_n_graph_ns"] = timer.burst(
                    _GRAPH_SAMPLES, self.facts["graph_calls"]
                )
            except NotCaptured as error:
                self.facts["graph_problem"] = f"{error.kind}: {error}"
                self.trusted = False
            except NoDeviceWork:
                self.facts["graph_problem"] = "not_captured: the graph of a fill is empty"
            finally:
                timer.close()


def check(channel: Channel, job: dict[str, Any]) -> bool:
    """Checks the timers that the job names and tells what came out. False: after it this process
    cannot be trusted to measure."""
    facts: dict[str, Any] = {}
    trusted = True
    device: Any = None
    try:
        backend = str(job.get("backend", ""))
        device = backends.device(backend)
        if device is None:
            facts["problem"] = f"backend {backend} has nothing to time with"
        else:
            settings = job.get("timer_settings") or {}
            work = TimerCheck(device, bool(settings.get("hold", True)))
            facts = work.facts
            work.run(list(job["conformance"]))
            trusted = work.trusted
    except Exception as error:  # a broken driver raises anything; the parent must hear of it
        facts["problem"] = first_line(error)
        spoilt = getattr(error, "opgauge_untrusted", False)
        trusted = not spoilt and (device is None or device.alive())
    channel.tell("conformance", facts=facts)
    return trusted


def main() -> int:
    ours = our_session()
    if ours is None:
        print("this module answers to opgauge: run `opgauge doctor --timers`", file=sys.stderr)
        return 2
    answer = ours.channel.ask("device", **device_report(ours.job))
    if answer.get("type") != "go":
        return EXIT_STOPPED if answer.get("type") == "stop" else EXIT_PROTOCOL_ERROR
    trusted = check(ours.channel, ours.job)
    ours.channel.tell("bye", exit=0)
    sys.stdout.flush()
    sys.stderr.flush()
    # At once: tearing down a framework whose device is lost may hang.
    os._exit(0 if trusted else EXIT_UNTRUSTED)


if __name__ == "__main__":
    sys.exit(main())
