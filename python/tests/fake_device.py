# SPDX-License-Identifier: Apache-2.0
"""A device on a virtual clock: the real TorchDevice on a stand-in for torch.cuda.

Nothing runs and no clock is read. Host time moves by what each call costs the host, device time by
the durations that are queued on streams; a graph replays the durations recorded.
"""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from fake_parent import BRIDGE
from opgauge_bridge.backends.torch_device import TorchDevice

assert BRIDGE  # its import puts the bridge on the path

L2_BYTES = 1024
FREE_BYTES = 1 << 20
CYCLES_PER_NS = 2.0  # slower than the bridge expects of any device: holds are longer, never shorter
NOT_PERMITTED = "CUDA error: operation not permitted when stream is capturing"
EMPTY = "The CUDA Graph is empty. This usually means that the graph was captured on a wrong stream."

Effect = Callable[[], None]


class FakeStream:
    """Work in order; `free_at` is when all of it is done."""

    def __init__(self) -> None:
        self.free_at = 0.0

    def wait_stream(self, other: FakeStream) -> None:
        self.free_at = max(self.free_at, other.free_at)


class FakeEvent:
    def __init__(self, module: FakeModule) -> None:
        self._module = module
        self.time: float | None = None

    def record(self) -> None:
        self.time = self._module.mark()

    def query(self) -> bool:
        return self.time is None or self.time <= self._module.now

    def elapsed_time(self, end: FakeEvent) -> float:
        if self.time is None or end.time is None or not (self.query() and end.query()):
            raise RuntimeError("both events must be recorded and reached")
        return (end.time - self.time) / self._module.event_unit


class FakeGraph:
    def __init__(self, module: FakeModule) -> None:
        self._module = module
        self.work: list[tuple[float, Effect | None]] = []
        self.resets = 0

    def replay(self) -> None:
        effects = [effect for _, effect in self.work if effect is not None]

        def all_effects() -> None:
            for effect in effects:
                effect()

        duration = sum(nanoseconds for nanoseconds, _ in self.work)
        self._module.launch(duration, self._module.replay_ns, all_effects, name="replay")

    def reset(self) -> None:
        self.work = []
        self.resets += 1


class FakeModule:
    """The names of torch.cuda that the bridge uses. `*_ns` are the host's costs of each call;
    `gap_ns` is what an event takes of the device."""

    def __init__(self) -> None:
        self.now = 0.0
        self.synchronize_ns = 2_000.0
        self.record_ns = 500.0
        self.sleep_ns = 1_000.0
        self.fill_ns = 1_500.0
        self.fill_ns_per_byte = 0.4
        self.least_fill_ns = 1_000.0
        self.replay_ns = 3_000.0
        self.gap_ns = 0.0
        self.event_unit = 1e6  # nanoseconds in what an event calls a millisecond
        self.records_graphs = True
        self.lost = False
        self.draws = 0  # random numbers drawn
        self.free_bytes = FREE_BYTES
        self.l2_bytes = L2_BYTES
        self.log: list[str] = []  # what was queued, in the host's order
        self.used: list[FakeStream] = []  # the stream of each launch in the log
        self.capture: list[tuple[float, Effect | None]] | None = None
        self._current = FakeStream()
        self._made = [self._current]

    # -- queueing -----------------------------------------------------------------------------
    def launch(
        self,
        device_ns: float,
        host_ns: float,
        effect: Effect | None = None,
        name: str = "kernel",
        stream: FakeStream | None = None,
    ) -> float | None:
        """Queues work and returns when it begins; None where it is only recorded."""
        self.now += host_ns
        self._raise_if_lost()
        if self.capture is not None and stream is None:
            self.capture.append((device_ns, effect))
            return None
        stream = stream or self._current
        begin = max(self.now, stream.free_at)
        stream.free_at = begin + device_ns
        self.log.append(name)
        self.used.append(stream)
        if effect is not None:
            effect()
        return begin

    def mark(self) -> float:
        self.now += self.record_ns
        time = max(self.now, self._current.free_at)
        self._current.free_at = time + self.gap_ns
        self.log.append("event")
        self.used.append(self._current)
        return time

    def synchronize(self) -> None:
        self._raise_if_lost()
        if self.capture is not None:
            raise RuntimeError(NOT_PERMITTED)
        self.now = max(self.now, *(stream.free_at for stream in self._made)) + self.synchronize_ns

    def _raise_if_lost(self) -> None:
        if self.lost:
            raise RuntimeError("an illegal memory access was encountered")

    # -- the names of torch.cuda --------------------------------------------------------------
    def _sleep(self, cycles: int) -> None:
        self.launch(cycles / CYCLES_PER_NS, self.sleep_ns, name="hold")

    def Stream(self) -> FakeStream:  # noqa: N802
        self._made.append(FakeStream())
        return self._made[-1]

    def Event(self, enable_timing: bool) -> FakeEvent:  # noqa: N802
        assert enable_timing
        return FakeEvent(self)

    def CUDAGraph(self) -> FakeGraph:  # noqa: N802
        return FakeGraph(self)

    def current_stream(self) -> FakeStream:
        return self._current

    @contextlib.contextmanager
    def stream(self, stream: FakeStream) -> Iterator[None]:
        before, self._current = self._current, stream
        try:
            yield
        finally:
            self._current = before

    @contextlib.contextmanager
    def graph(self, graph: FakeGraph, stream: FakeStream) -> Iterator[None]:
        self.synchronize()
        if not self.records_graphs:
            raise RuntimeError(NOT_PERMITTED)
        self.capture = graph.work
        try:
            with self.stream(stream):
                yield
        finally:
            self.capture = None
            if not graph.work:
                warnings.warn(EMPTY, stacklevel=3)

    def current_device(self) -> int:
        return 0

    def get_device_properties(self, index: int) -> Any:
        return types.SimpleNamespace(L2_cache_size=self.l2_bytes)

    def mem_get_info(self) -> tuple[int, int]:
        return self.free_bytes, 2 * self.free_bytes

    def get_rng_state(self) -> Any:
        state = self.draws.to_bytes(8, "little")
        return types.SimpleNamespace(numpy=lambda: types.SimpleNamespace(tobytes=lambda: state))


