# SPDX-License-Identifier: Apache-2.0
"""Turns what a corpus measures into the protocol's cases and sides.

hooks.py calls in here from inside the corpus: a new input ends the open case, the first measurement
of an input begins one, and each measurement is a side. The corpus's own timing runs untouched
between two messages and its value is passed on as it is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import pytest

from . import backends, describe, spent, tuning
from .channel import EXIT_UNTRUSTED
from .measurement import SideMeasurement
from .outputs import OutputCheck
from .session import Session
from .turns import turn

_OUR_TIMERS = ("graph", "event")
_DIRECT = "direct"
_NS_PER_MS = 1e6
# A line of the channel holds 1 MiB; do_bench can return every one of its samples.
_MOST_VALUES = 20_000
_OOM_MARKS = ("out of memory", "OutOfMemory", "MemoryError")


class Recorder:
    """State of the running test: the open case, and which of its sides were measured."""

    def __init__(self, session: Session) -> None:
        self._channel = session.channel
        self._job = session.job
        self._first_dtype = (session.job.get("select") or {}).get("dtypes") == "first"
        self._device: Any = None
        self._timer = _DIRECT
        self._side = ""
        self._timed = False
        self._flags: set[str] = set()
        self._check: OutputCheck | None = None
        self._node = ""
        self._operator = ""
        self._parameters: dict[str, Any] = {}
        self._dtype = ""
        self.dtypes: list[str] = []  # that the running test can measure
        self._index = 0
        self._calls = 0
        self._gems_depth = 0
        self.gems_known = False  # whether they were ever switched on in this process
        self._measuring = False
        self._open = False
        self._skipped = False
        self._sides: set[str] = set()
        self._tune_only = False
        self._measured: set[str] = set()
        self._work: dict[str, float] = {}
        self._settings: dict[str, Any] = {}

    # -- the test -----------------------------------------------------------------------------
    def begin_test(self, item: Any) -> None:
        self._node = item.nodeid
        self._operator = describe.operator_of(item)
        self._parameters = describe.parameters_of(item)
        self._dtype = ""
        self.dtypes = []
        self._index = 0
        self._calls = 0
        self._gems_depth = 0

    def end_test(self) -> None:
        self.close_case()

    # -- the case -----------------------------------------------------------------------------
    def set_dtype(self, dtype: Any) -> None:
        self.close_case()
        self._dtype = describe.dtype_name(dtype)

    def next_input(self) -> None:
        """A new input was made or unpacked; its case begins with its first measurement."""
        if not self._measuring:
            self.close_case()

    def _begin(self, operator: str, args: Any, kwargs: Any, bench: Any = None) -> None:
        case = describe.case_of(operator, self._dtype, args, kwargs, self._node)
        # One name and one set of inputs stand for both directions.
        if getattr(bench, "is_backward", False):
            case["attributes"]["pass"] = "backward"
        self._index += 1
        # How many inputs a test will make is not known before its iterator ends.
        if self._device is None and self._job.get("timer") in _OUR_TIMERS:
            self._device = backends.device(str(self._job.get("backend", "")))
        tuning.begin_case()
        answer = self._channel.ask("case_begin", case=case, index=self._index, planned=None)
        self._open = True
        self._skipped = answer.get("type") == "skip"
        self._sides = set(answer.get("sides") or ("base", "candidate"))
        self._tune_only = bool(answer.get("tune_only"))
        self._timer = str(answer.get("timer") or _DIRECT)
        self._measured = set()
        self._work = {}
        self._flags = set()
        self._check = None

    def close_case(self, error: BaseException | None = None) -> None:
        if self._open and not self._skipped:
            members: dict[str, Any] = {"status": "ok", "check": self._verdict(error)}
            # A process without its device's context or memory, or with a graph given up halfway,
            # can do no more that could be trusted.
            lost = error is not None and self._device is not None and not self._device.alive()
            untrusted = lost or getattr(error, "opgauge_untrusted", False)
            if error is not None:
                status = "skipped" if isinstance(error, pytest.skip.Exception) else "failed"
                members = {"status": status, "error": _error(error, lost)}
                untrusted = untrusted or members["error"]["kind"] == "oom"
            if self._work:
                members["work"] = self._work
            winners = tuning.winners()
            if winners is not None:
                members["winners"] = winners
            self._channel.tell("case_end", flags=sorted(self._flags), **members)
            if untrusted:
                # The parent starts another process, which goes on behind this case.
                os._exit(EXIT_UNTRUSTED)
        self._open = False
        self._check = None

    def _verdict(self, error: BaseException | None) -> dict[str, Any]:
        if error is not None:
            return {"skipped": "the case failed"}
        if self._check is None:
            return {"skipped": "--no-check" if not self._job.get("check") else "timer direct"}
        with spent.on(spent.CHECK):
            return self._check.verdict()

    # -- the sides ----------------------------------------------------------------------------
    def _side_of(self, bench: Any, op: Any) -> str:
        """The reference comes first and outside the corpus's own dispatch."""
        gems_op = getattr(bench, "gems_op", None)
        if self._gems_depth > 0 or (gems_op is not None and op is gems_op):
            return "candidate"
        return "candidate" if "base" in self._measured else "base"

    def _measure(self, side: str, settings: dict[str, Any], call: Callable[[], Any]) -> Any:
        """Runs one side's own measurement and passes its value on."""
        self._measured.add(side)
        self._settings = dict(settings)
        self._side = side
        self._timed = False
        ours = self._timer in _OUR_TIMERS
        if not ours:
            self._channel.ask("side_begin", side=side, timer=_DIRECT)
        self._measuring = True
        try:
            with self._stream(), contextlib.nullcontext() if ours else turn().kept():
                value = call()
        finally:
            self._measuring = False
        if self._timed:
            return value
        # A mode of the corpus that never calls a do_bench has times of its own.
        if ours:
            self._channel.ask("side_begin", side=side, timer=_DIRECT)
        self._send(side, describe.numbers_of(value, self._settings))
        self._channel.tell("side_end", side=side)
        return value

    def _first_call(self, side: str, call: Callable[[], Any]) -> None:
        """What a first call does and no more: it tunes and compiles. Nothing is timed."""
        self._measured.add(side)
        self._side = side
        self._timed = False
        self._measuring = True
        try:
            with self._stream():
                call()
        finally:
            self._measuring = False

    def _stream(self) -> Any:
        """A graph cannot be recorded on the default stream, nor wait for work on it: all of a
        side, with what the corpus prepares for it, goes to a stream of its own."""
        if self._timer != "graph" or self._device is None:
            return contextlib.nullcontext()
        self._device.synchronize()
        return self._device.on(self._device.stream())

    @property
    def takes_over(self) -> bool:
        """Whether a do_bench of the open side is opgauge's to time."""
        ours = self._tune_only or self._timer in _OUR_TIMERS
        return self._measuring and ours and not self._timed

    def time(self, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
        """In place of the corpus's do_bench; its value in milliseconds."""
        cleared = list(arguments.get("grad_to_none") or [])

        def one_call() -> Any:
            for tensor in cleared:
                tensor.grad = None
            return call()

        self._timed = True
        if self._tune_only:
            one_call()
            if self._device is not None:
                self._device.synchronize()
            return describe.nothing_like(arguments)
        side = SideMeasurement(self._channel, self._device, self._job.get("timer_settings") or {})
        value = side.run(self._side, self._timer, one_call)
        self._flags |= side.flags
        return describe.times_like(arguments, value)

    # -- outputs ------------------------------------------------------------------------------
    def _check_side(self, side: str, bench: Any, op: Any, args: Any, kwargs: Any) -> None:
        """The first call of each side, on inputs that nothing has changed."""
        if self._timer not in _OUR_TIMERS or not self._job.get("check"):
            return
        with spent.on(spent.CHECK):
            if side == "base":
                self._check = OutputCheck(self._device, bool(getattr(bench, "is_backward", False)))
                self._check.call_base(op, args, kwargs)
            elif self._check is not None:
                self._check.call_candidate(op, args, kwargs)

    def _send(self, side: str, milliseconds: list[float | None]) -> None:
        values = [None if value is None else value * _NS_PER_MS for value in milliseconds]
        for begin in range(0, max(1, len(values)), _MOST_VALUES):
            answer = self._channel.ask(
                "samples",
                side=side,
                timer=_DIRECT,
                calls_per_sample=1,
                values_ns=values[begin : begin + _MOST_VALUES],
                complete=begin + _MOST_VALUES >= len(values),
                settings=self._settings,
            )
            if answer.get("type") == "enough":
                return

    def bench_latency(self, bench: Any, op: Any, args: Any, kwargs: Any, call: Any) -> Any:
        """One `get_latency` of a benchmark class. `call` is the corpus's own."""
        # The same side once more is a new case: not every corpus unpacks its inputs.
        if self._open and self._side_of(bench, op) in self._measured:
            self.close_case()
        if not self._open:
            self._begin(_operator_of(bench, self._operator), args, kwargs, bench)
        side = self._side_of(bench, op)
        if self._skipped or side not in self._sides:
            self._measured.add(side)
            return float("nan")
        mode = getattr(getattr(bench, "mode", None), "value", None)
        try:
            if self._tune_only:
                self._first_call(side, call)
                return float("nan")
            self._check_side(side, bench, op, args, kwargs)
            return self._measure(side, {"mode": mode} if mode else {}, call)
        except BaseException as error:
            self.close_case(error)
            raise

    def lone_call(self, arguments: dict[str, Any], call: Callable[[], Any]) -> Any:
        """One do_bench of a corpus without a benchmark class: a case of its own, one side."""
        self._calls += 1
        self._begin(self._operator, (), {**self._parameters, "call": self._calls})
        if self._skipped:
            self._open = False
            return describe.nothing_like(arguments)
        try:
            if self._tune_only:
                self._first_call("candidate", call)
                value = describe.nothing_like(arguments)
            else:
                value = self._measure("candidate", describe.timer_settings(arguments), call)
        except BaseException as error:
            self.close_case(error)
            raise
        self.close_case()
        return value

    @property
    def measuring(self) -> bool:
        return self._measuring

    def note_settings(self, arguments: dict[str, Any]) -> None:
        """How the benchmark class's own timer was called; the first call of a side counts."""
        if len(self._settings) <= 1:
            self._settings.update(describe.timer_settings(arguments))

    # -- what else the corpus tells -----------------------------------------------------------
    def input_failed(self, bench: Any, error: BaseException) -> None:
        """The corpus could not make an input: a failed case with what is known of it."""
        self.close_case()
        self._begin(_operator_of(bench, self._operator), (), {"input": "not made"})
        self.close_case(error)

    def add_work(self, name: str, value: Any) -> None:
        number = describe.number(value)
        if self._open and number is not None:
            self._work[name] = number

    def enter_gems(self) -> None:
        self._gems_depth += 1

    def leave_gems(self) -> None:
        self._gems_depth = max(0, self._gems_depth - 1)

    def note_dtypes(self, bench: Any) -> None:
        self.dtypes += [name for name in _dtype_names(bench) if name not in self.dtypes]

    def narrow_dtypes(self, bench: Any) -> None:
        """`--dtypes first`: one of those that the corpus has chosen to measure."""
        if not self._first_dtype:
            return
        chosen = list(getattr(bench, "to_bench_dtypes", None) or [])
        usual = [dtype for dtype in chosen if describe.dtype_name(dtype) == "float16"]
        if chosen:
            bench.to_bench_dtypes = (usual or chosen)[:1]

    def lacks_dtype(self, bench: Any, message: str) -> None:
        self._channel.tell(
            "event",
            name="dtype_not_supported",
            operator=_operator_of(bench, self._operator),
            dtypes=_dtype_names(bench),
            message=message,
        )


def _dtype_names(bench: Any) -> list[str]:
    return [describe.dtype_name(dtype) for dtype in getattr(bench, "dtypes", None) or []]


def _operator_of(bench: Any, otherwise: str) -> str:
    return str(getattr(bench, "op_name", None) or otherwise)


def _error(error: BaseException, lost: bool) -> dict[str, str]:
    text = f"{type(error).__name__}: {error}".strip()
    oom = any(mark in text for mark in _OOM_MARKS)
    kind = "device_lost" if lost else "oom" if oom else "error"
    return {"kind": kind, "message": text.splitlines()[0][:2000]}
