# SPDX-License-Identifier: Apache-2.0
"""The hooks' contract with plain @triton.autotune, on the real Triton of each version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from triton_wheels import VERSIONS, play

Scene = Callable[[str], Any]


# Hooks after the imports are those of a fork server's child.
@pytest.fixture(
    params=[(version, late) for version in VERSIONS for late in ("", "-late")], ids="".join
)
def scene(request: pytest.FixtureRequest) -> Scene:
    version, late = request.param
    return lambda name: play(version, "tuned_plain tuned_facts", name, late=late)


def blocks(rows: list[dict[str, Any]]) -> list[int]:
    return [row["config"]["BLOCK"] for row in rows]


# -- recording ------------------------------------------------------------------------------------
def test_each_key_is_asked_for_once_and_tuned_once(scene: Scene) -> None:
    found = scene("record")
    assert found["types"] == ["winner", "tuned", "winner", "tuned"]
    assert found["keys"] == [[100, "fp16"], [200, "fp16"]]
    assert found["launched"] == [16, 32, 64, 32, 32, 16, 32, 64, 32]
    assert found["ids"] == [1, 2]
    assert found["counts"] == {"launches": 3, "asked": 2, "used": 0, "tuned": 2}


def test_a_question_has_the_facts_under_which_a_winner_holds(scene: Scene) -> None:
    found = scene("record")
    winner = found["winner"]
    assert (winner["id"], winner["kernel"], winner["space"]) == (1, "stub_kernel", "")
    assert winner["raw_key"] == winner["key"]
    assert winner["configs"] == 3
    facts = winner["facts"]
    assert set(facts) == {
        "kernel_source_hash",
        "triton_source_hash",
        "config_list_digest",
        "tuning_timer",
        "compiler",
    }
    assert len(facts["kernel_source_hash"]) == len(facts["config_list_digest"]) == 64
    assert facts["tuning_timer"].endswith("stub_bench")
    assert facts["compiler"] == f"triton {found['version']} fake 7"


def test_every_timed_configuration_is_told_with_its_times(scene: Scene) -> None:
    found = scene("record")
    tuned = found["tuned"]
    assert tuned["config"] == found["fields"]
    assert tuned["times"] == [1.0, 0.9, 1.1]
    assert blocks(tuned["timings"]) == [16, 32, 64]
    assert [row["times"] for row in tuned["timings"]] == [
        [16.0, 15.5, 16.5],
        [1.0, 0.9, 1.1],
        [64.0, 63.5, 64.5],
    ]
    assert (tuned["timed"], tuned["failed"], tuned["benchmark_space"]) == (3, [], "")
    assert tuned["seconds"] > 0
    assert "benchmark_key" not in tuned and "more" not in tuned


def test_nan_and_infinite_times_never_win_and_failures_are_named(scene: Scene) -> None:
    found = scene("bad_timings")
    tuned = found["tuned"]
    assert found["best"] == 128
    assert tuned["config"]["BLOCK"] == 128
    assert [row["times"] for row in tuned["timings"]] == [
        [None, None, None],
        ["inf", "inf", "inf"],
        ["inf", "inf", "inf"],
        [128.0, 127.5, 128.5],
    ]
    assert blocks(tuned["failed"]) == [32]
    assert tuned["failed"][0]["kind"] == "out_of_resources"
    assert tuned["failed"][0]["message"].startswith("OutOfResources: out of resource: shared")


def test_where_no_configuration_works_none_is_the_winner(scene: Scene) -> None:
    found = scene("nothing_works")
    assert (found["tuned"]["config"], found["tuned"]["times"]) == (None, [None] * 3)
    assert blocks(found["tuned"]["failed"]) == [16, 32]
    assert found["error"].startswith("OutOfResources")
    assert found["types"] == ["winner", "tuned"]


def test_a_list_too_long_for_a_line_is_told_in_parts(scene: Scene) -> None:
    found = scene("long_list")
    assert found == {
        "more": [True, True, True, False],
        "timings": 1000,
        "short": True,
        "ids": 1,
        "best": 1,
    }


# -- replaying ------------------------------------------------------------------------------------
def test_a_named_winner_is_the_tuners_own_object_with_its_pre_hook(scene: Scene) -> None:
    found = scene("use")
    assert found["own"] is True
    assert found["called"] == [32, 32, 32]
    assert found["timed"] == []
    assert found["types"] == ["winner"]
    assert found["counts"] == {"launches": 3, "asked": 1, "used": 1, "tuned": 0}


def test_a_winner_outside_the_list_is_made_with_the_lists_pre_hook(scene: Scene) -> None:
    found = scene("use_of_a_config_that_is_not_in_the_list")
    assert found["called"] == [128]
    assert found["launches"] == {**found["fields"], "num_warps": 2}


def test_named_configurations_are_the_only_candidates(scene: Scene) -> None:
    assert scene("only") == {"timed": [64], "best": 64}
    assert scene("only_unknown") == {"timed": [16, 32]}


def test_excluded_configurations_are_no_candidates(scene: Scene) -> None:
    assert scene("exclude") == {"timed": [32, 64], "best": 32}


def test_a_key_without_any_candidate_left_says_so(scene: Scene) -> None:
    assert scene("exclude_all") == (
        "RuntimeError: opgauge: nothing left to tune for kernel stub_kernel: all 2 configurations "
        "are excluded since they failed as replayed winners; tune anew with --tune record"
    )


def test_the_answer_stop_ends_the_child_with_87(scene: Scene) -> None:
    assert scene("stop") == 87


# -- winners that fail ----------------------------------------------------------------------------
def test_a_winner_that_does_not_launch_is_dropped_and_its_key_tuned_live(scene: Scene) -> None:
    found = scene("evicted")
    assert found["outcome"] == "nothing"
    assert found["types"] == ["winner", "winner_failed", "tuned"]
    failed = found["failed"][0]
    assert (failed["id"], failed["kind"], failed["can_drop"]) == (1, "out_of_resources", True)
    assert failed["config"]["BLOCK"] == 32
    assert found["timed"] == [16, 64]
    assert found["launched"] == [16, 64, 16]
    assert found["ids"] == [1]
    # And never comes back.
    assert found["later"] == found["types"]
    assert found["best"] == 16


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("evicted_for_a_timeout", "timeout", "RuntimeError: the compiler did not end"),
        ("evicted_for_an_error", "error", "ValueError: first"),
    ],
)
def test_the_kind_of_a_failure_is_told(scene: Scene, name: str, kind: str, message: str) -> None:
    found = scene(name)
    assert found["outcome"] == "nothing"
    assert [(row["kind"], row["message"]) for row in found["failed"]] == [(kind, message)]


def test_the_answer_go_leaves_the_error_to_the_corpus(scene: Scene) -> None:
    assert scene("go") == {
        "outcome": "ValueError: does not launch",
        "types": ["winner", "winner_failed"],
        "launched": [],
        "ids": [],
    }


def test_a_tuner_with_a_run_of_its_own_cannot_be_made_to_forget(scene: Scene) -> None:
    found = scene("own_memory")
    assert found["outcome"] == "ValueError: does not launch"
    assert [row["can_drop"] for row in found["failed"]] == [False]


@pytest.mark.parametrize("name", ["out_of_memory", "dead_device"])
def test_what_is_not_the_configurations_fault_evicts_nothing(scene: Scene, name: str) -> None:
    assert scene(name) == ["winner"]


def test_a_winner_that_has_run_is_not_evicted(scene: Scene) -> None:
    assert scene("fails_later") == {"outcome": "ValueError: later", "types": ["winner"]}


# -- what stays as it is --------------------------------------------------------------------------
def test_a_tuner_with_one_configuration_is_left_alone(scene: Scene) -> None:
    assert scene("single_config") == {"cache": "dict", "said": [], "timed": []}


def test_the_disk_cache_is_not_written(scene: Scene) -> None:
    found = scene("disk_cache")
    # Triton 3.2 and 3.3 have none.
    assert found["asked"] is found["has"]
    assert found["files"] == []
    assert found["types"] == ["winner", "tuned"]


def test_reset_and_restore_are_the_tuners_own(scene: Scene) -> None:
    one = ["zero", "clone", "restore copy"]
    assert scene("reset_and_restore") == [*one, *one, "zero"]


def test_winners_that_a_tuner_had_before_stay(scene: Scene) -> None:
    assert scene("tuner_made_earlier") == {"best": True, "types": []}


# -- what a winner is kept for --------------------------------------------------------------------
def test_tuners_of_one_name_are_told_apart_by_their_source(scene: Scene) -> None:
    found = scene("two_tuners")
    assert found["kernels"] == ["kernel", "kernel"]
    assert (found["ids"], found["hashes"]) == ([1, 2], 2)
    # The third tuner is the second once more: neither asked for nor tuned again.
    assert (found["tuned"], found["launched"]) == (2, [1, 2])


def test_heuristics_are_a_part_of_the_source_hash(scene: Scene) -> None:
    first, comment, function, rule = scene("heuristics")
    assert first == comment != ""
    assert len({first, function, rule}) == 3


def test_the_source_hash_is_of_the_code_and_all_that_it_uses(scene: Scene) -> None:
    found = {name: values[0] for name, values in scene("source_hashes").items()}
    first = found.pop("first")
    same = {name for name, value in found.items() if value == first}
    assert same == {"again", "comment", "comment_inside", "unused_global"}
    assert len(set(found.values())) == 4


def test_tritons_own_hash_stands_beside_it(scene: Scene) -> None:
    found = scene("source_hashes")
    assert found["first"] == found["again"]
    assert found["first"][1] != found["comment"][1]
    assert {values[2] for values in found.values()} == {"kernel"}


def test_the_digest_of_a_list_is_of_its_content_in_any_order(scene: Scene) -> None:
    assert scene("digests") == {"order": True, "more": False, "warps": False, "hook": False}


def test_the_tuning_timer_is_named_with_its_settings(scene: Scene) -> None:
    assert scene("timers") == {
        "old_arguments": "triton.do_bench warmup=3 rep=7",
        "old_default": "triton.do_bench warmup=3 rep=100",
        "graph": "triton.do_bench_cudagraph rep=100",
        "custom": "tuned_facts.custom_bench",
        "default": "triton.do_bench warmup=25 rep=100",
    }


# -- counts ---------------------------------------------------------------------------------------
def test_a_tune_counts_as_something_made_ready(scene: Scene) -> None:
    assert scene("tunes_are_counted") == [0, 1, 1, 2]


def test_the_hooks_tell_what_they_hooked_and_intercepted(scene: Scene) -> None:
    assert scene("end") == [
        {"type": "event", "name": "tuning_hooks", "tuners": 1, "model": False},
        {"type": "event", "name": "tuning", "launches": 1, "asked": 1, "used": 0, "tuned": 1},
    ]


def test_a_tuner_that_the_corpuss_import_made_is_hooked(scene: Scene) -> None:
    found = scene("tuner_of_the_import")
    assert found["types"] == ["winner", "tuned"]
    assert found["timed"] == [16, 32]
    assert found["launched"] == [False, True]


def test_tuned_launches_without_an_interception_are_an_error(scene: Scene) -> None:
    found = scene("unknown_cache")
    warning, event, error = found["said"]
    assert (warning["level"], warning["text"]) == (
        "warning",
        "the winners of Autotuner are neither recorded nor replayed: its cache of class Cache is "
        "not known",
    )
    assert (event["launches"], event["asked"]) == (2, 0)
    assert error["level"] == "error"
    assert error["text"].startswith("tuned kernels were launched, but no tuning hook intercepted")
    assert found["best"] == 16
