# SPDX-License-Identifier: Apache-2.0
"""The HTML report in a real Chromium: opened from disk, filtered, sorted, pointed at."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import browser as browsers  # noqa: E402
from made_reports import HOSTILE, make_batch, make_large_batch  # noqa: E402
from made_runs import make_run, row  # noqa: E402
from selenium.webdriver import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

pytestmark = pytest.mark.skipif(
    not (browsers.CHROMIUM and browsers.DRIVER), reason="no chromium and chromium-driver here"
)

SHOWN_HOSTILE = HOSTILE.replace("\x1b", "\\x1b")
# As the page shows them: operator, dtype, speed-up of each row of its table.
CELLS = """
return [...document.querySelectorAll("#cases tbody tr")].map((line) =>
    [0, 1, 5].map((place) => line.cells[place].textContent));
"""

SPEEDUPS = """
const speedups = () => Chart.getChart(document.querySelector("#speedups canvas"));
"""


@pytest.fixture(scope="module")
def browser():
    made = browsers.Browser()
    yield made
    made.close()


@pytest.fixture
def page(opgauge, browser, tmp_path):
    """The report of a small batch, open; afterwards nothing may have gone wrong in it."""
    batch = make_batch(tmp_path / "batch")
    done = opgauge("report", batch, "--output", tmp_path / "report.html")
    assert done.code == 0, done.err
    browser.complaints(), browser.requests()
    browser.open(tmp_path / "report.html")
    yield browser
    browser.scheme("light")
    assert browser.complaints() == []
    assert browser.requests() == []


def test_it_opens_with_every_row_and_the_mean_of_the_good_ones(page):
    assert page.driver.title.startswith("opgauge batch: ")
    assert page.find("#summary").text == (
        "8 of 8 rows; geometric mean of the speed-up 1.313 (n = 6)"
    )
    assert len(page.script(CELLS)) == 8
    assert page.texts("#pages a") == ["Overview", "Operators", "Identity", "Time"]
    assert "caliber 0123456789abcdef: fake Fake 1" in page.find("main").text
    page.keep("overview")


def test_filters_narrow_table_chart_and_mean(page):
    page.find("#filter-operator").send_keys("mm")
    Select(page.find("#filter-dtype")).select_by_value("float16")
    assert page.script(CELLS) == [["mm", "float16", "1.200"], ["mm", "float16", "1.560"]]
    assert page.find("#summary").text.startswith("2 of 8 rows; ")
    drawn = page.script(SPEEDUPS + "return speedups().data.datasets[0].data.length")
    assert drawn == 2
    Select(page.find("#filter-dtype")).select_by_value("")
    Select(page.find("#filter-flag")).select_by_value("throttled")
    assert page.script(CELLS) == [["mm", "float32", "1.680"]]
    assert page.find("#summary").text == "1 of 8 rows; no speed-up"


def test_a_title_sorts_both_ways_and_the_unknown_stays_last(page):
    title = page.find("#cases th:nth-child(6) button")
    title.click()
    up = [cells[2] for cells in page.script(CELLS)]
    assert up == ["0.800", "1.200", "1.320", "1.440", "1.560", "1.680", "1.800", "-"]
    assert page.find("#cases th:nth-child(6)").get_attribute("aria-sort") == "ascending"
    title.click()
    assert [cells[2] for cells in page.script(CELLS)] == [*reversed(up[:-1]), "-"]


def test_it_is_used_with_the_keyboard_alone(page):
    page.find("#filter-flag").send_keys(Keys.TAB)
    for _ in range(6):  # operator, dtype, shapes, base, candidate, speed-up
        focused = page.driver.switch_to.active_element
        if focused.text == "speed-up":
            break
        focused.send_keys(Keys.TAB)
    assert focused.text == "speed-up"
    focused.send_keys(Keys.ENTER)
    assert page.script(CELLS)[0][2] == "0.800"
    for _ in range(40):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        if page.driver.switch_to.active_element.tag_name == "a":
            break
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.go(page.script("return location.hash"))
    assert page.script("return location.hash") == "#case/6"


def test_pointing_at_a_point_tells_its_case(page):
    tooltip = SPEEDUPS + "return speedups().tooltip"

    # The chart may still be laid out when it is first pointed at: then the point lies elsewhere.
    def pointed(_):
        place = page.script(
            SPEEDUPS + "const point = speedups().getDatasetMeta(0).data[6];"
            "const box = document.querySelector('#speedups canvas').getBoundingClientRect();"
            "return [point.x - box.width / 2, point.y - box.height / 2];"
        )
        canvas = page.find("#speedups canvas")
        mouse = ActionChains(page.driver)
        mouse.move_to_element(canvas)
        mouse.move_to_element_with_offset(canvas, round(place[0]), round(place[1])).perform()
        return page.script(tooltip + ".opacity > 0")

    WebDriverWait(page.driver, 30).until(pointed)
    told = page.script(tooltip + ".body.flatMap((part) => part.lines)")
    assert told == ["mm bfloat16 64x64", "speed-up 1.800: 2.82 µs to 1.57 µs"]


def test_a_case_shows_its_samples_its_clock_and_its_distribution(page):
    page.go("#case/0")
    assert page.texts("main h3") == [
        "Samples of base over time",
        "Samples of candidate over time",
        "Distribution",
        "Case",
        "base",
        "candidate",
    ]
    charts = "return [...document.querySelectorAll('main canvas')].map((one) => Chart.getChart(one)"
    series = page.script(charts + ".data.datasets.map((set) => [set.label, set.data.length]))")
    assert series[0] == [["base: time of a call", 40], ["clock", 4]]
    assert [label for label, count in series[2]] == ["base", "candidate"]
    first = page.script(charts + ".data.datasets[0].data[0].y)")[0]
    assert first == pytest.approx(2204.8 * (1 - 0.004), rel=1e-5)
    assert "0.1 % (bandwidth)" in page.find("main").text
    page.keep("case")


def test_an_operator_shows_latency_against_size_and_the_ceilings(page):
    page.go("#operator/mm")
    axes = page.script(
        "return [...document.querySelectorAll('main canvas')]"
        ".map((one) => Chart.getChart(one).scales)"
        ".map((scales) => [scales.x.type, scales.y.type])"
    )
    assert axes == [["logarithmic", "logarithmic"]] * 3
    labels = page.script(
        "return Chart.getChart(document.querySelectorAll('main canvas')[2]).data.datasets"
        ".map((set) => set.label)"
    )
    assert "ceiling: float16 product" in labels
    page.keep("operator")


def test_foreign_text_is_shown_and_never_obeyed(page):
    for place in ("#overview", "#operators", "#case/7", "#identity"):
        page.go(place)
        assert SHOWN_HOSTILE in page.script("return document.body.textContent"), place
        assert page.script("return document.querySelectorAll('main img, main script').length") == 0
    page.go("#operator/" + page.script("return encodeURIComponent(arguments[0])", SHOWN_HOSTILE))
    assert page.find("main h2").text == "Operator " + SHOWN_HOSTILE


def test_it_is_read_in_light_and_in_dark(page):
    def brightness(of: str) -> float:
        colour = page.script(f"return getComputedStyle(document.body).{of}")
        return sum(int(part) for part in colour[4:-1].split(",")) / 3

    for scheme in ("light", "dark"):
        page.scheme(scheme)
        page.go("#case/1")
        assert (brightness("backgroundColor") > 128) == (scheme == "light")
        assert abs(brightness("backgroundColor") - brightness("color")) > 180
        tick = page.script(
            "return Chart.getChart(document.querySelector('main canvas'))"
            ".options.scales.x.ticks.color"
        )
        assert tick == ("#5a6570" if scheme == "light" else "#a4aeb8")
        page.keep(f"case-{scheme}")


def test_what_does_not_exist_is_said(page):
    page.go("#case/99")
    assert "There is no such case" in page.find("main").text
    page.go("#operator/bmm")
    assert "This operator has no rows." in page.find("main").text


def test_a_comparison_has_a_page_of_its_own(opgauge, browser, tmp_path):
    a = make_run(tmp_path / "a", [row(64, 5e4), row(128, 6e4), row(256, 7e4)])
    b = make_run(tmp_path / "b", [row(64, 5.5e4), row(128, 6e4), row(512, 7e4)])
    comparison = tmp_path / "comparison.json"
    comparison.write_text(opgauge("compare", a, b, "--json").out)
    assert opgauge("report", comparison, "--output", tmp_path / "ab.html").code == 0
    browser.complaints()
    browser.open(tmp_path / "ab.html")
    assert browser.texts("#pages a") == ["Comparison"]
    verdicts = browser.texts("#cases tbody td:nth-child(8)")
    assert verdicts == ["slower", "undecided"]
    Select(browser.find("#filter-verdict")).select_by_value("slower")
    assert browser.texts("#cases tbody td:nth-child(6)") == ["1.100"]
    text = browser.find("main").text
    assert "only in A" in text and "only in B" in text
    ticks = browser.script(
        "return Chart.getChart(document.querySelector('#ratios canvas')).scales.x.ticks[0].label"
    )
    assert ticks == 1
    browser.keep("comparison")
    assert browser.complaints() == []


def test_a_comparison_that_is_not_as_opgauge_writes_it_does_no_harm(opgauge, browser, tmp_path):
    row = {"operator": 3, "ratio": "x", "interval": [1], "processes": 2, "flags": None, "a": {}}
    odd = {"schema_version": 1, "options": 3, "counts": [], "rows": [1, None, row, []]}
    odd |= {"a": [], "b": {"setups": [4]}, "differences": [7, {"left": 1}], "left_out": {}}
    odd["geomean_ratio"] = "high"
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    done = opgauge("report", tmp_path / "odd.json", "--output", tmp_path / "odd.html")
    assert done.code == 0, done.err
    browser.complaints()
    browser.open(tmp_path / "odd.html")
    assert browser.texts("#cases tbody td")[:6] == ["3", "", "", "-", "-", "-"]
    assert browser.complaints() == []


def test_a_whole_corpus_opens_and_filters_in_pages(opgauge, browser, tmp_path):
    """How long it takes is measured by benchmarks/report, not asserted here."""
    make_large_batch(tmp_path / "batch", 20, 250)
    done = opgauge("report", tmp_path / "batch", "--output", tmp_path / "big.html", timeout=300)
    assert done.code == 0, done.err
    browser.complaints()
    browser.open(tmp_path / "big.html")
    assert browser.find("#summary").text.startswith("5000 of 5000 rows")
    assert len(browser.script(CELLS)) == 100
    assert browser.find(".pager span").text == "rows 1 to 100 of 5000"
    browser.find(".pager button:nth-child(2)").click()
    assert browser.find(".pager span").text == "rows 101 to 200 of 5000"
    browser.find("#filter-operator").send_keys("op_0007")
    assert browser.find("#summary").text.startswith("250 of 5000 rows")
    assert browser.complaints() == []


def test_the_page_of_a_batch_says_where_its_time_went(opgauge, browser, tmp_path):
    batch = make_batch(tmp_path / "batch")
    listing = json.loads((batch / "batch.json").read_text())
    listing["time"] = {"lane_seconds": 130.0, "outside": {"idle": 10.0}}
    listing["operators"][0]["time"] = {"measure": 70.0, "tune": 20.0}
    listing["operators"][1]["time"] = {"compile": 30.0}
    listing["operators"][1]["name"] = HOSTILE
    (batch / "batch.json").write_text(json.dumps(listing))
    assert opgauge("report", batch, "--output", tmp_path / "report.html").code == 0
    browser.complaints(), browser.requests()
    browser.open(tmp_path / "report.html")
    browser.go("#time")
    parts = [line.split("\t") for line in browser.texts("#time-parts tbody tr")]
    assert parts == [
        ["measure", "1 min 10 s", "53.8 %"],
        ["compile", "30.0 s", "23.1 %"],
        ["tune", "20.0 s", "15.4 %"],
        ["idle", "10.0 s", "7.7 %"],
    ]
    first, second = [line.split("\t") for line in browser.texts("#time-operators tbody tr")]
    assert first[:5] == ["mm", "1 min 30 s", "69.2 %", "measure", "77.8 %"]
    assert first[5].startswith("a wider --precision")
    assert second[:2] == [SHOWN_HOSTILE, "30.0 s"]
    assert "1 operator not ended and in no part yet" in browser.find("main").text
    assert browser.complaints() == []
    assert browser.requests() == []
