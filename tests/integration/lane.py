# SPDX-License-Identifier: Apache-2.0
"""Plays the batch at the other end of a lane's channel (docs/lane_protocol.md)."""

from __future__ import annotations

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

from conftest import Tool


class Lane:
    """One `opgauge batch-lane`. Each message's `seq` is checked as it comes."""

    def __init__(self, tool: Tool, *options: str | Path, **env: str) -> None:
        self.folder = tool.folder
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                tool.command("batch-lane", *options, str(theirs.fileno())),
                cwd=tool.folder,
                env={**tool.env, **env},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                pass_fds=[theirs.fileno()],
            )
        ours.settimeout(60)
        self.socket = ours
        self.lines = ours.makefile("r", encoding="utf-8")
        self.messages: list[dict[str, Any]] = []

    def __enter__(self) -> Lane:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self.process.kill()
        self.process.communicate()

    def read(self) -> dict[str, Any]:
        line = self.lines.readline()
        assert line, f"the lane is gone: {self.process.communicate(timeout=30)}"
        message = json.loads(line)
        assert message["seq"] == len(self.messages) + 1
        self.messages.append(message)
        return message

    def until(self, kind: str) -> dict[str, Any]:
        while (message := self.read())["type"] != kind:
            assert message["type"] in ("phase", "case", "row", "ended"), message
        return message

    def answer(self, **members: Any) -> None:
        line = json.dumps({**members, "to": self.messages[-1]["seq"]}) + "\n"
        self.socket.sendall(line.encode())

    def give(self, operator: str, **members: Any) -> Path:
        """Answers `ready` with an operator; returns its folder."""
        assert self.until("ready")
        index = sum(message["type"] == "ended" for message in self.messages)
        run_dir = self.folder / "lane-runs" / f"{self.process.pid}-{index}"
        run_dir.parent.mkdir(exist_ok=True)
        job = {"index": index, "operator": operator, "file": "", "node": "", "resume": False}
        self.answer(type="run", **{**job, "run_dir": str(run_dir), **members})
        return run_dir

    def run(self, operator: str, **members: Any) -> tuple[dict[str, Any], Path]:
        run_dir = self.give(operator, **members)
        return self.until("ended"), run_dir

    def end(self) -> int:
        self.until("ready")
        self.answer(type="end")
        return self.process.wait(timeout=30)

    def close(self) -> None:
        self.lines.close()
        self.socket.close()
