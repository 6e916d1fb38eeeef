# SPDX-License-Identifier: Apache-2.0
"""docs/child_protocol.md and the messages of a child say the same."""

from __future__ import annotations

import re

import pytest

from fake_parent import BRIDGE, DATA, USUAL, Child, run_child, run_corpus

SPECIFICATION = (BRIDGE.parent / "docs" / "child_protocol.md").read_text(encoding="utf-8")


def documented() -> dict[str, set[str]]:
    """Members of each of the child's messages, out of the specification's table."""
    section = SPECIFICATION.split("## Messages of the child")[1].split("## Answers")[0]
    types = {}
    for line in section.splitlines():
        row = re.match(r"\| (\w+) \| (yes|no) \| (.*) \|$", line)
        if row:
            # Members of members stand in braces or brackets.
            members = re.sub(r"[\[{][^\]}]*[\]}]", "", row[3])
            types[row[1]] = set(re.findall(r"`(\w+)`", members)) | {"type", "seq", "spent"}
    return types


def documented_case() -> set[str]:
    paragraph = SPECIFICATION.split("**case**:")[1].split(". The *work fingerprint*")[0]
    return set(re.findall(r"`(\w+)[` ]", paragraph))


@pytest.fixture(scope="module")
def children() -> list[Child]:
    return [
        run_corpus("test_mm.py", "test_bitwise_not.py", "--dtypes", "float16"),
        run_corpus("test_mm.py", environment={"FAKE_FAIL_CASE": "2"}),
        run_child(DATA / "corpus_do_bench", "test_softmax.py"),
    ]


def test_a_child_sends_no_message_and_no_member_that_is_not_documented(
    children: list[Child],
) -> None:
    types = documented()
    sent = {message["type"] for child in children for message in child.messages}
    assert sent <= set(types)
    for child in children:
        for message in child.messages:
            if message["type"] != "event":  # an event carries any facts
                assert set(message) <= types[message["type"]], message


def test_a_case_has_just_the_documented_members(children: list[Child]) -> None:
    begins = [message for child in children for message in child.of("case_begin")]
    assert len(begins) > 10
    for message in begins:
        assert set(message["case"]) == documented_case()


def test_the_parent_of_these_tests_answers_just_the_documented_questions() -> None:
    rows = re.findall(r"^\| (\w+) \| (yes|no) \|", SPECIFICATION, re.MULTILINE)
    assert {name for name, question in rows if question == "yes"} == set(USUAL)
