# SPDX-License-Identifier: Apache-2.0
"""Turns what a corpus measures into cases and sides, without touching its files.

FlagGems: its `Benchmark` class is found after collection and its methods are wrapped on the class,
so that subclasses which override `run` or `get_latency` are covered too: a new input begins a case
(`unpack_to_args_kwargs`, or the first measurement where a subclass unpacks by itself), each
`get_latency` is a side, and the corpus's own do_bench gives the value.
Any other corpus: each call of triton.testing.do_bench inside a test is a case with one side.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from . import describe
from .session import Session

_NS_PER_MS = 1e6
_OOM_MARKS = ("out of memory", "OutOfMemory")
_LACKS_DTYPE = "can't be supported by this op"


class Recorder:
    """State of the running test: the open case, and which side comes next."""

    def __init__(self, session: Session) -> None:
        self._channel = session.channel
        self._timer = str(session.job.get("timer", "direct"))
        self.node = ""
        self.marks: list[str] = []
        self._open = False
        self._skipped = False
        self._sides = 0
        self._work: dict[str, Any] = {}
        self._dtype = ""
        self._pending: tuple[Any, Any, Any] | None = None
        self._gems_depth = 0
        self._calls = 0

    # -- the test -----------------------------------------------------------------------------
    def begin_test(self, item: Any) -> None:
        self.node = item.nodeid
        self.marks = [mark.name for mark in item.iter_markers()]
        self._dtype = ""
        self._pending = None
        self._calls = 0

    def end_test(self) -> None:
        self.close_case()

    # -- the case -----------------------------------------------------------------------------
    def set_dtype(self, dtype: Any) -> None:
        self.close_case()
        self._dtype = describe.dtype_name(dtype)

    def next_input(self, bench: Any, args: Any, kwargs: Any) -> None:
        """A new input was unpacked; the case begins with its first measurement."""
        self.close_case()
        self._pending = (bench, args, kwargs)

    def _begin(self, operator: str, args: Any, kwargs: Any) -> None:
        case = describe.case_of(operator, self._dtype, args, kwargs, self.node)
        answer = self._channel.ask("case_begin", case=case)
        self._open = True
        self._skipped = answer.get("type") == "skip"
        self._sides = 0
        self._work = {}

    def close_case(self, error: BaseException | None = None) -> None:
        if self._open and not self._skipped:
            members: dict[str, Any] = {"status": "ok", "check": {"skipped": "not in this release"}}
            if error is not None:
                members = {"status": "failed", "error": _error(error)}
            if self._work:
                members["work"] = self._work
            self._channel.tell("case_end", **members)
        self._open = False

    # -- the sides ----------------------------------------------------------------------------
    def side_of(self, bench: Any, op: Any) -> str:
        """The reference comes first and outside the corpus's own dispatch."""
        if self._gems_depth > 0 or (op is not None and op is getattr(bench, "gems_op", None)):
            return "candidate"
        return "base" if self._sides == 0 else "candidate"

    def measure(self, side: str, call: Callable[[], Any]) -> Any:
        """Runs one side's own measurement; its value is the one sample."""
        self._sides += 1
        if self._skipped:
            return float("nan")
        self._channel.ask("side_begin", side=side, timer=self._timer)
        value = call()
        values = value if isinstance(value, (list, tuple)) else [value]
        numbers = [number * _NS_PER_MS if _is_number(number) else None for number in values]
        self._channel.ask(
            "samples",
            side=side,
            timer=self._timer,
            calls_per_sample=1,
            values_ns=numbers,
            complete=True,
            settings={},
        )
        self._channel.tell("side_end", side=side)
        return value

    def bench_latency(self, bench: Any, op: Any, args: Any, kwargs: Any, call: Any) -> Any:
        """One `get_latency` of a FlagGems benchmark."""
        # The second measurement of one input belongs to the open case; anything more is a new one.
        if self._open and self._sides >= 2:
            self.close_case()
        if not self._open:
            self._pending = None
            self._begin(str(getattr(bench, "op_name", "unknown")), args, kwargs)
        try:
            return self.measure(self.side_of(bench, op), call)
        except BaseException as error:
            self.close_case(error)
            raise

    def lone_call(self, call: Callable[[], Any]) -> Any:
        """One do_bench of a corpus without a benchmark class: a case of its own, one side."""
        if self._open:  # inside a side: the corpus's benchmark class has called it
            return call()
        self._calls += 1
        operator = self.marks[0] if self.marks else self.node.rsplit("::", 1)[-1]
        self._begin(operator, (), {"call": self._calls})
        try:
            value = self.measure("candidate", call)
        except BaseException as error:
            self.close_case(error)
            raise
        self.close_case()
        return value

    def input_failed(self, bench: Any, error: BaseException) -> None:
        """The corpus could not make an input: a failed case with what is known of it."""
        self.close_case()
        self._begin(str(getattr(bench, "op_name", "unknown")), (), {"input": "not made"})
        self.close_case(error)

    def add_work(self, name: str, value: Any) -> None:
        if self._open and _is_number(value):
            self._work[name] = float(value)

    def enter_gems(self) -> None:
        self._gems_depth += 1

    def leave_gems(self) -> None:
        self._gems_depth -= 1

    def lacks_dtype(self, bench: Any, message: str) -> None:
        dtypes = [describe.dtype_name(dtype) for dtype in getattr(bench, "dtypes", None) or []]
        self._channel.tell("event", name="dtype_not_supported", dtypes=dtypes, message=message)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _error(error: BaseException) -> dict[str, str]:
    text = f"{type(error).__name__}: {error}"
    oom = any(mark in text for mark in _OOM_MARKS)
    return {"kind": "oom" if oom else "error", "message": text.strip().splitlines()[0][:2000]}


