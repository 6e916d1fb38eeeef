#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A lane of `opgauge batch` that measures nothing: OPGAUGE_LANE_PROGRAM names it. What each
operator does comes from the JSON file in STUB_LANE: {"ops": {NAME: {...}}, "log": FILE}. `do` is
one of the functions below; everything else of an operator goes into its `ended`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any


class Lane:
    def __init__(self) -> None:
        self.socket = socket.socket(fileno=int(sys.argv[-1]))
        self.reader = self.socket.makefile("rb")
        self.seq = 0
        self.device = sys.argv[sys.argv.index("--devices") + 1]
        name = os.environ.get("STUB_LANE")
        self.script: dict[str, Any] = json.loads(Path(name).read_text()) if name else {}
        self.job: dict[str, Any] = {}
        self.begun = 0.0

    def tell(self, type_: str, **members: Any) -> None:
        self.seq += 1
        line = {"type": type_, "seq": self.seq, **members}
        self.socket.sendall(json.dumps(line).encode() + b"\n")

    def ask(self, type_: str, **members: Any) -> dict[str, Any]:
        self.tell(type_, **members)
        line = self.reader.readline()
        if not line:
            os._exit(86)
        return json.loads(line)

    def log(self, **what: Any) -> None:
        if "log" not in self.script:
            return
        line = json.dumps({"pid": os.getpid(), "device": self.device, "at": time.time(), **what})
        with open(self.script["log"], "a") as file:
            file.write(line + "\n")

    def ended(self, **members: Any) -> None:
        facts: dict[str, Any] = {
            "index": self.job["index"], "status": "passed", "reason": "", "exit_code": 0,
            "outcome": {"exit": 0, "signal": None}, "seconds": time.time() - self.begun,
            "rows": {"ok": 2, "failed": 0, "invalid": 0, "skipped": 0, "flagged": 0},
            "geomean_speedup": 1.25, "geomean_n": 2, "markers": {}, "tuning": "record",
            "timer": "graph", "device": self.device, "setup_id": "0123456789abcdef",
        }  # fmt: skip
        self.tell("ended", **{**facts, **members})

    def interrupted(self, *_: Any) -> None:
        if self.job:
            self.ended(status="interrupted", reason="interrupted by SIGINT", exit_code=130)
        os._exit(130)

    def run(self) -> None:
        fork_server: bool | str = True
        while True:
            self.job = {}
            job = self.ask("ready", fork_server=fork_server)
            if job["type"] == "end":
                break
            self.job = job
            self.begun = time.time()
            op = self.script.get("ops", {}).get(self.job["operator"], {})
            self.log(job=self.job)
            fork_server = op.get("fork_server", fork_server)
            self.work(dict(op))

    def work(self, op: dict[str, Any]) -> None:
        folder = Path(self.job["run_dir"])
        folder.mkdir(parents=True, exist_ok=bool(self.job["resume"]))
        (folder / "run_identity.json").write_text("{}")
        for name in ("run_identity.json", "rows.jsonl") if "like" in op else ():
            shutil.copy(Path(op["like"]) / name, folder)
        op.pop("like", None)
        self.tell("phase", text="measuring")
        for index in (1, 2):
            self.tell("case", name=f"{self.job['operator']} float16", index=index, planned=2)
            time.sleep(op.get("sleep", 0) / 2)
            self.tell("row", status="ok", flags=[])
        on = op.pop("only_on", [self.device])
        does = op.pop("do", None)
        op.pop("sleep", None)
        if does and self.device in on:
            globals()["do_" + does](self)
            return
        if self.device not in on:
            op = {}
        (folder / "status.json").write_text(
            json.dumps({"schema_version": 1, "status": op.get("status", "passed"), "seconds": 1})
        )
        self.ended(**op)


def do_crash(lane: Lane) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def do_abort(lane: Lane) -> None:
    os.abort()


def do_exit_zero(lane: Lane) -> None:
    os._exit(0)


def do_exit_three(lane: Lane) -> None:
    os._exit(3)


def do_hang(lane: Lane) -> None:
    time.sleep(600)


def do_hang_for_good(lane: Lane) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)


def do_stop_itself(lane: Lane) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def do_garbage(lane: Lane) -> None:
    lane.socket.sendall(b"\x00\xff not json\n")
    time.sleep(600)


def do_half_line(lane: Lane) -> None:
    lane.socket.sendall(b'{"type": "ended", "se')
    os._exit(0)


def do_gigabyte(lane: Lane) -> None:
    for _ in range(1024):
        lane.socket.sendall(b"x" * (1 << 20))


def do_close(lane: Lane) -> None:
    lane.reader.close()
    lane.socket.shutdown(socket.SHUT_RDWR)
    time.sleep(600)


def do_flood(lane: Lane) -> None:
    while True:
        lane.tell("phase", text="flooding " * 20)


def do_wrong_seq(lane: Lane) -> None:
    lane.seq += 5
    lane.tell("phase", text="from nowhere")
    time.sleep(600)


def do_other_index(lane: Lane) -> None:
    lane.job["index"] += 1
    lane.ended()
    time.sleep(600)


def do_ask_again(lane: Lane) -> None:
    lane.ask("ready", fork_server=True)


def do_end_twice(lane: Lane) -> None:
    lane.ended()
    lane.ended()
    time.sleep(600)


def do_ended_empty(lane: Lane) -> None:
    lane.tell("ended", index=lane.job["index"])


def do_wrong_types(lane: Lane) -> None:
    lane.ended(status=["x"], reason=7, seconds="long", rows=[1], markers=[], geomean_speedup="fast")


def do_deep(lane: Lane) -> None:
    lane.socket.sendall(b"[" * 100_000 + b"\n")
    time.sleep(600)


def do_not_an_object(lane: Lane) -> None:
    lane.socket.sendall(b"[1, 2]\n")
    time.sleep(600)


def do_ended_then_garbage(lane: Lane) -> None:
    lane.seq += 1
    line = {"type": "ended", "seq": lane.seq, "index": lane.job["index"], "status": "passed"}
    lane.socket.sendall(json.dumps(line).encode() + b"\ngarbage\n")
    time.sleep(600)


def do_leave_child(lane: Lane) -> None:
    if os.fork() == 0:
        os.setsid()
        lane.log(left_behind=os.getpid())
        time.sleep(600)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGKILL)


def do_write_status_and_die(lane: Lane) -> None:
    status = {"schema_version": 1, "status": "passed", "reason": "", "seconds": 2.5,
              "rows": {"ok": 3}}  # fmt: skip
    (Path(lane.job["run_dir"]) / "status.json").write_text(json.dumps(status))
    os.kill(os.getpid(), signal.SIGKILL)


def do_unknown_message(lane: Lane) -> None:
    lane.tell("news", of="tomorrow")
    lane.ended()


def main() -> None:
    lane = Lane()
    signal.signal(signal.SIGINT, lane.interrupted)
    lane.run()


if __name__ == "__main__":
    main()
