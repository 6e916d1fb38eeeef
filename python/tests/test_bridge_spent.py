# SPDX-License-Identifier: Apache-2.0
"""What a child says of where its time went (opgauge_bridge/spent.py)."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import types
from typing import Any

import pytest

import fake_parent  # noqa: F401  makes the bridge importable
from opgauge_bridge import compiling, spent
from opgauge_bridge.channel import Channel


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(spent, "_spent", spent.Spent(clock))
    monkeypatch.setattr(spent, "_pid", os.getpid())
    return clock


def test_each_second_counts_once_for_the_innermost(clock):
    with spent.on(spent.CHECK):
        clock.now += 1
        with spent.on(spent.TUNE):
            clock.now += 2
            with spent.on(spent.COMPILE):
                clock.now += 4
            clock.now += 8
        clock.now += 16
    clock.now += 32
    assert spent.take() == {"check": 17.0, "tune": 10.0, "compile": 4.0}
    assert spent.take() == {}


def test_what_goes_on_is_told_in_parts(clock):
    with spent.on(spent.COMPILE):
        clock.now += 3
        assert spent.take() == {"compile": 3.0}
        clock.now += 2
    assert spent.take() == {"compile": 2.0}


def test_what_is_no_part_and_what_takes_no_time_is_not_told(clock):
    clock.now += 5
    with spent.on(spent.CHECK):
        clock.now += 1e-7
    assert spent.take() == {}


def test_an_error_ends_its_part(clock):
    with pytest.raises(RuntimeError), spent.on(spent.COMPILE):
        clock.now += 1
        raise RuntimeError
    clock.now += 1
    assert spent.take() == {"compile": 1.0}


def test_another_thread_and_a_worker_count_nothing(clock, monkeypatch):
    def work() -> None:
        with spent.on(spent.COMPILE):
            clock.now += 1

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    monkeypatch.setattr(spent, "_pid", os.getpid() + 1)
    work()
    assert spent.take() == {}
    monkeypatch.setattr(spent, "_pid", os.getpid())
    assert spent.take() == {}


def test_a_message_has_the_sums_and_the_wait_for_its_answer_is_none(clock, monkeypatch):
    monkeypatch.setattr("opgauge_bridge.channel.die_with_parent", lambda: None)
    ours, theirs = socket.socketpair()
    channel = Channel(ours.detach())

    class Slow:
        """Answers each question 7 seconds later."""

        def __call__(self) -> dict[str, Any]:
            clock.now += 7
            return {"type": "go", "to": 1}

    channel._read_line = Slow()  # type: ignore[method-assign]
    with spent.on(spent.CHECK):
        clock.now += 1
        channel.ask("turn")
        clock.now += 2
    channel.tell("turn_end")
    channel.tell("bye", exit=0)
    lines = [json.loads(line) for line in theirs.recv(4096).splitlines()]
    theirs.close()
    assert [line.get("spent") for line in lines] == [{"check": 1.0}, {"check": 2.0}, None]


def test_compiling_a_kernel_is_a_part(clock, monkeypatch):
    def compile(seconds: float) -> str:
        clock.now += seconds
        return "kernel"

    inner = types.ModuleType("triton.compiler.compiler")
    inner.compile = compile
    inner.CompiledKernel = type("CompiledKernel", (), {})
    package = types.ModuleType("triton.compiler")
    package.compile = compile
    monkeypatch.setitem(sys.modules, "triton.compiler", package)
    monkeypatch.setitem(sys.modules, "triton.compiler.compiler", inner)
    assert compiling.watch()
    assert compiling.watch()
    assert package.compile(3) == "kernel"
    assert inner.compile(seconds=1) == "kernel"
    assert spent.take() == {"compile": 4.0}
