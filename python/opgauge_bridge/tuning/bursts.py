# SPDX-License-Identifier: Apache-2.0
"""Bursts of a tuner's configurations with the event timer: the device is held until all is queued,
so no host time is in a sample, and the cache is as the tuner's own timer has it."""

from __future__ import annotations

import math
from typing import Any

from ..backends.torch_device import TorchDevice
from ..timers import Call, EventTimer

# With a warm cache the tuner's own timer has calls in a row, as a graph: so has a sample of a short
# kernel, which would else be mostly the gap between two events.
_ROW_NS = 50e3
_LONGEST_ROW = 8


class Bursts(EventTimer):
    """For all configurations of a key: they are launched alike, so what hold one needs, the next
    one needs too."""

    def __init__(self, device: TorchDevice, cold: bool) -> None:
        super().__init__(device, self._current, holds=True, cold=cold)
        self._kernel_call: Call = lambda: None
        self._host_ns = math.inf
        self._row = 0  # calls in a sample: the same for all, or they could not be compared
        self.calls = 0
        self.device_ns = 0.0  # of the timed calls

    def _current(self) -> Any:
        self.calls += 1
        return self._kernel_call()

    def first(self, call: Call) -> list[float]:
        """Of a configuration: one sample of one call. What is compiled, loaded or allocated by the
        call before is none of the kernel's time."""
        self._kernel_call = call
        # The very first one may have compiled; a hold of that length would cost more than it.
        for _ in range(1 if self._row else 2):
            host, _ = self._one_call()
            self._host_ns = min(self._host_ns, host)
        values = self._taken(1, 1)
        if not self._row:
            self._row = 1 if self._cold else _row_of(values[0])
        return values

    def take(self, call: Call, samples: int) -> list[float]:
        """Nanoseconds of one call each."""
        self._kernel_call = call
        return self._taken(samples, self._row)

    def _taken(self, samples: int, row: int) -> list[float]:
        self._hold_for(self._host_ns * row)
        values = self.burst(samples, row)
        self.device_ns += sum(values) * row
        return values


def _row_of(call_ns: float) -> int:
    fit = _ROW_NS / call_ns if call_ns > 0 else 1
    return max(1, min(_LONGEST_ROW, math.ceil(fit)))
