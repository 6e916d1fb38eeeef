# SPDX-License-Identifier: Apache-2.0
"""Where the recorder is hooked into a corpus, without touching its files.

FlagGems and its like: methods of the class `Benchmark` and of all its subclasses (with their
mixins, and with those that a test defines only while it runs) are wrapped on the class, so that
tests with their own `run` or `get_latency` are seen too. A corpus without such a class: each call
of triton.testing.do_bench inside a test is a case with one side.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from . import compiling
from .cases import Recorder
from .session import Session
from .turns import turn

_LACKS_DTYPE = "can't be supported by this op"
_BENCHMARK_PARTS = ("get_latency", "run", "get_input_iter", "set_dtypes")

_recorder: Recorder | None = None


def begin_test(item: Any) -> None:
    if _recorder is not None:
        _recorder.begin_test(item)


def end_test() -> None:
    if _recorder is not None:
        _recorder.end_test()


def dtypes_of_test() -> list[str]:
    """What the operators of the test that has just ended can measure, before any choice."""
    return list(_recorder.dtypes) if _recorder is not None else []


def _benchmark_bases() -> list[type]:
    """The corpus's class `Benchmark`. Looked up in the modules' own names: an attribute access
    would make lazy packages import themselves."""
    found: dict[int, type] = {}
    for module in list(sys.modules.values()):
        value = getattr(module, "__dict__", {}).get("Benchmark")
        if isinstance(value, type) and all(hasattr(value, part) for part in _BENCHMARK_PARTS):
            found[id(value)] = value
    return list(found.values())


def _with_subclasses(base: type) -> Iterator[type]:
    yield base
    children: list[type] = type.__subclasses__(base)
    for child in children:
        yield from _with_subclasses(child)


def _wrap(cls: type, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replaces a method where the class itself defines it, once."""
    method = cls.__dict__.get(name)
    if callable(method) and not hasattr(method, "opgauge_wrapped"):
        wrapped = functools.wraps(method)(make(method))
        wrapped.opgauge_wrapped = True  # type: ignore[attr-defined]
        setattr(cls, name, wrapped)


def _hook_class(cls: type, recorder: Recorder) -> None:
    """The class and its mixins, which need not know `Benchmark`."""
    for part in cls.__mro__:
        if part is object:
            continue
        _wrap(part, "get_latency", lambda method: _latency(method, recorder))
        _wrap(part, "unpack_to_args_kwargs", lambda method: _unpack(method, recorder))
        _wrap(part, "get_input_iter", lambda method: _input_iter(method, recorder))
        _wrap(part, "set_dtypes", lambda method: _dtypes(method, recorder))
        _wrap(part, "get_tflops", lambda method: _flops(method, recorder))


