# SPDX-License-Identifier: Apache-2.0
"""`opgauge report` on runs, batches and comparisons: formats, files, what it refuses."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from made_reports import HOSTILE, case, make_batch  # noqa: E402
from made_runs import IDENTITY, identity, make_run, row  # noqa: E402


@pytest.mark.parametrize(
    "name, begin",
    [
        ("r.md", "### opgauge batch "),
        ("r.csv", "run,index,operator"),
        ("r.json", "{"),
        ("r.html", "<!DOCTYPE html>"),
        ("r.txt", "caliber "),
    ],
)
def test_the_ending_of_the_output_chooses_the_format(opgauge, tmp_path, name, begin):
    done = opgauge("report", make_batch(tmp_path / "batch"), "--output", tmp_path / name)
    assert (done.code, done.out) == (0, f"{tmp_path / name}\n")
    assert (tmp_path / name).read_text().startswith(begin)


def test_an_ending_that_names_no_format_is_refused(opgauge, tmp_path):
    done = opgauge("report", make_batch(tmp_path / "batch"), "--output", tmp_path / "r.pdf")
    assert (done.code, done.out) == (2, "")
    assert "no format is known by this ending" in done.err
    assert not (tmp_path / "r.pdf").exists()


def test_csv_has_a_line_a_row_and_no_formula(opgauge, tmp_path):
    done = opgauge("report", make_batch(tmp_path / "batch"), "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(done.out)))
    assert len(lines) == 8
    assert lines[6]["operator"] == "'" + HOSTILE.replace("\x1b", "\\x1b")
    assert "\x1b" not in done.out
    assert float(lines[0]["candidate_bytes_per_s"]) == pytest.approx(6144 / 1837.333e-9, rel=1e-5)
    assert float(lines[0]["candidate_limit_share"]) == pytest.approx(
        6144 / 4e12 / 1837.333e-9, rel=1e-5
    )


def test_json_has_the_facts_and_what_each_side_achieved(opgauge, tmp_path):
    report = opgauge("report", make_batch(tmp_path / "batch"), "--format", "json").json()
    assert (report["schema_version"], report["kind"]) == (1, "batch")
    assert report["total"]["rows"] == 8 and report["total"]["geomean_n"] == 6
    first = report["runs"][0]["rows"][0]
    assert first["achieved"]["candidate"]["bound"] == "bandwidth"
    assert report["runs"][0]["identity"]["run_id"] == "mm-20261203T000000Z"


def test_the_larger_least_time_is_the_limit(opgauge, tmp_path):
    facts = {**IDENTITY, "ceilings": {"matmul_flops_per_s": {"float16": 1e12}}}
    facts["ceilings"]["copy_bytes_per_s"] = 1e12
    work = {"bytes": 10_000, "flops": 20_000}
    run = make_run(tmp_path / "run", [row(64, 50.0, work=work)], facts)
    achieved = opgauge("report", run, "--format", "json").json()["runs"][0]["rows"][0]["achieved"]
    assert achieved["candidate"] == {
        "bytes_per_s": pytest.approx(2e11),
        "flops_per_s": pytest.approx(4e11),
        "limit_share": pytest.approx(0.4),
        "bound": "compute",
    }


def test_without_ceilings_no_share_of_a_limit_is_made_up(opgauge, tmp_path):
    run = make_run(tmp_path / "run", [case("mm", 0)])
    done = opgauge("report", run)
    assert "ceilings unknown" in done.out
    assert "of the limit" not in done.out


def test_a_run_that_was_cut_off_is_called_so_in_every_format(opgauge, tmp_path):
    batch = make_batch(tmp_path / "batch")
    (batch / "runs" / "mm" / "status.json").unlink()
    for form in ("text", "markdown", "json", "html"):
        out = opgauge("report", batch, "--format", form).out
        assert "INCOMPLETE: 1 of 2 runs have no status.json" in out, form
    table = opgauge("report", batch, "--format", "csv")
    assert "INCOMPLETE" not in table.out
    assert "INCOMPLETE: 1 of 2 runs have no status.json" in table.err


def test_what_cut_a_run_off_is_what_its_batch_knows(opgauge, tmp_path):
    batch = make_batch(tmp_path / "batch")
    (batch / "runs" / "mm" / "status.json").unlink()
    listing = json.loads((batch / "batch.json").read_text())
    listing["operators"][0].update(status="crashed", reason="a signal ended the lane")
    (batch / "batch.json").write_text(json.dumps(listing))
    (line,) = [line for line in opgauge("report", batch).out.splitlines() if line.startswith("mm ")]
    assert line.split()[1] == "crashed"
    assert line.endswith("a signal ended the lane")


def test_runs_of_two_setups_are_not_mixed_without_a_word(opgauge, tmp_path):
    make_run(tmp_path / "batch" / "a", [row(64, 5e4)])
    make_run(tmp_path / "batch" / "b", [row(64, 5e4)], identity(driver="2.0"))
    out = opgauge("report", tmp_path / "batch").out
    assert "the runs have 2 setups: their times are not comparable with each other" in out


def test_markdown_of_many_rows_stays_below_what_a_forge_takes(opgauge, tmp_path):
    rows = [case("op", number) for number in range(2000)]
    done = opgauge("report", make_run(tmp_path / "run", rows), "--format", "markdown")
    assert len(done.out) < 65_536
    assert "of 2000 rows are shown; `opgauge report --format csv` has all." in done.out


def test_markdown_escapes_what_a_page_would_obey(opgauge, tmp_path):
    done = opgauge("report", make_batch(tmp_path / "batch"), "--format", "markdown")
    for forbidden in ("<img", "</script", "@team", " #1", "\x1b"):
        assert forbidden not in done.out
    rows = [line for line in done.out.splitlines() if line.startswith("| <code>=evil")]
    assert [line.count("|") for line in rows] == [6, 13, 12, 12]


def test_a_page_holds_its_library_with_its_licence_and_loads_nothing(opgauge, tmp_path):
    page = opgauge("report", make_batch(tmp_path / "batch"), "--format", "html").out
    assert "Chart.js v3" in page
    assert "Permission is hereby granted, free of charge" in page
    assert "default-src 'none'" in page
    assert "</script><img" not in page
    assert " src=" not in page.replace("img src=x", "")
    data = page.split('id="data">')[1].split("</script>")[0]
    assert json.loads(data)["count"] == 8


@pytest.mark.parametrize(
    "content, why",
    [
        ("{}", "it has no options, rows and counts"),
        ("[1", "is not JSON"),
        ('{"schema_version": 9, "options": {}, "rows": [], "counts": {}}', "schema version 9"),
    ],
)
def test_a_file_that_is_no_comparison_is_refused(opgauge, tmp_path, content, why):
    (tmp_path / "file.json").write_text(content)
    done = opgauge("report", tmp_path / "file.json")
    assert done.code == 2
    assert why in done.err


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "json", "html"])
def test_a_comparison_with_members_of_other_types_does_no_harm(opgauge, tmp_path, form):
    odd = {"schema_version": 1, "options": 3, "rows": [1, {"ratio": "x"}, None], "counts": []}
    (tmp_path / "file.json").write_text(json.dumps({**odd, "a": [], "differences": [7]}))
    done = opgauge("report", tmp_path / "file.json", "--format", form)
    assert done.code == 0, done.err


def test_a_place_that_cannot_be_written_is_named(opgauge, tmp_path):
    done = opgauge("report", make_batch(tmp_path / "b"), "--output", tmp_path / "no" / "r.md")
    assert done.code == 4
    assert str(tmp_path / "no") in done.err
