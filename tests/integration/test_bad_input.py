# SPDX-License-Identifier: Apache-2.0
"""Bad input ends in one clear line and the documented exit code, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SOURCE

CORPUS = SOURCE / "tests/data/corpus_scan"


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["plan", "mm", "--from", ""], 2, "--from: the value is empty"),
        (["plan", "mm", "--warmup-devices", ""], 2, "--warmup-devices: the value is empty"),
        (["plan", "mm", "--compile-jobs", "0"], 2, "--compile-jobs: Value 0 not in range"),
        (["run", "mmm"], 2, "unknown operator 'mmm' in the native corpus; did you mean 'mm'?"),
        (["run", "mm", "--backend", "cudaa"], 2, "unknown backend 'cudaa'; did you mean 'cuda'?"),
        (["run", "mm", "--devices", "7"], 2, "--devices 7: there is no device 7; 1 device is here"),
        (["run", "mm", "--corpus", "/absent"], 4, "corpus /absent: no such folder"),
        (["run", "mm", "--timer", "sundial"], 2, "unknown timer 'sundial'"),
        (["run", "mm", "--timer", "graph"], 3, "backend cpu has no capability graph_capture"),
        (["run", "mm", "--tune", "replay"], 2, "--tune replay has no source"),
        (["run"], 2, "no operator named"),
        (["show", "/absent"], 2, "/absent is not a run folder: no such folder"),
        (["devices", "--backend", "nvidiaa"], 2, "did you mean 'nvidia'?"),
        (["corpus", "show"], 2, "corpus show needs an operator"),
    ],
)
def test_one_line_and_its_exit_code(opgauge, words, code, line):
    done = opgauge(*words)
    assert done.code == code, done.err
    assert line in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
    assert not (opgauge.folder / "runs").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["run", "mm", "--tiemr", "host"],
            "opgauge run has no option --tiemr; did you mean '--timer'?; `opgauge run --help` "
            "explains all",
        ),
        (["run", "mm", "--devcies=0"], "no option --devcies; did you mean '--devices'?"),
        (["run", "mm", "--zzzzzzzz"], "opgauge run has no option --zzzzzzzz; `opgauge run --help`"),
        (
            ["batch", "mm", "--lane-silence", "-5"],
            "--lane-silence: -5 is not a number of 0 or more",
        ),
        (["run", "mm", "--stall", "soon"], "--stall: soon is not a number of 0 or more"),
        (["batch", "mm", "--task-time", "0"], "--task-time: 0 is not a number above 0"),
        (["runn", "mm"], "unknown command 'runn'; did you mean 'run'?; known: devices, plan"),
        (["--tiemr"], "opgauge has no option --tiemr; `opgauge --help` explains all"),
        (["--versoin"], "opgauge has no option --versoin; did you mean '--version'?"),
        (
            [],
            "no command given; known: devices, plan, corpus, run, batch, show, compare, ab, "
            "report, verify",
        ),
        (["run", "mm", "add"], "opgauge run does not take 'add'; `opgauge run --help` explains"),
        (["batch", "mm", "--resume", ""], "opgauge batch: --resume: the value is empty"),
        (["run", "mm", "--level", "deep"], "opgauge run: --level: deep not in {"),
        (["run", "mm", "--min-samples", "many"], "opgauge run: --min-samples: Value many not in"),
        (["show"], "opgauge show: run is required; `opgauge show --help` explains what it takes"),
    ],
)
def test_a_command_line_that_does_not_parse_is_one_line_of_ours(opgauge, words, line):
    done = opgauge(*words)
    assert done.code == 2
    assert done.err.startswith("opgauge: ")
    assert line in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""


def test_a_folder_that_cannot_be_made_names_the_option_that_chose_it(opgauge):
    (opgauge.folder / "file").write_text("")
    for option in ("--root", "--run-dir"):
        done = opgauge("run", "mm", option, opgauge.folder / "file/below")
        assert done.code == 4
        assert f"choose another with {option}\n" in done.err


def test_no_accelerator_for_a_corpus_that_needs_one_lists_every_reason(opgauge):
    done = opgauge("run", "mm", "--corpus", CORPUS)
    assert done.code == 4
    assert "no accelerator found (cuda: no library libnvidia-ml.so.1, no nvidia-smi" in done.err
    assert "ascend: no library libdcmi.so" in done.err


def test_no_python_and_a_python_without_pytest(opgauge):
    words = ["run", "mm", "--corpus", CORPUS, "--backend", "fake"]
    absent = opgauge(*words, "--python", "/absent/python")
    assert absent.code == 4
    assert "cannot start /absent/python" in absent.err
    assert "--python" in absent.err
    bare = Path("/usr/bin/python3")
    without = opgauge(*words, "--python", bare, PYTHONPATH="", PYTHONNOUSERSITE="1")
    if "has no pytest" not in without.err:
        pytest.skip("the system's Python has pytest")
    assert without.code == 4
    assert "-m pip install pytest" in without.err


def test_a_program_that_is_no_python_is_named(opgauge):
    done = opgauge("run", "mm", "--corpus", CORPUS, "--backend", "fake", "--python", "/bin/false")
    assert done.code == 4
    assert "/bin/false does not work as a Python interpreter" in done.err


def test_an_unreadable_shape_file_is_refused_with_its_place(opgauge):
    bad = opgauge.folder / "bad.yaml"
    bad.write_text("mm:\n  shapes: [1, 2\n")
    done = opgauge("plan", "mm", "--corpus", CORPUS, "--backend", "fake", "--shapes", bad)
    assert done.code == 2
    assert f"shape file {bad}:" in done.err
    assert done.err.count("\n") == 1
