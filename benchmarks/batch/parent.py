#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the parent of a batch costs: 1,000 operators on 8 stub lanes. Prints its CPU time an
operator, its peak memory and the time of the whole batch.

    benchmarks/batch/parent.py [OPERATORS] [LANES]      (OPGAUGE_BIN: the binary)"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("OPGAUGE_BIN", str(SOURCE / "build/release/bin/opgauge"))


def environment(folder: Path, lanes: int) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "OPGAUGE_SYSFS": str(folder / "none"),
        "OPGAUGE_LIBRARY_PATH": str(folder / "none"),
        "OPGAUGE_LOCKS": str(folder / "locks"),
        "OPGAUGE_PYTHON": sys.executable,
        "OPGAUGE_LANE_PROGRAM": str(SOURCE / "tests/support/stub_lane.py"),
        "OPGAUGE_FAKE_DEVICES": json.dumps([{"uuid": f"FAKE-{i:04}"} for i in range(lanes)]),
    }


def make_corpus(folder: Path, operators: int) -> Path:
    corpus = folder / "corpus"
    corpus.mkdir()
    for i in range(operators):
        (corpus / f"test_op{i:04}.py").write_text(
            f"import pytest\n\n\n@pytest.mark.op{i:04}\ndef test_op{i:04}():\n"
            "    triton.testing.do_bench(None)\n"
        )
    return corpus


def main() -> None:
    operators = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    lanes = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        words = [BINARY, "batch", "*", "--corpus", str(make_corpus(folder, operators)),
                 "--backend", "fake", "--devices", "all", "--run-dir", str(folder / "a"),
                 "--timer", "direct"]  # fmt: skip
        begin = time.time()
        output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
        files = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
        pid = os.posix_spawn(BINARY, words, environment(folder, lanes), file_actions=files)
        # Its lanes are waited for by it, so that their time is in its children's, not in its own.
        peak = 0
        own = 0.0
        ticks = os.sysconf("SC_CLK_TCK")
        while os.waitpid(pid, os.WNOHANG) == (0, 0):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                own = max(own, (int(fields[11]) + int(fields[12])) / ticks)
                for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                    if line.startswith("VmHWM"):
                        peak = max(peak, int(line.split()[1]))
            except (OSError, IndexError):
                pass
            time.sleep(0.02)
        passed = (folder / "a/ops_status.csv").read_text().count(",passed,")
        size = (folder / "a/batch.json").stat().st_size
        print(f"{passed} of {operators} passed on {lanes} lanes in {time.time() - begin:.1f} s")
        print(f"parent: {1e3 * own / operators:.2f} ms CPU an operator, {peak / 1024:.1f} MiB peak")
        print(f"batch.json: {size / 1024:.0f} KiB, rewritten after each operator")


if __name__ == "__main__":
    main()
