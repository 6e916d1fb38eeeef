# SPDX-License-Identifier: Apache-2.0
"""Configurations that are raced in place of the tuner's own timing, on the real Triton of each
version and on a device with a virtual clock."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from triton_wheels import TESTS, VERSIONS, play

Scene = Callable[[str], Any]
CHECKOUT = os.environ.get("OPGAUGE_FLAGGEMS", "")
COLD, HOT = "opgauge.race 1 l2=cold", "opgauge.race 1 l2=hot"


@pytest.fixture(params=VERSIONS)
def scene(request: pytest.FixtureRequest) -> Scene:
    return lambda name: play(request.param, "raced_plain", name)


@pytest.fixture(params=VERSIONS)
def compiled(request: pytest.FixtureRequest) -> Scene:
    return lambda name: play(request.param, "raced_compiled", name)


@pytest.fixture(
    params=[(version, checkout) for version in VERSIONS for checkout in sorted({"", CHECKOUT})],
    ids=lambda param: f"{param[0]}{'-flaggems' if param[1] else ''}",
)
def corpus(request: pytest.FixtureRequest) -> Scene:
    version, checkout = request.param
    folders = () if checkout else (TESTS / "tuned_corpus",)
    return lambda name: play(version, "raced_flaggems", name, *folders, checkout=checkout)


def of(found: dict[str, Any], *names: str) -> list[Any]:
    """Of the timing, which has a clock in `seconds`."""
    return [found["timing"][name] for name in names]


# -- which are timed how often --------------------------------------------------------------------
def test_the_fastest_wins_and_those_behind_are_dropped(scene: Scene) -> None:
    found = scene("race")
    assert (found["error"], found["best"], found["config"]) == ("nothing", 20, 20)
    assert of(found, "how", "configs", "dropped") == ["race", 6, [3, 0]]
    calls = found["calls"]
    # A call that is not timed and 5 that are; one of what takes a thousand times the best.
    assert (calls["30"], calls["20000"]) == (6, 2)
    # 100 more of the last three; one more of the winner, the launch.
    assert (calls["20"], calls["21"], calls["22"]) == (107, 106, 106)
    assert found["timed"] == 6


def test_times_are_told_in_milliseconds_also_of_those_dropped(scene: Scene) -> None:
    found = scene("race")
    blocks = (20, 21, 22, 30, 40, 20000)
    assert found["times"] == {str(block): [pytest.approx(block / 1000)] * 3 for block in blocks}


def test_calls_and_their_time_on_the_device_are_counted(scene: Scene) -> None:
    found = scene("race")
    launches = sum(found["calls"].values())
    assert of(found, "calls") == [launches - 1]  # less the winner's own
    # 100 of each of the last three, then the first round, each sample of one call.
    expected = 105 * (20 + 21 + 22) + 5 * (30 + 40) + 20_000
    assert found["timing"]["device_s"] == pytest.approx(expected * 1e-6)


def test_the_cache_is_cleared_before_each_sample_and_its_buffer_given_back(scene: Scene) -> None:
    found = scene("race")
    samples = 3 * 105 + 2 * 5 + 1
    assert found["timer"] == COLD
    assert found["flushes"] == samples
    assert found["buffer"] is False


def test_where_the_tuner_replays_graphs_the_cache_stays_warm(scene: Scene) -> None:
    found = scene("graph")
    assert (found["timer"], found["flushes"], found["best"]) == (HOT, 0, 8)
    assert found["times"] == {str(n): [pytest.approx(n / 1000)] * 3 for n in (8, 16, 32)}
    # Four calls of the first one's 16 us make up a sample of 50 us, for all; the first has one.
    assert found["calls"]["32"] == 1 + 1 + 4 * (4 + 100)


def test_a_long_kernel_is_called_once_a_sample(scene: Scene) -> None:
    found = scene("graph_of_a_long_kernel")
    assert (found["timer"], found["calls"]["96"]) == (HOT, 106)


def test_no_host_time_is_in_a_sample(scene: Scene) -> None:
    found = scene("host_time")
    assert found["best"] == 8
    assert found["times"] == {str(n): [pytest.approx(n / 1000)] * 3 for n in (8, 16, 32)}


def test_a_dropped_one_is_not_told_faster_than_the_winner(scene: Scene) -> None:
    found = scene("a_late_winner")
    assert (found["best"], found["config"]) == (128, 128)
    assert found["times"]["16"] == [pytest.approx(0.012)] * 3


def test_each_key_has_a_race_of_its_own(scene: Scene) -> None:
    assert scene("two_keys")["types"] == ["winner", "tuned", "winner", "tuned"]


def test_a_race_within_a_race(scene: Scene) -> None:
    assert scene("launched_within_a_launch") == [[16, 2], [64, 2]]


# -- what the tuner does around it ----------------------------------------------------------------
def test_hooks_reset_and_restore_go_with_every_call(scene: Scene) -> None:
    log = scene("hooks")
    assert log[-3:] == ["zero", "pre 16", "run 16"]
    calls = [log[at : at + 5] for at in range(0, len(log) - 3, 5)]
    assert {tuple(call) for call in calls} == {
        ("pre 16", "zero", "clone", "run 16", "restore copy"),
        ("pre 32", "zero", "clone", "run 32", "restore copy"),
    }
    assert len(calls) >= 2 * 106


def test_what_does_not_launch_is_told_and_is_infinite(scene: Scene) -> None:
    found = scene("failures")
    assert found["failed"] == [[32, "out_of_resources"]]
    assert found["times"]["32"] == ["inf"] * 3
    assert (found["best"], found["error"]) == (16, "nothing")


def test_nothing_works(scene: Scene) -> None:
    found = scene("nothing_works")
    assert found["config"] is None
    assert found["error"].startswith("OutOfResources")
    assert [block for block, _ in found["failed"]] == [16, 32]


def test_an_error_that_the_tuner_passes_on_goes_on(scene: Scene) -> None:
    found = scene("an_error_that_the_tuner_does_not_expect")
    assert found["outcome"] == "ValueError: a mistake"
    assert (found["types"], found["own"]) == (["winner"], "do_bench")


def test_only_what_is_left_after_pruning_is_raced(scene: Scene) -> None:
    found = scene("pruned")
    assert set(found["calls"]) == {"16", "32"}
    assert of(found, "configs") == [2]
    found = scene("pruned_to_one")
    assert (found["calls"], found["best"]) == ({"16": 103}, 16)


def test_what_is_excluded_is_not_raced(scene: Scene) -> None:
    found = scene("excluded")
    assert (set(found["calls"]), found["best"]) == ({"16", "32"}, 16)


def test_equal_configurations_are_no_fault(scene: Scene) -> None:
    found = scene("equal_configurations")
    assert (found["best"], found["times"]["16"]) == (8, [pytest.approx(0.016)] * 3)


# -- no race --------------------------------------------------------------------------------------
def test_in_full_the_tuner_times_alone(scene: Scene) -> None:
    found = scene("full")
    assert found["timing"] == {"how": "full", "configs": 2, "seconds": True}
    assert (found["calls"], found["logs"]) == ({"16": 2, "32": 1}, [])
    assert found["timer"].endswith("stub_bench")


def test_a_timer_that_is_not_known_stays_and_is_named_once(scene: Scene) -> None:
    found = scene("own_timer")
    assert found["stub"] == [16, 32, 16, 32]
    assert of(found, "how") == ["full"]
    ((level, text),) = found["logs"]
    assert level == "info"
    assert text.startswith(
        "not raced, each configuration is timed in full: stub_kernel: its tuner times with "
    )
    assert found["timer"].endswith("stub_bench")


def test_a_backend_without_a_timer_is_told_once(scene: Scene) -> None:
    found = scene("no_device")
    assert found["stub"] == [16, 32, 16, 32]
    assert found["logs"] == [
        [
            "warning",
            "--tune-timing race: the bridge has no event timer for backend cpu; each tuner times "
            "in full, on its own",
        ]
    ]
    assert found["timer"].endswith("stub_bench")


# -- compiling ahead ------------------------------------------------------------------------------
def test_what_workers_compiled_is_raced(compiled: Scene) -> None:
    found = compiled("compiled")
    assert [found[name] for name in ("ahead", "hits", "misses", "timed")] == [4, 4, 0, 4]
    assert (found["best"], found["dropped"], found["children"]) == (2, [1, 0], [])


def test_a_race_begins_with_what_is_ready(compiled: Scene) -> None:
    found = compiled("one_compiles_late")
    assert found["order"][0] != 1
    assert sorted(found["order"]) == [1, 2, 4, 8]
    assert (found["best"], found["hits"], found["failed"]) == (2, 4, 0)


def test_what_does_not_compile_is_not_launched(compiled: Scene) -> None:
    found = compiled("one_does_not_compile")
    assert [failure[0] for failure in found["failures"]] == [256]
    assert (found["failed"], found["hits"], found["best"]) == (1, 4, 2)


def test_without_workers_each_compiles_as_it_comes(compiled: Scene) -> None:
    assert compiled("serial") == {"best": 2, "pool": 1}


# -- FlagGems -------------------------------------------------------------------------------------
def test_the_corpus_own_tuner_is_raced(corpus: Scene) -> None:
    found = corpus("race")
    assert (found["best"], found["timer"], found["types"]) == (20, COLD, ["winner", "tuned"])
    assert of(found, "how", "dropped") == ["race", [2, 0]]
    assert found["calls"]["30"] == 6


def test_its_replayed_graphs_keep_the_cache_warm(corpus: Scene) -> None:
    found = corpus("graph")
    assert (found["timer"], found["flushes"], found["config"]) == (HOT, 0, 8)


def test_its_own_timers_and_policies_are_not_replaced(corpus: Scene) -> None:
    found = corpus("custom")
    assert (found["stub"], of(found, "how")) == ([16, 32], ["full"])
    found = corpus("policy")
    assert (found["stub"][:3], of(found, "how")) == ([16, 32, 256], ["full"])
    assert "policy of its own" in found["logs"][0][1]


def test_times_that_its_store_has_are_not_taken_again(corpus: Scene) -> None:
    assert corpus("known_times") == [[3, 3, True], [0, 3, False]]