def _latency(method: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def get_latency(self: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        # A subclass that calls its parent's method measures once, not twice.
        if recorder.measuring:
            return method(self, op, *args, **kwargs)
        return recorder.bench_latency(
            self, op, args, kwargs, lambda: method(self, op, *args, **kwargs)
        )

    return get_latency


def _unpack(method: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def unpack_to_args_kwargs(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder.next_input()
        return method(self, *args, **kwargs)

    return unpack_to_args_kwargs


def _input_iter(method: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def get_input_iter(self: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        recorder.set_dtype(dtype)
        return _watched(method(self, dtype, *args, **kwargs), self, recorder)

    return get_input_iter


def _watched(inputs: Any, bench: Any, recorder: Recorder) -> Iterator[Any]:
    """The corpus's inputs, unchanged and no earlier than it asks for them; an exception while one
    is made is reported and goes on."""
    iterator = iter(inputs)
    while True:
        recorder.next_input()
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


def _dtypes(method: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def set_dtypes(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder.note_dtypes(self)
        try:
            result = method(self, *args, **kwargs)
            recorder.narrow_dtypes(self)
            return result
        except ValueError as error:
            if _LACKS_DTYPE in str(error) and not hasattr(error, "opgauge_reported"):
                recorder.lacks_dtype(self, str(error))
                error.opgauge_reported = True  # type: ignore[attr-defined]
            raise

    return set_dtypes


def _flops(method: Callable[..., Any], recorder: Recorder) -> Callable[..., Any]:
    def get_tflops(self: Any, *args: Any, **kwargs: Any) -> Any:
        value = method(self, *args, **kwargs)
        recorder.add_work("flops", value)
        return value

    return get_tflops


def _hook_later_classes(base: type, recorder: Recorder) -> None:
    """Tests may define their own subclass inside the test function."""
    own = base.__dict__.get("__init_subclass__")

    def __init_subclass__(cls: Any, **kwargs: Any) -> None:
        if own is not None:
            own.__func__(cls, **kwargs)
        else:
            super(base, cls).__init_subclass__(**kwargs)  # type: ignore
        _hook_class(cls, recorder)

    base.__init_subclass__ = classmethod(__init_subclass__)  # type: ignore


def _hook_gems(recorder: Recorder) -> None:
    """Sees when the corpus's own operators are switched on, so that a side is named rightly."""
    context = getattr(sys.modules.get("flag_gems"), "use_gems", None)
    if not isinstance(context, type):
        return

    def enter(method: Callable[..., Any]) -> Callable[..., Any]:
        def __enter__(self: Any) -> Any:
            recorder.enter_gems()
            # The first time it registers every operator, which takes seconds of the host alone.
            with contextlib.nullcontext() if recorder.gems_known else turn().away():
                recorder.gems_known = True
                return method(self)

        return __enter__

    def leave(method: Callable[..., Any]) -> Callable[..., Any]:
        def __exit__(self: Any, *details: Any) -> Any:
            recorder.leave_gems()
            return method(self, *details)

        return __exit__

    _wrap(context, "__enter__", enter)
    _wrap(context, "__exit__", leave)


def _called_by_tuner() -> bool:
    """An autotuner times its configurations with the same do_bench: these are no cases."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).startswith("triton.runtime"):
            return True
        # A corpus's own tuner is a subclass in a module of its own.
        if frame.f_code.co_varnames[:1] == ("self",):
            tuner = type(frame.f_locals.get("self"))
            if any(parent.__name__ == "Autotuner" for parent in tuner.__mro__):
                return True
        frame = frame.f_back
    return False


def _named(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, with the defaults: they change what is measured."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return dict(kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _hook_do_bench(recorder: Recorder, items: list[Any], name: str, lone: bool) -> int:
    """One of triton's do_bench functions, also where a test module has imported the name. `lone`:
    a call outside a benchmark class is a case of its own."""
    testing = sys.modules.get("triton.testing")
    original = getattr(testing, name, None)
    if testing is None or original is None:
        return 0

    @functools.wraps(original)
    def do_bench(*args: Any, **kwargs: Any) -> Any:
        if _called_by_tuner():
            return original(*args, **kwargs)
        arguments = _named(original, args, kwargs)
        if recorder.takes_over:
            return recorder.time(args[0] if args else kwargs["fn"], arguments)
        if recorder.measuring:
            recorder.note_settings(arguments)
            return original(*args, **kwargs)
        if not lone:
            return original(*args, **kwargs)
        return recorder.lone_call(arguments, lambda: do_bench(*args, **kwargs))

    setattr(testing, name, do_bench)
    for module in {getattr(item, "module", None) for item in items} - {None}:
        for own_name, value in list(vars(module).items()):
            if value is original:
                setattr(module, own_name, do_bench)
    return 1


def install(session: Session, items: list[Any]) -> None:
    """Puts the hooks in place; says how many, since a corpus without any cannot be seen."""
    global _recorder
    _recorder = Recorder(session)
    bases = _benchmark_bases()
    classes = [cls for base in bases for cls in _with_subclasses(base)]
    for cls in classes:
        _hook_class(cls, _recorder)
    for base in bases:
        _hook_later_classes(base, _recorder)
    _hook_gems(_recorder)
    names = ("do_bench", "do_bench_cudagraph")
    calls = sum(_hook_do_bench(_recorder, items, name, lone=not bases) for name in names)
    compiling.watch()
    session.channel.tell("event", name="hooks", classes=len(classes), do_bench=calls)
    if not classes and not calls:
        session.channel.tell(
            "log",
            level="error",
            text="nothing to hook: the corpus has neither a Benchmark class nor triton's do_bench",
        )
