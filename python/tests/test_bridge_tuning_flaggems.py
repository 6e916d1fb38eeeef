# SPDX-License-Identifier: Apache-2.0
"""The hooks' contract with FlagGems' LibTuner and its store: on a stand-in with the same interface,
and where OPGAUGE_FLAGGEMS names a checkout on the real code too."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from triton_wheels import TESTS, VERSIONS, play

Scene = Callable[[str], Any]
CHECKOUT = os.environ.get("OPGAUGE_FLAGGEMS", "")
STAND_IN = TESTS / "tuned_corpus"
# Before the corpus was imported, and after it, as in the child of a fork server.
HOOKED = ("", "-late")
NEEDS_CHECKOUT = pytest.mark.skipif(not CHECKOUT, reason="OPGAUGE_FLAGGEMS names no checkout")


@pytest.fixture(
    params=[
        *[
            pytest.param((version, "", late), id=f"{version}{late}")
            for version in VERSIONS
            for late in HOOKED
        ],
        *[
            pytest.param(
                (version, CHECKOUT, late), id=f"{version}-flaggems{late}", marks=NEEDS_CHECKOUT
            )
            for version in VERSIONS
            for late in HOOKED
        ],
    ]
)
def scene(request: pytest.FixtureRequest) -> Scene:
    version, checkout, late = request.param
    folders = () if checkout else (STAND_IN,)
    return lambda name: play(
        version, "tuned_flaggems", name, *folders, checkout=checkout, late=late
    )


def test_each_normalised_key_is_asked_for_once_with_the_raw_one(scene: Scene) -> None:
    found = scene("record")
    assert found["types"] == ["winner", "tuned", "winner", "tuned"]
    assert found["keys"] == [[[128], [100]], [[160], [129]]]
    assert found["winner"]["kernel"] == "stub_kernel"
    assert found["winner"]["space"] == found["space"]
    assert found["winner"]["facts"]["tuning_timer"].startswith("('")
    assert found["timed"] == [16, 32, 64] * 2
    assert found["ids"] == [1, 2]
    assert found["own"] is True


def test_timings_carry_the_key_under_which_the_corpus_keeps_them(scene: Scene) -> None:
    found = scene("record")
    tuned = found["tuned"]
    assert tuned["benchmark_key"] == [100, *found["protocol"]]
    assert tuned["benchmark_space"] == found["benchmark_space"]
    assert tuned["config"]["BLOCK"] == 32
    assert [row["times"][0] for row in tuned["timings"]] == [16.0, 1.0, 64.0]
    assert tuned["timed"] == 3


@pytest.mark.parametrize("name", ["record", "use", "run_modes", "single_config"])
def test_the_corpuss_own_store_is_never_made(scene: Scene, name: str) -> None:
    assert scene(name)["files"] == []


def test_a_named_winner_is_the_tuners_own_object_with_its_pre_hook(scene: Scene) -> None:
    found = scene("use")
    assert found["own"] is True
    assert found["called"] == [32, 32]
    assert (found["types"], found["timed"]) == (["winner"], [])


def test_a_winner_that_does_not_launch_is_dropped_and_its_key_tuned_live(scene: Scene) -> None:
    assert scene("evicted") == {
        "types": ["winner", "winner_failed", "tuned"],
        "can_drop": True,
        "timed": [16, 64],
        "best": 16,
        "timings": [16, 64],
    }


def test_a_launch_that_the_tuner_does_not_see_counts_for_its_key(scene: Scene) -> None:
    found = scene("launches_that_the_tuner_does_not_see")
    assert found == {"seen": [[1], [2], [1], [2]], "asked": 2}


def test_a_policy_may_look_beyond_the_list(scene: Scene) -> None:
    assert scene("policy") == {
        "types": ["winner", "tuned"],
        "best": 256,
        "timed": [16, 32, 256],
        "count": 3,
        "timings": [16, 32, 256],
        "launched": 256,
    }


def test_a_policy_cannot_choose_what_is_excluded(scene: Scene) -> None:
    found = scene("policy_may_not_propose_what_is_excluded")
    assert found == {"best": 32, "timed": [32, 64], "timings": [32, 64]}


def test_a_mode_that_passes_over_the_store_tells_its_timings_all_the_same(scene: Scene) -> None:
    found = scene("run_modes")
    assert found["forced"] == ["winner", "tuned"]
    assert found["config"] == 16
    # The same key afterwards is chosen anew, of the times that are known.
    assert found["types"] == ["winner", "tuned", "tuned"]
    assert (found["first"], found["timed"]) == ([16, 32], [16, 32])
    assert found["told"] == [[1, 2, 2], [1, 0, 2]]


def test_a_second_sweep_finds_out_again_what_does_not_work(scene: Scene) -> None:
    assert scene("failures_are_not_remembered") == [[32], [32]]


def test_another_mode_is_a_space_of_its_own(scene: Scene) -> None:
    assert scene("tables") == {
        "spaces": 2,
        "digests": 2,
        "timed": [16, 32, 64, 128],
        "last": True,
    }


def test_a_tuner_with_one_configuration_is_left_alone(scene: Scene) -> None:
    assert scene("single_config")["said"] == []


def test_what_the_corpus_chose_without_tuning_stays_its_choice(scene: Scene) -> None:
    assert scene("chosen_by_the_corpus") == {"own": True, "types": [], "files": []}


def test_the_hooks_tell_that_the_store_is_replaced(scene: Scene) -> None:
    assert scene("hooked") == {"model": True, "tuners": True}
