# SPDX-License-Identifier: Apache-2.0
"""When a child of a shared device has its turn (opgauge_bridge/turns.py)."""

from __future__ import annotations

import os
import sys
import threading
import types
from typing import Any

import pytest

import fake_parent  # noqa: F401  makes the bridge importable
from opgauge_bridge import turns
from opgauge_bridge.tuning import compiles


class Channel:
    def __init__(self, said: list[str]) -> None:
        self._said = said

    def ask(self, type_: str, **_: Any) -> dict[str, Any]:
        self._said.append(type_)
        return {"type": "go"}

    def tell(self, type_: str, **_: Any) -> None:
        self._said.append(type_)


class Device:
    def __init__(self, said: list[str]) -> None:
        self._said = said

    def synchronize(self) -> None:
        self._said.append("synchronize")


@pytest.fixture
def said(monkeypatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(turns.backends, "device", lambda _: Device(said))
    return said


def turn_of(said: list[str], shared: bool = True) -> turns.Turn:
    job = {"turns": shared, "backend": "cuda"}
    return turns.Turn(types.SimpleNamespace(channel=Channel(said), job=job))


@pytest.fixture
def triton(monkeypatch, said) -> Any:
    """Modules of Triton's names: `compile` makes IR unless it finds the kernel."""

    class ASTSource:
        def make_ir(self) -> None:
            said.append("make_ir")

    def compile(found: bool = False, fails: bool = False) -> str:
        if not found:
            ASTSource().make_ir()
        if fails:
            raise RuntimeError("no such instruction")
        said.append("compiled")
        return "kernel"

    inner = types.ModuleType("triton.compiler.compiler")
    inner.ASTSource, inner.compile = ASTSource, compile
    package = types.ModuleType("triton.compiler")
    package.compile = compile
    monkeypatch.setitem(sys.modules, "triton.compiler", package)
    monkeypatch.setitem(sys.modules, "triton.compiler.compiler", inner)
    monkeypatch.setattr(compiles, "listener", None)
    return package


def test_what_was_launched_is_done_before_another_child_has_the_turn(said):
    turn = turn_of(said)
    turn.begin()
    turn.begin()
    turn.end()
    turn.end()
    assert said == ["turn", "synchronize", "turn_end"]


def test_a_device_of_ones_own_has_no_turns(said, triton):
    for turn in (turn_of(said, shared=False), turns.Turn(None)):
        turn.watch()
        turn.begin()
        with turn.away():
            triton.compile()
        turn.end()
    assert said == ["make_ir", "compiled"] * 2


def test_a_kernel_is_compiled_without_the_turn_and_read_from_the_cache_with_it(said, triton):
    turn = turn_of(said)
    turn.watch()
    turn.begin()
    assert triton.compile(found=True) == "kernel"
    assert said == ["turn", "compiled"]
    assert triton.compile() == "kernel"
    assert said[2:] == ["synchronize", "turn_end", "make_ir", "compiled", "turn"]


def test_a_failed_compilation_takes_the_turn_back(said, triton):
    turn = turn_of(said)
    turn.watch()
    turn.begin()
    with pytest.raises(RuntimeError):
        triton.compile(fails=True)
    assert said == ["turn", "synchronize", "turn_end", "make_ir", "turn"]


def test_neither_recording_nor_timing_gives_it_away(said, triton):
    turn = turn_of(said)
    turn.watch()
    turn.begin()
    with turn.kept(), turn.away():
        triton.compile()
    assert said == ["turn", "make_ir", "compiled"]


def test_other_threads_and_forked_workers_never_use_the_channel(said, triton):
    turn = turn_of(said)
    turn.watch()
    turn.begin()
    thread = threading.Thread(target=triton.compile)
    thread.start()
    thread.join()
    assert said == ["turn", "make_ir", "compiled"]
    pid = os.fork()
    if pid == 0:
        triton.compile()
        os._exit(0 if said[3:] == ["make_ir", "compiled"] else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_an_error_of_the_device_is_left_to_the_corpus(said, monkeypatch):
    turn = turn_of(said)
    turn.begin()
    monkeypatch.setattr(Device, "synchronize", lambda _: 1 / 0)
    turn.end()
    assert said == ["turn", "turn_end"]
