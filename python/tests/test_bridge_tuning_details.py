# SPDX-License-Identifier: Apache-2.0
"""What a configuration and a kernel's source are made of, on the real Triton of each version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from triton_wheels import VERSIONS, play

Scene = Callable[[str], Any]


@pytest.fixture(params=VERSIONS)
def scene(request: pytest.FixtureRequest) -> Scene:
    return lambda name: play(request.param, "tuned_details", name)


def test_a_configuration_may_hold_what_json_has_not(scene: Scene) -> None:
    assert scene("values_that_json_has_not") == {
        "fields": [16, "fp16", False],
        "json": True,
        "own": True,
        "of_a_store_of_numbers": True,
        "made": [64, True, 4],
        "other_warps": False,
        "one_more": False,
        "lacks_a_number": False,
        "truth": True,
    }


def test_only_a_shared_pre_hook_is_given_to_a_new_configuration(scene: Scene) -> None:
    assert scene("pre_hooks") == {"same": True, "some": False, "two": False}


def test_the_parents_answer_outlives_the_corpuss_clearing_of_a_cache(scene: Scene) -> None:
    assert scene("emptied_cache") == {"types": ["winner"], "timed": [], "ids": [1]}


def test_another_argument_as_key_is_another_question(scene: Scene) -> None:
    assert scene("other_arguments_as_key") == [1, 2]


def test_all_that_a_kernel_uses_is_in_its_source_hash(scene: Scene) -> None:
    found = scene("what_a_kernel_uses")
    first = found.pop("first")
    assert len(first) == 64
    same = {name for name, value in found.items() if value == first}
    assert same == {"again", "local_name", "unused_function"}
    assert len(set(found.values())) == 6


def test_the_source_hash_is_the_same_in_every_process_and_with_every_triton() -> None:
    hashes = {play(version, "tuned_details", "what_a_kernel_uses")["first"] for version in VERSIONS}
    assert len(hashes) == 1


def test_a_kernel_without_source_has_no_hash(scene: Scene) -> None:
    assert scene("no_source") == ["", "", ""]


def test_a_module_is_hooked_as_soon_as_it_is_imported(scene: Scene) -> None:
    assert scene("after_import") == {
        "seen": [["there", True], ["new", 1]],
        "missing": "ModuleNotFoundError: No module named 'no_such_module'",
        "source": "def function():\n    pass\n",
    }
