# SPDX-License-Identifier: Apache-2.0
"""The timers of the child: what one sample is. docs/measuring.md defines each; how many are taken
is the parent's decision.

A timer is prepared once for one side of one case, then gives bursts of samples in nanoseconds for
one call. `call` is the work as the corpus hands it to its own do_bench.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .backends.torch_device import TorchDevice

Call = Callable[[], Any]

# Warm-up is calls, not a second: a second drives a card into its power cap before it is timed.
_WARM_CALLS = 3
_WARM_NS = 50e6
# A hold that ends before all is queued lets host time in; then it is made longer, up to this.
_HOLD_MARGIN_NS = 20e3
_LONGEST_HOLD_NS = 20e6
_RETAKES = 3
_IN_VAIN = 2
_ESTIMATE_SAMPLES = 5
_LONG_NS = 100e6
_SHORT_NS = 20e3
_UNTIMED = 2
_STREAMS_A_BURST = 16


class Timer:
    """What both timers share: the first calls and the hold of the device."""

    name = ""

    def __init__(self, device: TorchDevice, call: Call, holds: bool) -> None:
        self._device = device
        self._call = call
        self._holds = holds
        self._hold_ns = _HOLD_MARGIN_NS
        self.first_call_ns = 0.0
        self.estimate_ns = 0.0
        self.hold_short = 0  # samples that may contain host time all the same

    def prepare(self) -> None:
        """The first calls (compiling, tuning), and an estimate of one call. Waits first for the
        inputs: they may be made on another stream."""
        self._device.synchronize()
        host, self.first_call_ns = self._one_call()
        warmed = calls = 0
        while calls < _WARM_CALLS and warmed < _WARM_NS:
            host, self.estimate_ns = self._one_call()
            warmed += self.estimate_ns
            calls += 1
        self._hold_for(host)

    def _hold_for(self, host_ns: float) -> None:
        """From now on a hold outlasts at least so much of the host's time."""
        needed = 1.5 * host_ns + _HOLD_MARGIN_NS
        self._hold_ns = min(_LONGEST_HOLD_NS, max(self._hold_ns, needed))

    def _one_call(self) -> tuple[float, float]:
        """Nanoseconds of the host until a call has returned, and until its work is done."""
        begin = self._device.now_ns()
        self._returned(self._call())
        host = self._device.now_ns() - begin
        self._device.synchronize()
        return float(host), float(self._device.now_ns() - begin)

    def _returned(self, output: Any) -> None:
        """What a call outside of any timing gave; a timer that needs it keeps it."""

    def _hold(self) -> None:
        if self._holds:
            self._device.hold(self._hold_ns)

    def settings(self) -> dict[str, Any]:
        """What of this timer changes the meaning of a sample."""
        return {}

    def burst(self, samples: int, calls_per_sample: int) -> list[float]:
        raise NotImplementedError

    def close(self) -> None:
        """Frees what the timer holds on the device."""


class EventTimer(Timer):
    """Event to event around one call, on a device that is held busy until all is queued."""

    name = "event"

    def __init__(self, device: TorchDevice, call: Call, holds: bool, cold: bool) -> None:
        super().__init__(device, call, holds)
        self._cold = cold
        self._streams: list[Any] = []
        self._in_vain = 0

    def settings(self) -> dict[str, Any]:
        return {"l2": "cold" if self._cold else "hot", "hold": self._holds}

    def prepare(self) -> None:
        """As for every timer; then device time replaces the estimate by the host's clock."""
        super().prepare()
        times = sorted(self.burst(_ESTIMATE_SAMPLES if self.estimate_ns < _LONG_NS else 1, 1))
        self.estimate_ns = times[len(times) // 2]
        # How fast a short kernel starts depends on the stream's channel: 4 % of 6 us on an H200.
        # Long ones do not need it, and each stream keeps memory of its own for their results.
        if self.estimate_ns < _SHORT_NS:
            self._streams = list(self._device.streams())

    def burst(self, samples: int, calls_per_sample: int) -> list[float]:
        if not self._streams or samples < _STREAMS_A_BURST:
            return self._series(samples, calls_per_sample)
        streams = self._streams[:_STREAMS_A_BURST]
        self._streams = self._streams[_STREAMS_A_BURST:] + streams
        values: list[float] = []
        for index, stream in enumerate(streams):
            share = (samples + index) // len(streams)
            with self._device.on(stream):
                # The first ones after a change of the stream find its queue cold.
                self._series(_UNTIMED, calls_per_sample)
                values += self._series(share, calls_per_sample)
        return values

    def _series(self, samples: int, calls: int) -> list[float]:
        pairs = [self._take(calls) for _ in range(samples)]
        self._device.synchronize()
        return [begin.elapsed_time(end) * 1e6 / calls for begin, end in pairs]

    def _take(self, calls: int) -> tuple[Any, Any]:
        pair = self._queue(calls)
        if not self._holds or not pair[0].query():
            return pair
        for _ in range(_RETAKES if self._in_vain < _IN_VAIN else 0):
            # The device had begun before the host was done.
            self._hold_ns = min(_LONGEST_HOLD_NS, 2 * self._hold_ns)
            pair = self._queue(calls)
            if not pair[0].query():
                self._in_vain = 0
                return pair
        # A call that waits for the device itself cannot be held.
        self._in_vain += 1
        self._hold_ns = min(self._hold_ns, _HOLD_MARGIN_NS)
        self.hold_short += 1
        return pair

    def _queue(self, calls: int) -> tuple[Any, Any]:
        begin, end = self._device.event(), self._device.event()
        self._hold()
        # Behind the hold: nothing else happens between the flush and the call.
        if self._cold:
            self._device.flush()
        begin.record()
        for _ in range(calls):
            self._call()
        end.record()
        return begin, end
