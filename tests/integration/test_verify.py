# SPDX-License-Identifier: Apache-2.0
"""`opgauge verify`: a run made again, with a scripted child, and its files checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import rows_of, scripted_case
from test_replay import sweep, tuned_case

STEADY = [6048, 6050, 6052, 6046]
FAST = [5798, 5800, 5802]


@pytest.fixture
def recorded(opgauge, script) -> Path:
    done = opgauge(*script([scripted_case(64, STEADY, FAST)]), "--precision", "0.02")
    assert done.code == 0, done.err
    return opgauge.one_run()


def results(done) -> dict[str, str]:
    return {row["side"]: row["result"] for row in done.json()["numbers"]["rows"]}


def test_the_same_numbers_reproduce(opgauge, recorded):
    done = opgauge("verify", recorded, "--json")
    assert done.code == 0, done.err
    assert results(done) == {"base": "reproduced", "candidate": "reproduced"}
    verified = done.json()
    assert verified["holds"] is True
    assert verified["digests"]["changed"] == verified["digests"]["missing"] == []
    again = json.loads((Path(verified["new_run"]) / "run_identity.json").read_text())
    then = json.loads((recorded / "run_identity.json").read_text())
    assert again["settings"] == then["settings"]
    assert again["caliber_id"] == then["caliber_id"]


def test_numbers_beyond_the_noise_do_not_and_both_sides_are_looked_at(opgauge, recorded, script):
    # As if the whole machine had become slower: no side is taken as a control for the other.
    slower = [[1.1 * value for value in side] for side in (STEADY, FAST)]
    script([scripted_case(64, *slower)])
    done = opgauge("verify", recorded)
    assert done.code == 1
    assert "reproduced 0, not reproduced 2, unknown 0" in done.out
    assert done.out.count("slower than then") == 2


def test_a_difference_within_a_noisy_runs_own_noise_is_no_fault(opgauge, script):
    noisy = [5000 + 100 * (number % 21) for number in range(210)]
    assert opgauge(*script([scripted_case(64, None, noisy)])).code == 0
    script([scripted_case(64, None, [1.03 * value for value in noisy])])
    done = opgauge("verify", opgauge.one_run())
    assert done.code == 0, done.out
    assert "note: 1 of the reproduced have a noise above 5 %" in done.out


def test_a_large_difference_that_the_adjustment_hides_is_not_called_reproduced(opgauge, script):
    few = [700, 1000, 1300, 850, 1150]
    words = ("--min-samples", "5", "--precision", "0.5")
    sizes = (64, 128, 256)
    assert opgauge(*script([scripted_case(size, None, few) for size in sizes]), *words).code == 0
    script(
        [
            scripted_case(size, None, [value * (1.8 if size == 64 else 1) for value in few])
            for size in sizes
        ]
    )
    done = opgauge("verify", opgauge.one_run(), "--json")
    first, *others = done.json()["numbers"]["rows"]
    assert (first["result"], round(first["ratio"], 1)) == ("unknown", 1.8)
    assert first["why"].startswith("differs, but too little is known")
    assert {row["result"] for row in others} == {"reproduced"}


def test_a_case_that_fails_now_did_not_come_again(opgauge, recorded, script):
    error = {"status": "failed", "error": {"kind": "error", "message": "no"}}
    script([scripted_case(64, end=error)])
    done = opgauge("verify", recorded, "--json")
    assert done.code == 1
    (row,) = done.json()["numbers"]["rows"]
    assert row["result"] == "not reproduced"
    assert row["why"].startswith("now failed: ")


def test_one_sided_rows_are_held_to_their_one_side(opgauge, script):
    assert opgauge(*script([scripted_case(64, None, FAST)])).code == 0
    done = opgauge("verify", opgauge.one_run(), "--json")
    assert (done.code, results(done)) == (0, {"candidate": "reproduced"})


def test_another_caliber_is_refused_by_name_before_anything_starts(opgauge, recorded):
    done = opgauge("verify", recorded, OMP_NUM_THREADS="7")
    assert done.code == 3
    assert "environment.OMP_NUM_THREADS (then: 1, now: 7)" in done.err
    assert opgauge.one_run() == recorded


def test_a_changed_file_is_named_and_nothing_is_run(opgauge, recorded):
    with (recorded / "rows.jsonl").open("a") as file:
        file.write("\n")
    (recorded / "latency.csv").unlink()
    (recorded / "notes.txt").write_text("mine")
    done = opgauge("verify", recorded)
    assert done.code == 1
    assert "NOT as the run left them: 1 changed, 1 missing" in done.out
    assert "changed: rows.jsonl\nmissing: latency.csv\nadded (no fault): notes.txt\n" in done.out
    assert opgauge.one_run() == recorded


def test_digests_alone_run_nothing(opgauge, recorded):
    done = opgauge("verify", recorded, "--digests-only")
    assert (done.code, opgauge.one_run()) == (0, recorded)
    assert "as the run left them" in done.out
    (recorded / "digests.json").unlink()
    done = opgauge("verify", recorded, "--digests-only")
    assert done.code == 2
    assert "has no digests.json" in done.err


def test_a_run_that_was_cut_off_is_refused(opgauge, recorded):
    (recorded / "status.json").unlink()
    done = opgauge("verify", recorded)
    assert done.code == 3
    assert "is incomplete" in done.err


def test_a_tuned_run_is_verified_with_its_own_winners(opgauge, script):
    steps = [sweep(1, 512), sweep(2, 1024, best=1)]
    cases = [tuned_case(index + 1, step) for index, step in enumerate(steps)]
    assert opgauge(*script(cases), "--tune", "record").code == 0
    run = opgauge.one_run()
    assert opgauge("verify", run, "--digests-only").code == 0
    # Tuning anew, the child would find other winners.
    script([tuned_case(1, sweep(1, 512, best=1)), tuned_case(2, sweep(2, 1024))])
    done = opgauge("verify", run, "--json")
    assert done.code == 0, done.err
    assert done.json()["numbers"]["reproduced"] == 4
    again = Path(done.json()["new_run"])
    digests = [[row["winners_digest"] for row in rows_of(folder)] for folder in (run, again)]
    assert digests[0] == digests[1] != ["", ""]


def test_variables_of_today_do_not_change_what_is_run(opgauge, recorded):
    done = opgauge(
        "verify", recorded, "--json", OP="softmax", ZL_BACKEND="cpu", OPGAUGE_CORPUS="/nowhere"
    )
    assert done.code == 0, done.err
    assert results(done) == {"base": "reproduced", "candidate": "reproduced"}
