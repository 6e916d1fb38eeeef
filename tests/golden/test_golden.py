# SPDX-License-Identifier: Apache-2.0
"""What the tool prints, against approved files; `approve.py` accepts a wanted change."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import golden  # noqa: E402


@pytest.mark.parametrize("case", golden.cases(), ids=lambda case: case.stem)
def test_output_is_as_approved(case: Path):
    actual = golden.run(case)
    approved = golden.approved_file(case)
    unapproved = approved.with_suffix(".unapproved.txt")
    if not approved.exists() or approved.read_text() != actual:
        unapproved.write_text(actual)
    else:
        unapproved.unlink(missing_ok=True)
    assert approved.exists(), f"nothing approved yet: see {unapproved}, then approve.py"
    assert actual == approved.read_text()


def test_each_approved_file_belongs_to_a_case():
    wanted = {golden.approved_file(case).name for case in golden.cases()}
    there = {path.name for path in (golden.HERE / "approved").iterdir()}
    left_over = {name for name in there - wanted if not name.endswith(".unapproved.txt")}
    assert not left_over, "approved, but no case makes them: remove them or bring the case back"


def test_scrubbing_hides_times_and_folders_and_nothing_else(tmp_path: Path):
    text = f"run mm-20261201T150958Z-2 in {tmp_path}/runs took 1.5 ms"
    assert golden.scrub(text, tmp_path) == "run mm-UTC in FOLDER/runs took 1.5 ms"
