# SPDX-License-Identifier: Apache-2.0
"""The graph timer; a plugin only of backends that can record graphs."""

from __future__ import annotations

from typing import Any

from .backends.torch_device import Graph, NotCaptured, TorchDevice
from .outputs import memory_of, tensors_in
from .timers import Call, Timer

_ESTIMATE_REPLAYS = 5
_ESTIMATE_CALLS = 20
_SHORT_CALL_NS = 50e3
_SENTINEL = 0xA5
# A graph that took longer to record is replayed as it is.
_QUICKLY_RECORDED_NS = 15e6


class NoDeviceWork(Exception):
    """The call launches nothing on the device: a view, for example."""


class GraphTimer(Timer):
    """A recorded graph of n calls, replayed: time between events behind consecutive replays over
    n. Replays follow each other without a gap, so no host time is inside."""

    name = "graph"

    def __init__(self, device: TorchDevice, call: Call, holds: bool, stream: Any) -> None:
        super().__init__(device, call, holds)
        self._stream = stream
        self._graph: Graph | None = None
        self._calls = 0
        self._record_ns = 0.0
        self._fresh = False
        self._eager: Any = None  # what the last call outside a graph returned

    def settings(self) -> dict[str, Any]:
        return {"l2": "hot"}

    def _returned(self, output: Any) -> None:
        self._eager = output

    def capture(self) -> None:
        """Records one call, proves that a replay does the work and estimates its time. Raises
        NotCaptured or NoDeviceWork."""
        self._record(1)
        assert self._graph is not None
        if self._graph.empty:
            self._call_is_empty()
        self._prove(self._graph)
        self.estimate_ns = self._replay_ns()
        if self.estimate_ns < _SHORT_CALL_NS:
            self._record(_ESTIMATE_CALLS)
            self.estimate_ns = self._replay_ns()

    def _prove(self, graph: Graph) -> None:
        """One replay overwrites every output that the graph made itself. An output that lies in
        memory from outside keeps its values, since the work may depend on them."""
        outside = {memory_of(tensor) for tensor in tensors_in(self._eager)}
        made = [
            self._device.head_of(tensor)
            for tensor in tensors_in(graph.outputs)
            if memory_of(tensor) not in outside
        ]
        made = [head for head in made if head.numel() > 0]
        self._eager = graph.outputs = None
        for head in made:
            self._device.fill(head, _SENTINEL)
        graph.replay()
        for head in made:
            if set(self._device.read(head)) == {_SENTINEL}:
                raise NotCaptured("not_captured", "its replay leaves an output unwritten")

    def _call_is_empty(self) -> None:
        """An empty graph is right only for a call that launches nothing without a graph too."""
        begin, middle, end = (self._device.event() for _ in range(3))
        self._hold()
        begin.record()
        middle.record()
        self._call()
        end.record()
        self._device.synchronize()
        nothing = begin.elapsed_time(middle)
        if middle.elapsed_time(end) <= 2 * nothing:
            raise NoDeviceWork
        raise NotCaptured("not_captured", "the graph is empty, the call is not")

    def _record(self, calls: int) -> None:
        self.close()
        begin = self._device.now_ns()
        self._graph = self._device.record(self._call, calls, self._stream)
        self._record_ns = self._device.now_ns() - begin
        self._calls = calls
        self._fresh = True

    def _replay_ns(self) -> float:
        times = sorted(self._replays(_ESTIMATE_REPLAYS))
        return times[len(times) // 2] / self._calls

    def _replays(self, count: int) -> list[float]:
        assert self._graph is not None
        events = [self._device.event() for _ in range(count + 1)]
        # One replay untimed: it holds the device while the next is queued, and wakes its clocks.
        self._hold()
        self._graph.replay()
        events[0].record()
        for event in events[1:]:
            self._graph.replay()
            event.record()
        self._device.synchronize()
        return [a.elapsed_time(b) * 1e6 for a, b in zip(events, events[1:], strict=False)]

    def burst(self, samples: int, calls_per_sample: int) -> list[float]:
        if calls_per_sample != self._calls or self._is_stale():
            self._record(calls_per_sample)
        self._fresh = False
        return [value / calls_per_sample for value in self._replays(samples)]

    def _is_stale(self) -> bool:
        """Where a graph and its outputs come to lie is worth 0.5 % of a call of 5 us: each burst
        takes another draw, or a process would repeat its own and differ from the next one."""
        short = self.estimate_ns < _SHORT_CALL_NS and self._record_ns < _QUICKLY_RECORDED_NS
        return short and not self._fresh

    def close(self) -> None:
        if self._graph is not None:
            self._graph.close()
            self._graph = None
