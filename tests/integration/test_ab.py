# SPDX-License-Identifier: Apache-2.0
"""`opgauge ab`: both arms in turn, through the real runs, on the fake backend and a stub corpus."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

from conftest import CORPUS, rows_of, scripted_case
from test_replay import sweep, tuned_case

STEADY = [1e6] * 20


def scripts(opgauge, a, b) -> list[str]:
    """A switch that a script reads: each arm plays one of its own."""
    words = []
    for arm, cases in (("a", a), ("b", b)):
        path = opgauge.folder / f"{arm}.json"
        path.write_text(json.dumps({"tests": [{"node": "fake::mm", "cases": cases}]}))
        words += [f"--{arm}", f"OPGAUGE_FAKE_SCRIPT={path}"]
    opgauge.env["OPGAUGE_FAKE_SCRIPT"] = str(opgauge.folder / "a.json")
    return ["ab", *words, "mm", "--backend", "fake", "--dir", "ab"]


def two_cases(scale: float) -> list[dict]:
    return [scripted_case(1, STEADY, [5e5 * scale] * 20), scripted_case(2, STEADY, [5e5] * 20)]


def facts_of(opgauge) -> dict:
    return json.loads((opgauge.folder / "ab" / "ab.json").read_text())


def test_three_percent_are_called_and_equal_rows_are_same(opgauge):
    words = scripts(opgauge, two_cases(1), two_cases(1.03))
    done = opgauge(*words, "--seed", "7", "--fail-on", "slower", "--no-early-stop")
    assert done.code == 1, done.err
    facts = facts_of(opgauge)
    assert [row["verdict"] for row in facts["rows"]] == ["slower", "same"]
    assert [row["processes"] for row in facts["rows"]] == [[10, 10], [10, 10]]
    assert facts["ab"]["status"] == "complete"
    assert facts["ab"]["seed"] == 7
    assert sorted(facts["ab"]["order"]) == ["a"] * 10 + ["aa"] * 10 + ["b"] * 10
    assert facts["ab"]["again"]["counts"]["verdicts"]["same"] == 2
    assert facts["ab"]["identical_arms"] is False
    assert "A/A: 0 of 2 rows of equal code were called faster or slower (0.0 % false alarms)" in (
        done.out
    )
    assert "is the switch read at all?" not in done.out
    for arm in ("a", "b", "aa"):
        folders = sorted(path.name for path in (opgauge.folder / "ab" / arm).iterdir())
        assert folders == [f"{number:03}" for number in range(1, 11)]
        assert len(rows_of(opgauge.folder / "ab" / arm / "010")) == 2


def test_it_stops_at_the_early_look_and_spends_half_of_the_error_rates(opgauge):
    done = opgauge(*scripts(opgauge, two_cases(1), two_cases(1.2)), "--json")
    assert done.code == 0, done.err
    facts = done.json()
    assert facts["ab"]["status"] == "stopped_early"
    assert facts["ab"]["replicates_done"] == 7
    assert facts["ab"]["look"] == {"replicates": 7, "share": 0.5}
    assert facts["options"]["fdr"] == 0.005
    assert [row["verdict"] for row in facts["rows"]] == ["slower", "same"]


def test_a_seed_makes_the_same_order_again(opgauge):
    words = scripts(opgauge, two_cases(1), two_cases(1))
    words = words[: words.index("--dir")]
    orders = []
    for number in (1, 2):
        done = opgauge(*words, "--dir", f"n{number}", "--seed", "12", "--replicates", "3", "--json")
        orders.append(done.json()["ab"]["order"])
    assert orders[0] == orders[1]


def test_a_switch_that_nothing_reads_is_told(opgauge, script):
    words = script(two_cases(1))[1:]
    done = opgauge("ab", *words, "--a", "SW=0", "--b", "SW=1", "--dir", "ab")
    assert done.code == 0, done.err
    assert (
        "note: arms are identical in code path and caliber as far as opgauge can see: is the "
        "switch read at all?"
    ) in done.out
    assert facts_of(opgauge)["ab"]["identical_arms"] is True


def test_a_difference_too_weak_for_a_verdict_is_not_called_identical(opgauge):
    words = scripts(opgauge, two_cases(1), two_cases(1.2))
    done = opgauge(*words, "--replicates", "5", "--fdr", "0.0001")
    assert done.code == 0, done.err
    facts = facts_of(opgauge)
    assert [row["verdict"] for row in facts["rows"]] == ["undecided", "same"]
    assert facts["ab"]["identical_arms"] is False


def test_report_shows_it_in_every_format(opgauge):
    done = opgauge(*scripts(opgauge, two_cases(1), two_cases(1.2)))
    assert done.code == 0, done.err
    shown = opgauge("report", "ab")
    assert shown.code == 0, shown.err
    assert done.out == shown.out + f"files: {opgauge.folder / 'ab'}\n"
    assert "A/A: 0 of 2 rows" in shown.out
    assert opgauge("report", "ab", "--format", "markdown").out.count("A/A: 0 of 2 rows") == 1
    assert len(opgauge("report", "ab", "--format", "csv").out.splitlines()) == 3
    assert opgauge("report", "ab", "--format", "json").json()["comparison"]["ab"]["status"] == (
        "stopped_early"
    )
    assert "<html" in opgauge("report", "ab", "--format", "html").out


def test_a_winner_that_one_arm_cannot_use_is_undecided(opgauge, script):
    recorded = [tuned_case(1, sweep(1, 64)), tuned_case(2, sweep(2, 128))]
    changed = [tuned_case(1, sweep(1, 64)), tuned_case(2, sweep(2, 128, config_list_digest="new"))]
    words = script(recorded)
    assert opgauge(*words, "--tune", "record", "--run-dir", "r").code == 0
    words = scripts(opgauge, recorded, changed)
    done = opgauge(*words, "--tune", "replay", "--from", "r", "--replicates", "5")
    facts = facts_of(opgauge)
    assert done.code == 0, done.err
    assert [row["shapes"] for row in facts["rows"]] == ["1x1"]
    assert facts["rows"][0]["verdict"] == "same"
    assert facts["ab"]["winner_not_shared"] == 1
    assert facts["left_out"][0]["why"] == "undecided: winner not shared (replay_miss)"
    assert facts["ab"]["winners"] == "replayed from r"
    done = opgauge(
        *words[:-1], "more", "--tune", "replay", "--from", "r", "--replicates", "5",
        "--fail-on", "undecided",
    )  # fmt: skip
    assert done.code == 1


def test_the_switch_itself_keeps_no_winner_from_either_arm(opgauge, script):
    words = script([tuned_case(1, sweep(1, 64))])
    assert opgauge(*words, "--tune", "record", "--run-dir", "r", FLAGGEMS_SW="0").code == 0
    done = opgauge(
        "ab", *words[1:], "--a", "FLAGGEMS_SW=0", "--b", "FLAGGEMS_SW=1", "--tune", "replay",
        "--from", "r", "--replicates", "5", "--dir", "ab",
    )  # fmt: skip
    assert done.code == 0, done.err
    facts = facts_of(opgauge)
    assert [row["verdict"] for row in facts["rows"]] == ["same"]
    assert facts["left_out"] == []
    assert facts["ab"]["winner_not_shared"] == 0
    accepted = ["replay_scope_accepted:environment.FLAGGEMS_SW"]
    flags = {
        arm: rows_of(opgauge.folder / "ab" / arm / "001")[0]["flags"] for arm in ("a", "b", "aa")
    }
    assert flags == {"a": [], "b": accepted, "aa": []}


def test_arm_a_is_recorded_and_both_arms_replay_it(corpus_tool):
    done = corpus_tool(
        "ab", "--a", "FLAGGEMS_SW=0", "--b", "FLAGGEMS_SW=1", "mm", "abs", "--backend", "fake",
        "--dir", "ab", "--replicates", "3", "--dtypes", "float16",
    )  # fmt: skip
    assert done.code == 0, done.err
    facts = facts_of(corpus_tool)
    assert facts["ab"]["winners"] == "replayed from record"
    assert facts["left_out"] == []
    assert {row["operator"] for row in facts["rows"]} == {"mm", "abs"}
    assert [difference["fact"] for difference in facts["differences"]] == [
        "environment.FLAGGEMS_SW"
    ]
    for arm, value in (("a", "0"), ("b", "1"), ("aa", "0")):
        for name in ("mm", "abs"):
            run = corpus_tool.folder / "ab" / arm / "002" / name
            identity = json.loads((run / "run_identity.json").read_text())
            assert identity["environment"]["FLAGGEMS_SW"] == value
            assert identity["tuning"]["mode"] == "replay"


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def two_revisions(corpus_tool) -> Path:
    corpus = corpus_tool.folder / "corpus"
    shutil.copytree(CORPUS, corpus)
    git(corpus, "init", "-q")
    for number in (1, 2):
        (corpus / "note").write_text(str(number))
        git(corpus, "add", "-A")
        git(corpus, "commit", "-qm", f"c{number}")
    return corpus


def test_two_revisions_in_worktrees_that_go_again(corpus_tool):
    corpus = two_revisions(corpus_tool)
    words = ["ab", "--corpus", str(corpus), "abs", "--backend", "fake", "--dtypes", "float16"]
    done = corpus_tool(
        *words, "--rev-a", "HEAD~1", "--rev-b", "HEAD", "--dir", "ab", "--replicates", "3"
    )
    assert done.code == 0, done.err
    facts = facts_of(corpus_tool)
    commits = git(corpus, "rev-parse", "HEAD~1", "HEAD").split()
    assert [facts["ab"]["a"]["commit"], facts["ab"]["b"]["commit"]] == commits
    assert [difference["fact"] for difference in facts["differences"]] == ["corpus.commit"]
    assert len(git(corpus, "worktree", "list").splitlines()) == 1
    assert not (corpus_tool.folder / "ab/worktrees").exists()
    same = corpus_tool(*words, "--rev-a", "HEAD", "--rev-b", "HEAD", "--dir", "no")
    assert same.code == 2
    assert "are the same commit" in same.err
    unknown = corpus_tool(*words, "--rev-a", "nope", "--rev-b", "HEAD", "--dir", "no2")
    assert unknown.code == 2
    assert "nope is no revision of the corpus" in unknown.err
    assert len(git(corpus, "worktree", "list").splitlines()) == 1


def test_two_checkouts(corpus_tool):
    corpus = two_revisions(corpus_tool)
    older = corpus_tool.folder / "older"
    git(corpus, "clone", "-q", str(corpus), str(older))
    git(older, "checkout", "-q", "HEAD~1")
    done = corpus_tool(
        "ab", "--corpus-a", str(older), "--corpus-b", str(corpus), "abs", "--backend", "fake",
        "--dtypes", "float16", "--dir", "ab", "--replicates", "3",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert [entry["fact"] for entry in facts_of(corpus_tool)["differences"]] == ["corpus.commit"]


def test_an_interrupt_keeps_what_was_measured_and_leaves_no_worktree(corpus_tool):
    corpus = two_revisions(corpus_tool)
    process = corpus_tool.start(
        "ab", "--corpus", str(corpus), "--rev-a", "HEAD~1", "--rev-b", "HEAD", "abs",
        "--backend", "fake", "--dtypes", "float16", "--dir", "ab", "--replicates", "999",
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (corpus_tool.folder / "ab/b/002/status.json").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    facts = facts_of(corpus_tool)
    assert facts["ab"]["status"] == "interrupted"
    assert facts["ab"]["reason"].startswith("interrupted after ")
    assert facts["ab"]["replicates_done"] >= 1
    assert len(git(corpus, "worktree", "list").splitlines()) == 1
    assert corpus_tool("report", "ab").code == 0


def test_a_failing_replicate_is_counted_and_fails_the_command(opgauge):
    bad = [scripted_case(1, STEADY, STEADY), scripted_case(2, STEADY, STEADY, crash="segv")]
    done = opgauge(*scripts(opgauge, two_cases(1), bad), "--replicates", "5")
    assert done.code == 1
    facts = facts_of(opgauge)
    assert facts["ab"]["failed_runs"] == 5
    assert facts["left_out"][0]["kind"] == "failed"


def test_arms_that_differ_in_more_than_their_name_are_refused_after_one_round(opgauge, script):
    words = script(two_cases(1))[1:]
    devices = '[{"name": "Fake Accelerator", "uuid": "FAKE-0000", "power_limit_watts": 300}]'
    done = opgauge("ab", *words, "--b", f"OPGAUGE_FAKE_DEVICES={devices}", "--dir", "ab")
    assert done.code == 3
    assert "device.power_limit (A: unknown, B: 300" in done.err
    facts = facts_of(opgauge)
    assert facts["ab"]["status"] == "failed"
    assert facts["ab"]["replicates_done"] == 1
    assert facts["rows"] == []


def test_arms_on_two_devices_are_refused(opgauge, script):
    words = script(two_cases(1))[1:]
    devices = (
        '[{"name": "F", "uuid": "FAKE-0", "index": 0}, {"name": "F", "uuid": "FAKE-1", "index": 1}]'
    )
    done = opgauge(
        "ab", *words, "--a", "FAKE_VISIBLE_DEVICES=0", "--b", "FAKE_VISIBLE_DEVICES=1",
        "--dir", "ab", OPGAUGE_FAKE_DEVICES=devices,
    )  # fmt: skip
    assert done.code == 3
    assert "the arms would be measured on different devices (0, 1)" in done.err


def test_what_makes_no_sense_is_refused_before_anything_starts(opgauge, script):
    words = script(two_cases(1))[1:]
    for more, message in (
        ([], "name one difference"),
        (["--a", "SW=1", "--b", "SW=1"], "set the same values"),
        (["--a", "SW"], "--a SW is no KEY=VALUE"),
        (["--a", "SW=1", "--a", "SW=2"], "--a sets SW twice"),
        (["--a", "SW=1", "--rev-a", "x", "--rev-b", "y"], "name one difference"),
        (["--rev-a", "x", "--rev-b", "y"], "need a corpus in git"),
        (["--corpus-a", "x"], "--corpus-a and --corpus-b belong together"),
        (["--a", "SW=1", "--replicates", "2"], "--replicates"),
    ):
        done = opgauge("ab", *words, *more, "--dir", "ab")
        assert done.code == 2, (more, done.err)
        assert message in done.err
        assert done.err.count("\n") == 1
