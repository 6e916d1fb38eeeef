# SPDX-License-Identifier: Apache-2.0
"""A parent for one child: starts pytest with the bridge on a socketpair and answers by rule."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BRIDGE = Path(__file__).resolve().parents[1]
DATA = BRIDGE.parent / "tests" / "data"
PLUGINS = ("opgauge_bridge.plugin", "opgauge_bridge.guard", "opgauge_bridge.clusters")
# The package under test needs no installation. No conftest does this: the tool's tests have one
# of their own, and a run of both would know only one of the two.
sys.path.insert(0, str(BRIDGE))

# What a child may take at most; only a child that hangs comes near it.
DEADLINE_S = 60

Message = dict[str, Any]
Rule = Callable[[Message], Message | None]


def job(**members: Any) -> Message:
    device = {"token": "FAKE-0000", "uuid": "FAKE-0000", "pci_id": None, "name": "Fake Accelerator"}
    return {
        "type": "job",
        "protocol": 1,
        "backend": "fake",
        "device": device,
        "timer": "direct",
        "timer_settings": {},
        "check": True,
        "tune": {"mode": "off"},
        "skip_cases": [],
        "select": {},
        **members,
    }


# What a parent says that wants everything measured; docs/child_protocol.md names the questions.
USUAL: dict[str, Message] = {
    "hello": job(),
    "device": {"type": "go"},
    "case_begin": {"type": "measure", "timer": "direct", "sides": ["base", "candidate"]},
    "side_begin": {"type": "more", "samples": 1, "calls_per_sample": 1},
    "samples": {"type": "enough"},
    "turn": {"type": "go"},
    "capture_failed": {"type": "stop", "reason": "another child goes on"},
    "winner": {"type": "tune", "exclude": []},
    "winner_failed": {"type": "go"},
}


@dataclass
class Child:
    """How a child ended and what it said."""

    exit_code: int = 0
    output: str = ""
    messages: list[Message] = field(default_factory=list)

    def of(self, *types: str) -> list[Message]:
        return [message for message in self.messages if message["type"] in types]

    def one(self, type_: str) -> Message:
        found = self.of(type_)
        assert len(found) == 1, f"{len(found)} messages of type {type_}\n{self.output}"
        return found[0]

    def types(self) -> list[str]:
        return [message["type"] for message in self.messages]


def serve(end: socket.socket, rules: dict[str, Message | Rule], child: Child) -> None:
    """Answers until the child hangs up, or a rule answers None: then the parent is gone."""
    with end, end.makefile("rb") as lines:
        for line in lines:
            message = json.loads(line, parse_constant=lambda name: f"not JSON: {name}")
            child.messages.append(message)
            if message["type"] not in USUAL:
                continue
            rule = rules.get(message["type"], USUAL[message["type"]])
            answer = rule(message) if callable(rule) else rule
            if answer is None:
                end.shutdown(socket.SHUT_RDWR)
                return
            end.sendall(json.dumps({"to": message["seq"], **answer}).encode() + b"\n")


def run_child(
    folder: Path,
    *arguments: str,
    rules: dict[str, Message | Rule] | None = None,
    environment: dict[str, str] | None = None,
    stubs: Path = DATA / "corpus_flaggems" / "stubs",
    plugins: tuple[str, ...] = PLUGINS,
    connected: str = "yes",
) -> Child:
    """Runs pytest in `folder`. `connected`: "no" starts it without a channel."""
    ours, theirs = socket.socketpair()
    variables = {name: value for name, value in os.environ.items() if not name.startswith("FAKE_")}
    variables.pop("PYTEST_ADDOPTS", None)
    variables["PYTHONPATH"] = os.pathsep.join((str(BRIDGE), str(stubs)))
    variables["PYTHONDONTWRITEBYTECODE"] = "1"
    variables["OPGAUGE_VERSION"] = "1.2.3"
    variables |= environment or {}
    if connected == "yes":
        variables["OPGAUGE_CHANNEL_FD"] = str(theirs.fileno())
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider"]
    for plugin in plugins:
        command += ["-p", plugin]
    child = Child()
    server = threading.Thread(target=serve, args=(ours, rules or {}, child), daemon=True)
    with theirs:
        process = subprocess.Popen(
            [*command, *arguments],
            cwd=folder,
            env=variables,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    server.start()
    try:
        child.output, _ = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    server.join(DEADLINE_S)
    child.exit_code = process.returncode
    return child


def run_corpus(*arguments: str, **options: Any) -> Child:
    """The FlagGems-like corpus, as the tool starts it: from its benchmark folder."""
    return run_child(
        DATA / "corpus_flaggems" / "benchmark", "--level", "core", *arguments, **options
    )
