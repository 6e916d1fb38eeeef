# SPDX-License-Identifier: Apache-2.0
"""`opgauge history` over run folders made by hand."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from made_runs import identity, make_run, row  # noqa: E402


def facts(day: int, **changes):
    return identity(run_id=f"mm-{day}", created_utc=f"2026-12-{day:02d}T10:00:00Z", **changes)


@pytest.fixture
def runs(tmp_path) -> Path:
    """Three days of one caliber, the second flagged, then one of another."""
    flagged = row(64, 9e4, flags=["throttled:x@1"])
    make_run(tmp_path / "all" / "c", [row(64, 6e4), row(128, 7e4)], facts(3))
    make_run(tmp_path / "all" / "a", [row(64, 5e4), row(128, 7e4)], facts(1))
    make_run(tmp_path / "all" / "b", [flagged, row(128, 7e4)], facts(2))
    other = row(64, 1e4, caliber_id="fedcba9876543210")
    make_run(tmp_path / "all" / "d", [other], facts(4, caliber_id="fedcba9876543210", driver="2"))
    return tmp_path / "all"


def trend(done) -> dict[str, list]:
    return {
        case["shapes"]: [point["of_the_first"] for point in case["points"]]
        for case in done.json()["cases"]
    }


def test_runs_are_listed_by_time(opgauge, runs):
    done = opgauge("history", runs)
    assert done.code == 0, done.err
    lines = [line.split() for line in done.out.splitlines()[1:-1]]
    assert [line[0][:10] for line in lines] == [f"2026-12-0{day}" for day in (1, 2, 3, 4)]
    assert lines[0][1:7] == ["mm", "passed", "2", "1.530", "2", "01234567"]
    assert done.out.endswith("4 runs\n")


def test_the_trend_stays_within_the_newest_caliber_and_counts_the_rest(opgauge, runs):
    done = opgauge("history", runs, "--operator", "mm", "--json")
    assert trend(done) == {"64x64": [1.0], "128x128": [1.0, 1.0, 1.0]}
    assert done.json()["left_out_of_other_calibers"] == 3
    text = opgauge("history", runs, "--operator", "mm").out
    assert "3 rows of other calibers are left out" in text


def test_a_caliber_can_be_chosen_and_flagged_rows_have_no_change(opgauge, runs):
    done = opgauge("history", runs, "--operator", "mm", "--caliber", "0123", "--json")
    assert trend(done) == {"64x64": [1.0, None, 1.2], "128x128": [1.0, 1.0, 1.0]}
    done = opgauge("history", runs, "--operator", "mm", "--caliber", "77")
    assert done.code == 2
    assert "no case of mm has a caliber that begins with 77" in done.err


def test_a_changed_run_is_read_again_and_a_lost_one_is_called_gone(opgauge, runs):
    assert opgauge("history", runs).code == 0
    (runs / "a" / "status.json").unlink()
    shutil.rmtree(runs / "b")
    assert "incomplete" in opgauge("history", runs).out
    everything = opgauge("history").out
    assert f"{runs}/b (gone)" in everything
    assert everything.endswith("4 runs\n")


def test_the_index_is_where_it_is_asked_to_be(opgauge, runs, tmp_path):
    assert opgauge("history", runs, "--index", tmp_path / "x" / "mine.db").code == 0
    assert (tmp_path / "x" / "mine.db").exists()
    assert opgauge("history").out == "no runs; name folders with runs: opgauge history DIR...\n"
    assert opgauge("history", OPGAUGE_CACHE=str(tmp_path / "cache")).code == 0
    assert (tmp_path / "cache" / "history.db").exists()


def test_a_file_that_is_no_index_is_left_alone(opgauge, runs, tmp_path):
    (tmp_path / "notes.txt").write_text("mine, and longer than a header of a database is: " * 9)
    before = (tmp_path / "notes.txt").read_bytes()
    done = opgauge("history", runs, "--index", tmp_path / "notes.txt")
    assert done.code == 2
    assert (tmp_path / "notes.txt").read_bytes() == before


def test_slips_of_the_hand_are_told(opgauge, runs):
    done = opgauge("history", runs, "--operator", "mn")
    assert (done.code, "did you mean 'mm'?" in done.err) == (2, True)
    assert opgauge("history", runs / "nowhere").code == 2
    assert opgauge("history", runs, "--caliber", "0123").code == 2


def test_foreign_text_cannot_drive_the_terminal(opgauge, tmp_path):
    name = "mm\x1b[2J'; DROP TABLE runs; --"
    make_run(tmp_path / "r", [row(64, 5e4, operator=name)], facts(1))
    assert "mm\\x1b[2J'; DROP TABLE runs; --" in opgauge("history", tmp_path / "r").out
    done = opgauge("history", "--operator", name)
    assert done.code == 0
    assert "\x1b" not in done.out
