# SPDX-License-Identifier: Apache-2.0
"""`opgauge compare` on run folders made by hand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from made_runs import identity, make_run, row  # noqa: E402

NULL = [row(64, 5e4), row(128, 6e4), row(256, 7e4)]


def two(folder: Path, rows_a, rows_b, facts_b=None) -> tuple[Path, Path]:
    return make_run(folder / "a", rows_a), make_run(folder / "b", rows_b, facts_b)


def replicates(folder: Path, factor: float, count: int = 8) -> tuple[Path, Path]:
    """Processes in turn, each off by up to 0.2 %; B's candidate takes `factor` times A's."""
    for number in range(count):
        wobble = 1 + 0.002 * (number * 5 % count) / count
        for arm, scale in (("a", 1.0), ("b", factor)):
            stamp = f"2026-12-01T10:{2 * number + (arm == 'b'):02d}:00Z"
            rows = [row(size, 5e4 * wobble * scale) for size in (64, 128)]
            make_run(folder / arm / f"mm-{number}", rows, identity(created_utc=stamp))
    return folder / "a", folder / "b"


def verdicts(finished) -> list[str]:
    return [entry["verdict"] for entry in finished.json()["rows"]]


# C17
def test_cases_of_one_side_only_are_listed_and_counted(opgauge, tmp_path):
    a = [row(64, 5e4), row(128, 6e4), row(256, 7e4), row(512, 8e4)]
    b = [row(64, 5e4), row(256, 7e4), row(1024, 9e4)]
    done = opgauge("compare", *two(tmp_path, a, b))
    assert done.code == 0, done.err
    assert "compared 2: " in done.out
    assert "left out 3: only in A 2, only in B 1, failed 0, flagged 0, timers differ 0" in done.out
    listed = [line.split()[:6] for line in done.out.splitlines() if line.startswith("only in")]
    assert [line[2] + line[5] for line in listed] == ["A128x128", "A512x512", "B1024x1024"]


def test_no_common_case_is_refused_after_the_list(opgauge, tmp_path):
    done = opgauge("compare", *two(tmp_path, [row(64, 5e4)], [row(128, 5e4)]))
    assert done.code == 3
    assert "only in A  mm" in done.out and "only in B  mm" in done.out
    assert done.err == (
        "opgauge: nothing to compare: A and B share no case with a number (1 only in A, 1 only in "
        "B); measure the same operators, dtypes and shapes in both\n"
    )


def test_each_differing_fact_is_named_with_both_values(opgauge, tmp_path):
    facts = identity(driver="2.0", corpus__commit="bbbb2222", software__torch=None)
    facts["environment"] = {"OMP_NUM_THREADS": "4", "TRITON_DEBUG": "1"}
    done = opgauge("compare", *two(tmp_path, NULL, NULL, facts))
    assert done.code == 3
    assert done.out == ""
    for fact in (
        "5 facts differ: ",
        "driver (A: 1.0, B: 2.0)",
        "torch (A: 2.9, B: unknown)",
        "corpus.commit (A: aaaa1111, B: bbbb2222)",
        "environment.OMP_NUM_THREADS (A: 1, B: 4)",
        "environment.TRITON_DEBUG (A: unknown, B: 1)",
        "--factor corpus.commit,driver,environment.OMP_NUM_THREADS,environment.TRITON_DEBUG,torch",
        "--cross-caliber shows both without a verdict",
    ):
        assert fact in done.err
    assert done.err.count("\n") == 1
    names = [
        entry["fact"]
        for entry in opgauge("compare", tmp_path / "a", tmp_path / "b", "--json").json()[
            "differences"
        ]
    ]
    assert names == [
        "driver",
        "torch",
        "corpus.commit",
        "environment.OMP_NUM_THREADS",
        "environment.TRITON_DEBUG",
    ]


def test_a_factor_allows_exactly_what_it_names(opgauge, tmp_path):
    runs = two(tmp_path, NULL, NULL, identity(driver="2.0", corpus__commit="bbbb2222"))
    done = opgauge("compare", *runs, "--factor", "corpus.commit")
    assert done.code == 3
    assert "1 fact differs: driver (A: 1.0, B: 2.0)" in done.err
    done = opgauge("compare", *runs, "--factor", "corpus.commit,driver", "--factor", "triton")
    assert done.code == 0, done.err
    assert "differs  corpus.commit (A: aaaa1111, B: bbbb2222)" in done.out
    assert "note: --factor triton: A and B do not differ in it" in done.out
    assert opgauge("compare", *runs, "--factor", "corpus.comit").code == 2


def test_across_calibers_there_is_no_verdict_and_every_output_says_so(opgauge, tmp_path):
    rows = [row(64, 9e4), row(128, 9e4)]
    runs = two(tmp_path, [row(64, 5e4), row(128, 5e4)], rows, identity(driver="2.0"))
    done = opgauge("compare", *runs, "--cross-caliber")
    assert done.code == 0, done.err
    assert done.out.count("CROSS-CALIBER") == 2
    assert "slower" not in done.out and "1.800" in done.out
    facts = opgauge("compare", *runs, "--cross-caliber", "--json").json()
    assert facts["options"]["cross_caliber"] is True
    assert [entry["verdict"] for entry in facts["rows"]] == [None, None]
    assert facts["counts"]["verdicts"] is None
    assert opgauge("compare", *runs, "--cross-caliber", "--fail-on", "slower").code == 2


def test_runs_tuned_separately_are_refused_with_the_cure(opgauge, tmp_path):
    a = [row(64, 5e4, winners_digest="w1"), row(128, 5e4)]
    b = [row(64, 4e4, winners_digest="w2"), row(128, 5e4)]
    runs = two(tmp_path, a, b)
    done = opgauge("compare", *runs)
    assert done.code == 3
    assert "winners (A: w1, B: w2)" in done.err
    assert "tuned separately, so a difference may be the tuner's luck" in done.err
    assert f"`opgauge run mm --tune replay --from {runs[0]}`" in done.err
    assert opgauge("compare", *runs, "--factor", "winners").code == 0


def test_equal_winners_compare(opgauge, tmp_path):
    rows = [row(64, 5e4, winners_digest="w1")]
    assert opgauge("compare", *two(tmp_path, rows, rows)).code == 0


def test_timers_of_a_fallback_leave_out_one_row_or_none(opgauge, tmp_path):
    a = [row(64, 5e4), row(128, 5e4, timer="event", fallback="capture_refused"), row(256, 5e4)]
    b = [row(64, 5e4), row(128, 5e4, timer="event", fallback="capture_refused")]
    b.append(row(256, 5e4, timer="event", fallback="capture_refused"))
    runs = two(tmp_path, a, b)
    done = opgauge("compare", *runs)
    assert done.code == 0, done.err
    assert "compared 2: " in done.out and "timers differ 1" in done.out
    assert "timer (A: graph, B: event)" in done.out
    assert (
        opgauge("compare", *runs, "--factor", "timer", "--json").json()["counts"]["compared"] == 3
    )


def test_runs_meant_for_different_timers_are_refused(opgauge, tmp_path):
    rows = [row(64, 5e4), row(128, 5e4, timer="event")]
    other = [row(64, 5e4, timer="event"), row(128, 5e4, timer="event")]
    done = opgauge("compare", *two(tmp_path, rows, other, identity(timer__name="event")))
    assert done.code == 3
    assert "timer (A: graph, B: event)" in done.err


def test_only_a_fallback_timer_in_common_is_enough(opgauge, tmp_path):
    rows = [row(64, 5e4, timer="event")]
    done = opgauge("compare", *two(tmp_path, rows, rows, identity(timer__name="event")))
    assert done.code == 0, done.err


def test_flagged_and_failed_rows_are_counted_by_kind(opgauge, tmp_path):
    failed = {**row(512, 1.0, status="failed"), "base": None, "candidate": None}
    failed["reason"] = "error: \x1b[31mred"
    a = [row(64, 5e4), row(128, 5e4, flags=["throttled:power@1200"]), row(256, 5e4), row(512, 5e4)]
    b = [
        row(64, 5e4),
        row(128, 5e4),
        row(256, 5e4, flags=["outputs_differ", "shared_device"]),
        failed,
    ]
    runs = two(tmp_path, a, b)
    done = opgauge("compare", *runs)
    assert done.code == 0, done.err
    assert "compared 1: " in done.out
    assert "failed 1, flagged 2, timers differ 0" in done.out
    assert "outputs_differ 1, shared_device 1, throttled 1, without a number 1" in done.out
    assert "B: failed: error: \\x1b[31mred" in done.out and "\x1b" not in done.out
    assert opgauge("compare", *runs, "--fail-on", "missing").code == 1


def test_a_case_that_failed_in_b_is_missing_although_it_is_flagged_in_a(opgauge, tmp_path):
    failed = {**row(128, 1.0, status="failed"), "base": None, "candidate": None}
    failed["reason"] = "error: gone"
    throttled = row(128, 5e4, flags=["throttled:power@1200"])
    runs = two(tmp_path, [row(64, 5e4), throttled], [row(64, 5e4), failed])
    done = opgauge("compare", *runs)
    assert "failed 1, flagged 0" in done.out
    assert "B: failed: error: gone" in done.out
    assert opgauge("compare", *runs, "--fail-on", "missing").code == 1


def test_flags_that_say_what_a_timer_means_compare_on_both_sides_only(opgauge, tmp_path):
    held = row(64, 5e4, flags=["no_device_hold"])
    done = opgauge(
        "compare",
        *two(tmp_path, [held, row(128, 5e4)], [held, row(128, 5e4, flags=["host_in_sample"])]),
    )
    assert "compared 1: " in done.out and "flagged 1" in done.out
    assert "A: no flag; B: host_in_sample" in done.out
    assert "geometric mean" not in done.out  # a flagged row enters no mean


@pytest.mark.parametrize(("factor", "verdict"), [(0.9, "faster"), (1.1, "slower"), (1.0, "same")])
def test_processes_as_replicates_give_verdicts(opgauge, tmp_path, factor, verdict):
    arms = replicates(tmp_path, factor)
    done = opgauge("compare", *arms, "--json")
    assert done.code == 0, done.err
    assert verdicts(done) == [verdict, verdict]
    facts = done.json()["rows"][0]
    assert facts["processes"] == [8, 8] and facts["one_process_each"] is None
    assert facts["ratio"] == pytest.approx(factor, rel=2e-3)
    text = opgauge("compare", "--a", *arms[0].iterdir(), "--b", *arms[1].iterdir())
    assert "  8/8  " in text.out and "one process each" not in text.out


def test_few_processes_are_undecided_and_say_how_many_do(opgauge, tmp_path):
    arms = replicates(tmp_path, 1.5, count=3)
    done = opgauge("compare", *arms)
    assert "undecided  3/3" in done.out and "more processes (6 a side)" in done.out


def test_one_process_each_says_so(opgauge, tmp_path):
    done = opgauge("compare", *two(tmp_path, [row(64, 5e4)], [row(64, 6e4)]))
    assert "slower, one process each  1/1" in done.out
    assert "1 % or more is allowed for what processes differ by" in done.out
    facts = opgauge("compare", tmp_path / "a", tmp_path / "b", "--json").json()["rows"][0]
    assert facts["one_process_each"]["noise"] == 0.01
    assert len(facts["one_process_each"]["blocks_a"]) == 4
    # What is not compared changed by 20 %: such a machine shows nothing.
    moved = make_run(tmp_path / "c", [{**row(64, 6e4), "base": row(64 * 1.2, 0)["base"]}])
    assert verdicts(opgauge("compare", tmp_path / "a", moved, "--json")) == ["undecided"]


def test_what_is_compared_decides_the_direction(opgauge, tmp_path):
    rows = [{**row(64, 5e4), "base": row(128, 0)["base"]}]
    runs = two(tmp_path, [row(64, 5e4)], rows)
    assert verdicts(opgauge("compare", *runs, "--what", "base", "--json")) == ["slower"]
    speedups = opgauge(
        "compare", *replicates(tmp_path / "many", 1.1), "--what", "speedup", "--json"
    )
    assert verdicts(speedups) == ["slower", "slower"]
    assert speedups.json()["rows"][0]["ratio"] == pytest.approx(1 / 1.1, rel=2e-3)


def test_fail_on_decides_the_exit_code(opgauge, tmp_path):
    arms = replicates(tmp_path, 1.1)
    assert opgauge("compare", *arms, "--fail-on", "slower,undecided").code == 1
    assert opgauge("compare", *arms, "--fail-on", "undecided").code == 0
    assert opgauge("compare", *arms, "--fail-on", "missing").code == 0
    assert opgauge("compare", *arms, "--at-least", "20%", "--fail-on", "slower").code == 0
    assert opgauge("compare", *arms, "--fail-on", "worse").code == 2


def test_runs_of_one_arm_must_share_their_caliber(opgauge, tmp_path):
    a, b = replicates(tmp_path, 1.0, count=2)
    make_run(a / "mm-9", [row(64, 5e4)], identity(driver="2.0"))
    done = opgauge("compare", a, b)
    assert done.code == 3
    assert "driver (A in mm-0: 1.0, A in mm-9: 2.0)" in done.err
    assert "leave the others out" in done.err
    assert opgauge("compare", a, b, "--factor", "driver").code == 3


def test_arms_that_did_not_alternate_and_cut_runs_are_noted(opgauge, tmp_path):
    for number in range(2):
        for arm, hour in (("a", 10), ("b", 11)):
            facts = identity(created_utc=f"2026-12-01T{hour}:{number:02d}:00Z")
            make_run(tmp_path / arm / f"mm-{number}", [row(64, 5e4)], facts)
    (tmp_path / "b" / "mm-1" / "status.json").unlink()
    rows = tmp_path / "b" / "mm-1" / "rows.jsonl"
    rows.write_text(rows.read_text() + '{"schema_version": 1, "ind')
    done = opgauge("compare", tmp_path / "a", tmp_path / "b")
    assert done.code == 0, done.err
    assert "note: all runs of one arm came before all of the other" in done.out
    assert "mm-1 is incomplete: it has no status.json" in done.out
    assert "is torn and was dropped" in done.out


def test_a_run_without_samples_is_judged_by_its_medians_and_said(opgauge, tmp_path):
    runs = two(tmp_path, [row(64, 5e4)], [row(64, 6e4)])
    (runs[0] / "samples.jsonl").unlink()
    done = opgauge("compare", *runs)
    assert done.code == 0, done.err
    assert "note: cannot read" in done.out


def test_bad_input_is_one_clear_line(opgauge, tmp_path):
    run = make_run(tmp_path / "a", NULL)
    other = make_run(tmp_path / "b", NULL)
    (tmp_path / "empty").mkdir()
    cut = make_run(tmp_path / "cut", NULL)
    (cut / "rows.jsonl").write_text("{\n{}\n")
    odd = make_run(tmp_path / "odd", NULL)
    (odd / "run_identity.json").write_text("[]\n")
    for words, code, part in [
        ((run,), 2, "give two run folders, A and B"),
        ((run, run), 2, "is in A and in B; name two different runs"),
        ((run, tmp_path / "none"), 2, "none is not a folder"),
        ((run, tmp_path / "empty"), 2, "is no run folder and holds none"),
        (("--a", run, run, "--b", other), 2, "is named twice; a run counts once"),
        ((other, "--a", run, "--b", other), 2, "give A and B either as two words or with --a"),
        ((run, other, "--fdr", "much"), 2, "--fdr much is no share from 0 to below 1"),
        ((run, other, "--at-least", "-1%"), 2, "is no share from 0 to below 1"),
        ((run, other, "--what", "time"), 2, "--what"),
        ((run, cut), 2, "line 1 of"),
        ((run, odd), 2, "has schema version 0"),
    ]:
        done = opgauge("compare", *words)
        assert done.code == code, (words, done.err)
        assert part in done.err and done.err.count("\n") == 1, done.err
        assert done.out == ""


def test_samples_that_are_no_times_are_not_used(opgauge, tmp_path):
    runs = two(tmp_path, [row(64, 5e4)], [row(64, 6e4)])
    lines = '{"index":1,"side":"candidate","values_ns":[0,0,-1,0,0,0,0,0],"bursts":7}\n'
    (runs[1] / "samples.jsonl").write_text(lines)
    facts = opgauge("compare", *runs, "--json").json()["rows"][0]
    assert facts["one_process_each"]["blocks_b"] == []