_recorder: Recorder | None = None


def begin_test(item: Any) -> None:
    if _recorder is not None:
        _recorder.begin_test(item)


def end_test() -> None:
    if _recorder is not None:
        _recorder.end_test()


# -- hooks into the corpus ------------------------------------------------------------------------
def _is_benchmark(value: Any) -> bool:
    return isinstance(value, type) and all(
        hasattr(value, name) for name in ("get_latency", "run", "get_input_iter", "set_dtypes")
    )


def _benchmark_classes() -> list[type]:
    """Every class that measures: the base class and the subclasses that override parts of it."""
    found: dict[int, type] = {}
    for module in list(sys.modules.values()):
        base = getattr(module, "Benchmark", None) if module is not None else None
        if not _is_benchmark(base):
            continue
        waiting = [base]
        while waiting:
            current = waiting.pop()
            if id(current) not in found:
                found[id(current)] = current
                waiting.extend(current.__subclasses__())
    return list(found.values())


def _wrap(cls: type, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replaces a method where the class itself defines it."""
    method = cls.__dict__.get(name)
    if callable(method) and not hasattr(method, "opgauge_wrapped"):
        wrapped = functools.wraps(method)(make(method))
        wrapped.opgauge_wrapped = True  # type: ignore[attr-defined]
        setattr(cls, name, wrapped)


def _hook_class(cls: type, recorder: Recorder) -> None:
    def latency(method: Callable[..., Any]) -> Callable[..., Any]:
        def get_latency(self: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
            # A subclass that calls its parent's method measures once, not twice.
            if getattr(self, "_opgauge_inside", False):
                return method(self, op, *args, **kwargs)
            self._opgauge_inside = True
            try:
                return recorder.bench_latency(
                    self, op, args, kwargs, lambda: method(self, op, *args, **kwargs)
                )
            finally:
                self._opgauge_inside = False

        return get_latency

    def unpack(method: Callable[..., Any]) -> Callable[..., Any]:
        def unpack_to_args_kwargs(self: Any, *inputs: Any, **named: Any) -> Any:
            args, kwargs = method(self, *inputs, **named)
            recorder.next_input(self, args, kwargs)
            return args, kwargs

        return unpack_to_args_kwargs

    def input_iter(method: Callable[..., Any]) -> Callable[..., Any]:
        def get_input_iter(self: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
            recorder.set_dtype(dtype)
            return _watched(method(self, dtype, *args, **kwargs), self, recorder)

        return get_input_iter

    def dtypes(method: Callable[..., Any]) -> Callable[..., Any]:
        def set_dtypes(self: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(self, *args, **kwargs)
            except ValueError as error:
                if _LACKS_DTYPE in str(error):
                    recorder.lacks_dtype(self, str(error))
                raise

        return set_dtypes

    def flops(method: Callable[..., Any]) -> Callable[..., Any]:
        def get_tflops(self: Any, *args: Any, **kwargs: Any) -> Any:
            value = method(self, *args, **kwargs)
            recorder.add_work("flops", value)
            return value

        return get_tflops

    _wrap(cls, "get_latency", latency)
    _wrap(cls, "unpack_to_args_kwargs", unpack)
    _wrap(cls, "get_input_iter", input_iter)
    _wrap(cls, "set_dtypes", dtypes)
    _wrap(cls, "get_tflops", flops)


def _watched(iterator: Any, bench: Any, recorder: Recorder) -> Any:
    """The corpus's inputs, unchanged; an exception while one is made is reported and goes on."""
    iterator = iter(iterator)
    while True:
        try:
            value = next(iterator)
        except StopIteration:
            return
        except Exception as error:
            # An iterator that wraps its parent's is watched twice; one failure is one case.
            if not getattr(error, "opgauge_reported", False):
                recorder.input_failed(bench, error)
                error.opgauge_reported = True  # type: ignore[attr-defined]
            raise
        yield value


def _hook_gems(recorder: Recorder) -> None:
    """Sees when the corpus's own operators are switched on, so that a side is named rightly."""
    module = sys.modules.get("flag_gems")
    context = getattr(module, "use_gems", None)
    if not isinstance(context, type):
        return

    def enter(method: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(self: Any) -> Any:
            recorder.enter_gems()
            return method(self)

        return __enter__

    def leave(method: Callable[..., Any]) -> Callable[..., Any]:
        def __exit__(self: Any, *details: Any) -> Any:
            recorder.leave_gems()
            return method(self, *details)

        return __exit__

    _wrap(context, "__enter__", enter)
    _wrap(context, "__exit__", leave)


def _hook_do_bench(recorder: Recorder, items: list[Any]) -> int:
    """Corpora that call triton.testing.do_bench by themselves; also where a test module has
    imported the name."""
    testing = sys.modules.get("triton.testing")
    original = getattr(testing, "do_bench", None)
    if testing is None or original is None:
        return 0

    @functools.wraps(original)
    def do_bench(*args: Any, **kwargs: Any) -> Any:
        return recorder.lone_call(lambda: original(*args, **kwargs))

    testing.do_bench = do_bench
    modules = {getattr(item, "module", None) for item in items}
    for module in modules:
        for name, value in list(vars(module).items()) if module is not None else ():
            if value is original:
                setattr(module, name, do_bench)
    return 1


def install(session: Session, items: list[Any]) -> None:
    """Puts the hooks in place; says how many, since a corpus without any cannot be seen."""
    global _recorder
    _recorder = Recorder(session)
    classes = _benchmark_classes()
    for cls in classes:
        _hook_class(cls, _recorder)
    _hook_gems(_recorder)
    calls = _hook_do_bench(_recorder, items)
    session.channel.tell("event", name="hooks", classes=len(classes), do_bench=calls)
    if not classes and not calls:
        session.channel.tell(
            "log",
            level="error",
            text="nothing to hook: the corpus has neither a Benchmark class nor triton's do_bench",
        )