class FakeTensor:
    """Bytes of the device, enough of a tensor for the timers and for the check's own steps."""

    dtype = "torch.uint8"
    requires_grad = False

    def __init__(self, module: FakeModule, memory: bytearray, size: int | None = None) -> None:
        self._module = module
        self.memory = memory
        self.shape = (len(memory) if size is None else size,)
        self._version = 0

    def stride(self) -> tuple[int, ...]:
        return (1,)

    def numel(self) -> int:
        return self.shape[0]

    def element_size(self) -> int:
        return 1

    def is_floating_point(self) -> bool:
        return False

    is_complex = is_floating_point

    def untyped_storage(self) -> Any:
        return types.SimpleNamespace(data_ptr=lambda: id(self.memory))

    def __getitem__(self, part: slice) -> FakeTensor:
        """A view of the first bytes."""
        return FakeTensor(self._module, self.memory, part.stop)

    def detach(self) -> FakeTensor:
        return self

    def clone(self) -> FakeTensor:
        return FakeTensor(self._module, bytearray(self.memory))

    def requires_grad_(self, wanted: bool) -> FakeTensor:
        return self

    def write(self, byte: int) -> None:
        """In place and at once; what a kernel's effect does."""
        self.memory[: self.numel()] = bytes([byte]) * self.numel()
        self._version += 1

    def fill_(self, byte: int) -> None:
        module, name = self._module, f"fill {self.numel()}"
        taken = max(module.least_fill_ns, module.fill_ns_per_byte * self.numel())
        module.launch(taken, module.fill_ns, lambda: self.write(byte), name=name)


class FakeDevice(TorchDevice):
    """The bridge's own class; only what asks for a real torch is replaced."""

    def __init__(self, module: FakeModule | None = None) -> None:
        self.module = module or FakeModule()
        self._module = self.module
        self._name = "fake"
        self._torch = types.SimpleNamespace(
            uint8="torch.uint8", empty=lambda size, dtype, device: self.tensor(size)
        )
        self._flush_buffer = None
        self._streams = []
        self._stream = None

    def now_ns(self) -> int:
        return int(self.module.now)

    def read(self, buffer: FakeTensor) -> bytes:
        self.synchronize()
        return bytes(buffer.memory[: buffer.numel()])

    def head_of(self, tensor: FakeTensor) -> FakeTensor:
        return FakeTensor(self.module, tensor.memory, min(8, tensor.numel()))

    def tensor(self, size: int = 16, byte: int = 0) -> FakeTensor:
        return FakeTensor(self.module, bytearray([byte]) * size)

    def kernel(self, device_ns: float, host_ns: float = 5_000.0) -> Callable[[], FakeTensor]:
        """A call that makes an output and queues one kernel that writes it."""

        def call() -> FakeTensor:
            out = self.tensor()
            self.module.launch(device_ns, host_ns, lambda: out.write(1))
            return out

        return call
