# SPDX-License-Identifier: Apache-2.0
"""The layer checks find each kind of fault, and say it in exactly these words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import check_layers  # noqa: E402

HEAD = "// SPDX-License-Identifier: Apache-2.0\n"
HASH_HEAD = "# SPDX-License-Identifier: Apache-2.0\n"


@pytest.fixture
def tree(tmp_path: Path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)

    def faults(files: dict[str, str]) -> list[str]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layers.check(tmp_path)

    return faults


def test_a_clean_tree_has_no_faults(tree):
    assert (
        tree(
            {
                "opgauge/base/a.h": HEAD + "#pragma once\n",
                "opgauge/run/b.cpp": HEAD + '#include "opgauge/base/a.h"\n',
                "opgauge/device/cuda.cpp": HEAD + 'auto v = "CUDA_VISIBLE_DEVICES";\n',
            }
        )
        == []
    )


def test_an_upward_include_is_named_with_its_line(tree):
    text = HEAD + '#include "opgauge/base/a.h"\n#include "opgauge/plan/plan.h"\n'
    assert tree({"opgauge/run/b.cpp": text}) == ["opgauge/run/b.cpp:3: run may not include plan"]


@pytest.mark.parametrize("line", ["#include <opgauge/plan/plan.h>", '  # include "plan/plan.h"'])
def test_an_upward_include_is_seen_however_it_is_written(tree, line):
    assert tree({"opgauge/run/b.cpp": HEAD + line + "\n#include <sys/plan.h>\n"}) == [
        "opgauge/run/b.cpp:2: run may not include plan"
    ]


def test_nobody_includes_the_cli(tree):
    text = HEAD + '#include "cli/options.h"\n'
    assert tree({"opgauge/session/b.cpp": text}) == [
        "opgauge/session/b.cpp:2: session may not include cli"
    ]


def test_a_folder_outside_the_table_is_a_fault(tree):
    assert tree({"opgauge/extra/b.cpp": HEAD}) == [
        "opgauge/extra/b.cpp: folder 'extra' is not in the include table"
    ]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("// works on CUDA only", "CUDA"),
        ('auto x = "HIP_VISIBLE_DEVICES";', "HIP"),
        ("int npu_count = 0;", "npu"),
        ("struct CudaThing {};", "Cuda"),
        ("int NvmlX = open();", "Nvml"),
        ("constexpr int kAscendY = 1;", "Ascend"),
        ("void startHIPStream();", "HIP"),
        ("CUDAThing thing;", "CUDA"),
    ],
)
def test_a_vendor_word_outside_its_place_is_a_fault(tree, line, word):
    assert tree({"opgauge/plan/b.cpp": HEAD + line + "\n"}) == [
        f"opgauge/plan/b.cpp:2: names the vendor word '{word}'"
    ]


def test_words_that_only_contain_a_vendor_word_are_none(tree):
    text = "int relationship = 0;  // a ship, AscendingOrder, Hippo, Cannot, amd64\n"
    assert tree({"opgauge/plan/b.cpp": HEAD + text}) == []


def test_build_files_name_no_vendor_outside_its_place_and_need_no_head(tree):
    assert tree(
        {
            "opgauge/CMakeLists.txt": "find_package(CUDAToolkit)\n",
            "cmake/dependencies.cmake": HASH_HEAD + "pkg_check_modules(ROCM rocm)\n",
            "tests/fake_vendor/CMakeLists.txt": "add_library(nvml)\n",
            "opgauge/device/CMakeLists.txt": "add_library(cuda)\n",
        }
    ) == [
        "cmake/dependencies.cmake:2: names the vendor word 'ROCM'",
        "opgauge/CMakeLists.txt:1: names the vendor word 'CUDA'",
    ]


def test_python_is_checked_too(tree):
    assert tree({"python/opgauge_bridge/a.py": HASH_HEAD + "x = torch.musa\n"}) == [
        "python/opgauge_bridge/a.py:2: names the vendor word 'musa'"
    ]


def test_only_the_cli_prints_or_exits(tree):
    text = HEAD + 'fmt::print("x");\nstd::exit(1);\n'
    assert tree({"opgauge/run/b.cpp": text, "cli/c.cpp": text}) == [
        "opgauge/run/b.cpp:2: only cli/ prints or exits",
        "opgauge/run/b.cpp:3: only cli/ prints or exits",
    ]


def test_heads_and_sizes_are_checked(tree):
    assert tree({"opgauge/base/a.h": "int x;\n", "opgauge/base/b.cpp": HEAD + "\n" * 600}) == [
        "opgauge/base/a.h: no SPDX line at its head",
        "opgauge/base/a.h: no #pragma once",
        "opgauge/base/b.cpp: 601 lines, at most 600",
    ]


def test_a_folder_of_one_machine_is_a_fault(tree):
    assert tree({"opgauge/base/b.cpp": HEAD + 'auto x = "/home/me/x";\n'}) == [
        "opgauge/base/b.cpp:2: names a folder of one machine"
    ]


def test_names_are_snake_case_and_tests_unique(tree):
    assert tree(
        {
            "opgauge/base/BadName.cpp": HEAD,
            "tests/unit/a/x_test.cpp": HEAD,
            "tests/unit/b/x_test.cpp": HEAD,
        }
    ) == [
        "opgauge/base/BadName.cpp: file names are snake_case",
        "two tests are called x_test.cpp",
    ]
