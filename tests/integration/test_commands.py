# SPDX-License-Identifier: Apache-2.0
"""devices, plan, corpus, doctor and help, through stand-in libraries and the built tool."""

from __future__ import annotations

import re

import pytest
from conftest import BINARY, SOURCE

CORPUS = SOURCE / "tests/data/corpus_scan"
LIBRARIES = BINARY.parent.parent / "tests/fake_vendor/now"
VENDORS = ("cuda", "musa", "rocm", "ascend")


def test_devices_lists_what_is_here_and_why_there_is_no_more(opgauge):
    done = opgauge("devices")
    assert done.code == 0
    assert re.search(r"^cpu +0 ", done.out, re.MULTILINE)
    for vendor in VENDORS:
        assert f"{vendor}: no devices: no library lib" in done.out
    facts = opgauge("devices", "--json").json()
    assert [entry["backend"] for entry in facts["backends"]] == [*VENDORS, "cpu"]
    assert opgauge("devices", "--backend", "musa").code == 4


@pytest.mark.parametrize("vendor", VENDORS)
def test_one_variable_plans_the_same_corpus_for_each_vendor(opgauge, vendor):
    env = {
        "ZL_BACKEND": vendor,
        "OPGAUGE_LIBRARY_PATH": str(LIBRARIES),
        "OPGAUGE_FAKE_VENDOR": "devices=8",
    }
    plan = opgauge("plan", "mm", "--corpus", CORPUS, "--devices", "3", "--json", **env)
    assert plan.code == 0, plan.err
    facts = plan.json()
    assert facts["backend"] == {"value": vendor, "why": f"ZL_BACKEND={vendor}"}
    assert facts["device"]["index"] == 3
    assert facts["timer"]["value"] == ("graph" if vendor == "cuda" else "direct")
    assert facts["device"]["token"] in {"3", "GPU-00000003"}
    plugins = [plugin["value"] for plugin in facts["plugins"]]
    assert ("opgauge_bridge.clusters" in plugins) == (vendor == "cuda")
    assert all(plugin["why"] for plugin in facts["plugins"] + facts["plugins_left_out"])
    assert not (opgauge.folder / "runs").exists()


def test_several_vendors_at_once_must_be_chosen_between(opgauge):
    env = {"OPGAUGE_LIBRARY_PATH": str(LIBRARIES), "OPGAUGE_FAKE_VENDOR": "devices=1"}
    done = opgauge("plan", "mm", "--corpus", CORPUS, **env)
    assert done.code == 2
    assert "several backends have devices: cuda (1 x NVIDIA Stand-in), musa" in done.err
    assert "choose one with --backend or ZL_BACKEND" in done.err


def test_corpus_lists_and_shows_without_a_device(opgauge):
    listed = opgauge("corpus", "list", "--corpus", CORPUS, "--json").json()["nodes"]
    assert [node["id"] for node in listed][:2] == [
        "test_einsum.py::test_einsum",
        "test_einsum_models.py::test_einsum_models",
    ]
    shown = opgauge("corpus", "show", "mm", "--corpus", CORPUS)
    assert shown.code == 0
    assert "test_mm.py::test_mm_again" in shown.out
    native = opgauge("corpus", "list").out
    assert [line.split()[0] for line in native.splitlines()[1:7]] == [
        "mm",
        "add",
        "relu",
        "softmax",
        "layer_norm",
        "sum",
    ]


def test_doctor_names_what_is_wrong_and_the_cure(opgauge):
    done = opgauge("doctor", "--corpus", "/absent")
    assert done.code == 4
    assert "corpus /absent: no such folder" in done.out
    assert "cure: name one with --corpus" in done.out
    well = opgauge("doctor")
    assert well.code == 0, well.out
    facts = {entry["subject"]: entry["finding"] for entry in opgauge("doctor", "--json").json()}
    assert facts["cpu"] == "works"
    assert facts["cuda"] == "absent"
    assert facts["installation"] == "works"


def test_every_option_is_on_its_help_page(opgauge):
    source = (SOURCE / "cli/options.cpp").read_text()
    options = set(re.findall(r'"(--[a-z-]+)', source)) | {"--gpus"}
    pages = {path.stem: path.read_text() for path in (SOURCE / "docs/cli").glob("*.md")}
    # Hidden commands have no help page.
    hidden = (SOURCE / "docs/lane_protocol.md").read_text()
    everything = "\n".join([*pages.values(), hidden])
    for option in options:
        assert option in everything, option
    for command, page in pages.items():
        words = ["--help"] if command == "opgauge" else [command, "--help"]
        done = opgauge(*words)
        assert done.code == 0
        assert done.out.strip() == page.strip()


def test_the_version_stands_in_one_place(opgauge):
    version = re.search(r"VERSION (\S+) ", (SOURCE / "CMakeLists.txt").read_text()).group(1)
    assert opgauge("--version").out == f"opgauge {version}\n"


def test_the_native_corpus_measures_and_checks_its_sides(opgauge):
    done = opgauge("run", "relu", "--dtypes", "float32", "--max-time", "0.05", timeout=120)
    assert done.code == 0, done.err
    import json

    rows = [
        json.loads(line) for line in (opgauge.one_run() / "rows.jsonl").read_text().splitlines()
    ]
    assert [row["case"]["shapes"] for row in rows] == [[[64, 512]], [[128, 3072]], [[1024, 2048]]]
    for row in rows:
        assert row["status"] == "ok"
        assert row["check"]["ok"] is True
        assert row["check"]["max_abs_error"] == 0
        assert row["base"]["timer"] == row["candidate"]["timer"] == "host"
        assert row["speedup"] > 0
    assert "timer host" in done.out
    assert "backend" not in done.err


def test_both_native_sides_use_one_thread_unless_told_otherwise(opgauge):
    opgauge("run", "add", "--dtypes", "float32", "--max-time", "0.02", timeout=120)
    import json

    identity = json.loads((opgauge.one_run() / "run_identity.json").read_text())
    assert identity["child"]["threads"] == {"openblas": 1, "onednn": 1}
    assert identity["environment"]["OMP_NUM_THREADS"] == "1"


def test_a_dtype_that_the_native_corpus_lacks_is_a_skip(opgauge):
    done = opgauge("run", "add", "--dtypes", "float16")
    assert done.code == 0
    assert "skipped: native::add: dtype not supported: it has float32, bfloat16" in done.out
