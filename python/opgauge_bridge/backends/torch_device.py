# SPDX-License-Identifier: Apache-2.0
"""What the timers need of a framework's device module, in the form that torch.cuda gave it.

Other vendors' torch modules copy torch.cuda's names, so one class serves them; what a vendor lacks
or spells differently is overridden in its own module.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import causes_of, first_line

# Spin kernels count device cycles. No present device runs faster, so a hold is never shorter.
_CYCLES_PER_NS = 2.2
_L2_UNKNOWN_BYTES = 128 << 20
_EMPTY = "Graph is empty"
_HEAD_BYTES = 4096
_STREAMS = 32


class NotCaptured(Exception):
    """The device refuses to record this work in a graph; `kind` is the row's fallback reason."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Graph:
    """A recorded sequence of calls. `outputs`: what the last call returned while recording."""

    def __init__(self, graph: Any, outputs: Any, empty: bool) -> None:
        self._graph = graph
        self.outputs = outputs
        self.empty = empty

    def replay(self) -> None:
        self._graph.replay()

    def close(self) -> None:
        self.outputs = None
        self._graph.reset()


class TorchDevice:
    """The current device of one torch module (torch.cuda, torch.musa, ...)."""

    # A text of this kind in an error means that the work cannot be recorded, not that it is wrong.
    capture_marks: tuple[str, ...] = ("captur",)
    # The module's class of a graph; vendors put their own letters in front.
    graph_class = "CUDAGraph"

    def __init__(self, module: Any, name: str) -> None:
        import torch

        self._torch = torch
        self._module = module
        self._name = name
        self._flush_buffer: Any = None
        self._streams: list[Any] = []
        self._stream: Any = None

    def now_ns(self) -> int:
        """The host's steady clock."""
        return time.perf_counter_ns()

    # -- order of work ------------------------------------------------------------------------
    def synchronize(self) -> None:
        self._module.synchronize()

    def stream(self) -> Any:
        """A stream for what must not be on the default one; always the same."""
        if self._stream is None:
            self._stream = self._module.Stream()
        return self._stream

    def current_stream(self) -> Any:
        return self._module.current_stream()

    def on(self, stream: Any) -> Any:
        """Context: work goes to `stream`, after all that is queued now."""
        stream.wait_stream(self._module.current_stream())
        return self._module.stream(stream)

    def streams(self) -> list[Any]:
        """Streams with queues of their own on the device; made once."""
        if not self._streams:
            self._streams = [self._module.Stream() for _ in range(_STREAMS)]
        return self._streams

    def event(self) -> Any:
        return self._module.Event(enable_timing=True)

    def hold(self, nanoseconds: float) -> None:
        """Queues a kernel that keeps the device busy at least this long and touches no memory."""
        self._module._sleep(int(nanoseconds * _CYCLES_PER_NS))

    def alive(self) -> bool:
        """False after an error that no later call recovers from (a lost context)."""
        try:
            self._module.synchronize()
        except Exception:
            return False
        return True

    def memory_free_bytes(self) -> int:
        return int(self._module.mem_get_info()[0])

    def buffer(self, size: int) -> Any:
        """Bytes of the device, not initialized."""
        return self._torch.empty(size, dtype=self._torch.uint8, device=self._name)

    def release(self) -> None:
        """Gives the driver the memory back that the framework keeps for later."""
        empty_cache = getattr(self._module, "empty_cache", None)
        if empty_cache is not None:
            empty_cache()

    def random_state(self) -> bytes:
        """The generator's state: it moves when an operator draws random numbers."""
        return bytes(self._module.get_rng_state().numpy().tobytes())

    # -- caches -------------------------------------------------------------------------------
    def l2_bytes(self) -> int:
        properties = self._module.get_device_properties(self._module.current_device())
        size = getattr(properties, "L2_cache_size", 0)
        return int(size) if size else _L2_UNKNOWN_BYTES

    def flush(self) -> None:
        """Queues a write of twice the L2's size: what the last call left there is gone."""
        if self._flush_buffer is None:
            self._flush_buffer = self.buffer(2 * self.l2_bytes())
        self.fill(self._flush_buffer, 0)

    def forget_flush_buffer(self) -> None:
        """Gives its memory back to the framework; the next flush() makes another."""
        self._flush_buffer = None

    # A vendor with runtime calls of its own overrides the next two: the corpus may have put
    # operators of its own behind what they use.
    def fill(self, buffer: Any, byte: int) -> None:
        """Queues writing `byte` everywhere into a buffer of bytes."""
        buffer.fill_(byte)

    def read(self, buffer: Any) -> bytes:
        """Waits, then copies a small buffer of bytes to the host."""
        return bytes(buffer.cpu().numpy().tobytes())

    def head_of(self, tensor: Any) -> Any:
        """The first bytes of a tensor's memory, as a buffer."""
        storage = tensor.untyped_storage()
        begin = tensor.storage_offset() * tensor.element_size()
        size = max(0, min(_HEAD_BYTES, storage.nbytes() - begin))
        buffer = self._torch.empty(0, dtype=self._torch.uint8, device=tensor.device)
        return buffer.set_(storage, begin, (size,), (1,))

    # -- graphs -------------------------------------------------------------------------------
    def record(self, call: Callable[[], Any], calls: int, stream: Any) -> Graph:
        """Records `calls` calls. Raises NotCaptured where the device refuses this work; an error
        that says nothing of recording goes on as it is. Afterwards the process cannot be trusted:
        the random number generator stays in its recording mode."""
        graph = getattr(self._module, self.graph_class)()
        outputs = None
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with self._module.graph(graph, stream=stream):
                    for _ in range(calls):
                        outputs = call()
            except Exception as error:
                if self.refuses_capture(error):
                    raise NotCaptured("capture_refused", first_line(error)) from error
                error.opgauge_untrusted = True  # type: ignore[attr-defined]
                raise
        return Graph(graph, outputs, any(_EMPTY in str(item.message) for item in caught))

    def refuses_capture(self, error: BaseException) -> bool:
        texts = (str(each).lower() for each in causes_of(error))
        return any(mark in text for text in texts for mark in self.capture_marks)
