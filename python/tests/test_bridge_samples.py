# SPDX-License-Identifier: Apache-2.0
"""A real child on the samples that the parent is tested on too (tests/data/protocol)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_bridge_documented_messages import documented, documented_case

from fake_parent import DATA, USUAL, Message, run_corpus

SAMPLES = sorted((DATA / "protocol").glob("*.jsonl"))

# What differs from run to run or from machine to machine: only there the kind of a value is enough.
EXAMPLES = {"pid", "version", "seconds", "python", "torch", "triton", "corpus", "visible"}


def head_of(path: Path) -> Message:
    return json.loads(path.read_text(encoding="utf-8").splitlines()[0])


def messages_of(path: Path, side: str) -> list[Message]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines()[1:])
    return [line["message"] for line in lines if line["from"] == side]


def childs_samples() -> list[Path]:
    return [path for path in SAMPLES if "child" in head_of(path)["played_by"]]


def shape_of(value: Any) -> Any:
    """The kind of a value: members of an object by name, of a list by the kinds in it."""
    if isinstance(value, dict):
        return {name: shape_of(member) for name, member in sorted(value.items())}
    if isinstance(value, list):
        return sorted({json.dumps(shape_of(member)) for member in value})
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


def comparable(message: Message) -> Message:
    if message["type"] == "event":  # an event carries any facts
        return {name: message[name] for name in ("type", "seq", "name")}
    return {name: shape_of(value) if name in EXAMPLES else value for name, value in message.items()}


def answers_of(path: Path) -> dict[str, Any]:
    """Rules for a parent that says just what the sample's parent says."""
    answers = {message["to"]: message for message in messages_of(path, "parent")}
    return {question: lambda message: answers.get(message["seq"]) for question in USUAL}


def test_the_childs_samples_are_of_each_kind() -> None:
    assert [path.stem for path in childs_samples()] == [
        "answer_unknown",
        "case_left_out",
        "failing_case",
        "good_run",
        "guard_refusal",
    ]


@pytest.mark.parametrize("path", childs_samples(), ids=lambda path: path.stem)
def test_a_child_says_what_the_sample_says(path: Path) -> None:
    head = head_of(path)
    child = run_corpus(
        *head["child"]["arguments"],
        rules=answers_of(path),
        environment=head["child"]["environment"],
    )
    said = [comparable(message) for message in child.messages]
    assert said == [comparable(message) for message in messages_of(path, "child")], child.output
    assert child.exit_code == head["expect"]["exit_code"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_count_from_one_and_use_just_the_documented_messages(path: Path) -> None:
    types = documented()
    said = messages_of(path, "child")
    assert [message["seq"] for message in said] == list(range(1, len(said) + 1))
    for message in said:
        if message["type"] == "event" or head_of(path)["expect"]["stop"]:
            continue  # any facts; and samples of wrong messages are the parent's tests
        assert set(message) <= types[message["type"]], message
        if message["type"] == "case_begin":
            assert set(message["case"]) == documented_case()
