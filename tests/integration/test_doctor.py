# SPDX-License-Identifier: Apache-2.0
"""`opgauge doctor --parse`: what a vendor's tool printed on somebody else's machine."""

from __future__ import annotations

import pytest
from conftest import SOURCE

SAMPLES = SOURCE / "tests/data/devices"


def test_a_saved_output_is_shown_as_devices(opgauge):
    done = opgauge(
        "doctor", "--parse", SAMPLES / "cuda/table.txt", "--command", "nvidia-smi", "--json"
    )
    assert done.code == 0, done.err
    (backend,) = done.json()["backends"]
    assert (backend["backend"], backend["source"]) == ("cuda", "nvidia-smi")
    assert backend["devices"][0]["pci_id"] is not None


def test_the_command_may_stand_at_the_head_of_the_file(opgauge):
    saved = opgauge.folder / "saved.txt"
    saved.write_text("$ npu-smi info\n" + (SAMPLES / "ascend/info.txt").read_text())
    done = opgauge("doctor", "--parse", saved)
    assert done.code == 0, done.err
    assert "ascend" in done.out


@pytest.mark.parametrize(
    ("text", "words", "code", "line"),
    [
        ("x\n", [], 2, "no command to read the output by; name what printed it with --command"),
        ("x\n", ["--command", "ls -l"], 2, "'ls' is no tool that lists devices; known: nvidia-smi"),
        (
            "No devices were found\n",
            ["--command", "nvidia-smi"],
            4,
            "No devices were found",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(opgauge, text, words, code, line):
    saved = opgauge.folder / "saved.txt"
    saved.write_text(text)
    done = opgauge("doctor", "--parse", saved, *words)
    assert done.code == code, done.err + done.out
    assert line in done.err + done.out
    assert (done.err + done.out).count("\n") == 1


def test_a_file_that_is_not_there_and_a_command_without_a_file(opgauge):
    absent = opgauge("doctor", "--parse", opgauge.folder / "absent", "--command", "nvidia-smi")
    assert absent.code != 0
    assert "absent" in absent.err
    alone = opgauge("doctor", "--command", "nvidia-smi")
    assert alone.code == 2
    assert "--parse" in alone.err
