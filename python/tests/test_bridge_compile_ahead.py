# SPDX-License-Identifier: Apache-2.0
"""What workers compile ahead is what a launch looks for, on the real compiler of each Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from triton_wheels import VERSIONS, play

Scene = Callable[[str], Any]
ALL_HIT = {"misses": 0, "failed": 0, "failures": [], "begun": 0, "times": True}


@pytest.fixture(params=VERSIONS)
def scene(request: pytest.FixtureRequest) -> Scene:
    return lambda name: play(request.param, "compiled_scenes", name)


@pytest.fixture(params=[VERSIONS[0], VERSIONS[-1]])
def fault(request: pytest.FixtureRequest) -> Scene:
    """They wait for a deadline."""
    return lambda name: play(request.param, "compiled_faults", name)


def counts(found: dict[str, Any]) -> tuple[int, ...]:
    return tuple(found[name] for name in ("ahead", "hits", "misses", "failed", "timed"))


# -- the key of a worker is the key of a launch ---------------------------------------------------
@pytest.mark.parametrize(
    ("name", "configs"),
    [
        ("plain", 4),
        ("arguments", 2),
        ("not_specialized", 2),
        ("heuristics", 3),
        ("pre_hook", 3),
    ],
)
def test_every_configuration_is_a_hit_when_it_is_timed(
    scene: Scene, name: str, configs: int
) -> None:
    found = scene(name)
    assert counts(found) == (configs, configs, 0, 0, configs)
    assert {member: found[member] for member in ALL_HIT} == ALL_HIT
    assert (found["jobs"], found["launched"]) == (2, configs + 1)


def test_a_pre_hook_may_give_a_descriptor_its_block(scene: Scene) -> None:
    found = scene("descriptor")
    if found is not None:  # Triton before 3.4 has none
        assert counts(found) == (3, 3, 0, 0, 3)
        assert found["begun"] == 0


def test_a_policy_may_ask_for_equal_configurations_in_its_own_order(scene: Scene) -> None:
    found = scene("equal_configurations_in_another_order")
    assert found == {"hits": 2, "misses": 0, "timed": 2}


def test_what_triton_has_in_memory_is_a_hit_too(scene: Scene) -> None:
    assert scene("a_key_of_known_kernels") == [2, 2]


def test_without_overlap_all_is_compiled_before_the_first_is_timed(scene: Scene) -> None:
    assert scene("not_overlapped") == {"known": [4, 4, 4, 4], "ahead": 4, "hits": 4}


# -- failures -------------------------------------------------------------------------------------
def test_what_does_not_compile_is_no_candidate_and_keeps_its_reason(scene: Scene) -> None:
    found = scene("does_not_compile")
    assert counts(found) == (2, 2, 0, 2, 4)
    assert [row[:2] for row in found["failures"]] == [[32, "error"], [64, "error"]]
    assertion, method = (row[2] for row in found["failures"])
    assert assertion.startswith("CompileTimeAssertionFailure: at ")
    assert assertion.endswith("not this one")
    assert method.startswith("CompilationError: at ") and "no_such_method" in method


def test_a_pre_hook_that_wants_the_device_is_no_failure(scene: Scene) -> None:
    found = scene("pre_hook_wants_the_device")
    assert counts(found) == (2, 2, 1, 0, 3)
    assert found["begun"] == 1


def test_an_exception_of_the_tuner_leaves_no_worker(scene: Scene) -> None:
    assert scene("exception") == []


def test_a_backend_that_cannot_fork_compiles_serially_and_says_so_once(scene: Scene) -> None:
    text = (
        "configurations are compiled one after another: "
        "forking beside a device of backend musa is not known to work"
    )
    assert scene("serial_backend") == {"logs": [["info", text]], "compile": False, "timed": 2}


def test_where_no_process_can_be_made_all_compile_serially(scene: Scene) -> None:
    found = scene("no_fork")
    ((level, text),) = found["logs"]
    assert (level, found["compile"], found["timed"]) == ("info", False, 2)
    assert "BlockingIOError: [Errno 11] Resource temporarily unavailable" in text


# -- hangs and crashes ----------------------------------------------------------------------------
def test_a_compile_that_hangs_is_stopped_with_its_assembler(fault: Scene) -> None:
    found = fault("hangs")
    assert found["failures"] == [[32, "timeout", "compiling was stopped after 6 s"]]
    assert counts(found) == (2, 2, 0, 1, 3)
    assert (found["assembler"], found["children"]) == (False, [])


def test_while_one_is_awaited_its_name_is_told(fault: Scene) -> None:
    found = fault("hangs")
    assert found["event"] == ["compiling", "scale", 2, 3]
    assert found["waiting_for"] == "BLOCK: 32"
    assert found["seconds"] is False


def test_a_worker_that_is_killed_is_replaced(fault: Scene) -> None:
    found = fault("kills_its_worker")
    message = "the compiler was killed by SIGKILL"
    assert found["failures"] == [[16, "error", message], [64, "error", message]]
    assert counts(found) == (1, 1, 0, 2, 3)
    assert (found["launched"], found["children"]) == (2, [])


def test_the_measuring_process_does_not_launch_what_killed_every_worker(fault: Scene) -> None:
    found = fault("kills_every_worker")
    assert found["outcome"].startswith("RuntimeError: opgauge: kernel scale does not compile with ")
    assert "was killed by SIGKILL" in found["outcome"]
    assert (found["launched"], found["config"], found["children"]) == (0, None, [])
    assert found["types"] == ["winner", "tuned"]


def test_a_replayed_winner_that_hangs_is_dropped(fault: Scene) -> None:
    found = fault("winner_hangs")
    assert found["types"] == ["winner", "winner_failed", "tuned"]
    assert found["failed_kind"] == "timeout"
    assert "stopped after 6 s" in found["message"]
    assert (found["outcome"], found["children"]) == ("nothing", [])
    assert counts(found) == (2, 2, 0, 0, 2)


def test_a_replayed_winner_is_compiled_by_a_worker_first(fault: Scene) -> None:
    found = fault("winner_compiles")
    assert found["types"] == ["winner"]
    assert (found["begun"], found["launched"], found["children"]) == (0, 1, [])
