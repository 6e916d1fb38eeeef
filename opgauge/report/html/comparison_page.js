// SPDX-License-Identifier: Apache-2.0

const comparisonFilters = { words: "", dtype: "", verdict: "" };

function comparedRows() {
  const words = comparisonFilters.words.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return report.comparison.rows.filter((row) => {
    if (comparisonFilters.dtype !== "" && row.dtype !== comparisonFilters.dtype) return false;
    if (comparisonFilters.verdict !== "" && row.verdict !== comparisonFilters.verdict) return false;
    const name = String(row.operator).toLowerCase();
    return words.every((word) => name.includes(word));
  });
}

function distinct(rows, name) {
  return [...new Set(rows.map((row) => row[name]).filter((value) => value))].sort();
}

function comparisonForm(onChange) {
  const { rows } = report.comparison;
  const words = element("input", { id: "filter-operator", type: "search", value: comparisonFilters.words });
  const dtype = choice("filter-dtype", distinct(rows, "dtype"), "all");
  const verdict = choice("filter-verdict", distinct(rows, "verdict"), "all");
  dtype.value = comparisonFilters.dtype;
  verdict.value = comparisonFilters.verdict;
  const form = element("form", { className: "filters", role: "search" }, labelled("Operator", words),
                       labelled("Dtype", dtype), labelled("Verdict", verdict));
  const read = () => ({ words: words.value, dtype: dtype.value, verdict: verdict.value });
  return withFilters(form, comparisonFilters, read, onChange);
}

function comparedValue(value) {
  return report.comparison.options.what === "speedup" ? ratioText(value) : timeText(value);
}

function intervalText(row) {
  return row.interval ? `${ratioText(row.interval[0])} to ${ratioText(row.interval[1])}` : "-";
}

function plainColumn(title, name) {
  return { title, value: (row) => row[name], show: (row) => String(row[name] || "") };
}

function comparisonColumns() {
  const value = (title, name, show) => ({ title, number: true, value: (row) => row[name],
                                          show: (row) => show(row[name]) });
  return [
    plainColumn("operator", "operator"), plainColumn("dtype", "dtype"), plainColumn("shapes", "shapes"),
    value("A", "a", comparedValue), value("B", "b", comparedValue), value("ratio", "ratio", ratioText),
    { title: "interval", number: true, value: (row) => (row.interval ? row.interval[0] : null), show: intervalText },
    plainColumn("verdict", "verdict"),
    { title: "n", value: (row) => (row.processes || []).join("/"), show: (row) => (row.processes || []).join("/") },
    plainColumn("timer", "timer"),
    { title: "flags", value: (row) => (row.flags || []).join(", "), show: (row) => (row.flags || []).join(", ") },
    plainColumn("next", "next"),
  ];
}

function verdictColour(row) {
  if (row.verdict === "faster") return colour("good");
  return row.verdict === "slower" ? colour("bad") : colour("quiet");
}

function addRatioChart(parent, rows) {
  const known = thinned(rows.filter((row) => row.ratio > 0).sort((a, b) => a.ratio - b.ratio));
  const labels = known.map((row, rank) => rank + 1);
  const colours = known.map(verdictColour);
  const lines = (unused, item) => {
    const row = known[item.dataIndex];
    return [`${row.operator} ${row.dtype} ${row.shapes}`,
            `ratio ${ratioText(row.ratio)} (${intervalText(row)}): ${row.verdict || "no verdict"}`];
  };
  addChart(parent, "Ratios B over A with their intervals, from the lowest to the highest", {
    type: "bar",
    data: { labels, datasets: [
      { type: "line", label: "ratio", data: known.map((row) => row.ratio), showLine: false, pointRadius: 3,
        backgroundColor: colours, borderColor: colours },
      { label: "95 % interval", data: known.map((row) => row.interval || null), backgroundColor: colour("line"),
        maxBarThickness: 24 },
    ] },
    options: { scales: { x: axis("rows, by their ratio", "category"),
                         y: { ...axis("ratio B / A", "logarithmic", logTick(String)),
                              ...endsOf(known.flatMap((row) => [row.ratio, ...(row.interval || [])])) } },
               plugins: { tooltip: tooltip(lines) } },
  });
}

function armFacts(name) {
  const arm = report.comparison[name] || {};
  return [["paths", (arm.paths || []).join(", ")], ["runs", (arm.runs || []).length],
          ...((arm.setups || []).flatMap((setup) => Object.entries(setup)))];
}

function showArms(main) {
  const columns = element("div", { className: "side-by-side" });
  for (const name of ["a", "b"]) {
    columns.append(element("div", {}, element("h3", {}, name.toUpperCase()), factsTable(armFacts(name))));
  }
  const differing = (report.comparison.differences || []).map((difference) => [difference.fact,
    `${factText(difference.left.value)} (${difference.left.name}), `
    + `${factText(difference.right.value)} (${difference.right.name})`]);
  main.append(columns, element("h3", {}, "Facts that differ"));
  main.append(differing.length > 0 ? factsTable(differing) : paragraph("None.", "quiet"));
}

function showLeftOut(main) {
  const table = new PagedTable([plainColumn("left out", "kind"), plainColumn("arm", "arm"),
    plainColumn("operator", "operator"), plainColumn("dtype", "dtype"), plainColumn("shapes", "shapes"),
    plainColumn("why", "why")], "Cases that were not compared");
  table.setRows(report.comparison.left_out || []);
  main.append(element("h3", {}, "Left out"), table.element);
}

function comparisonNotes(main) {
  const { comparison } = report;
  if (comparison.refused) main.append(paragraph("Refused: " + comparison.refused, "warning"));
  if (comparison.options.cross_caliber) {
    main.append(paragraph("Cross-caliber: not measured alike, so no verdict; no ratio here says that code is "
                          + "faster.", "warning"));
  }
  for (const note of comparison.notes || []) main.append(paragraph(note, "warning"));
}

function showComparison(main) {
  const { comparison } = report;
  main.append(element("h2", {}, "B against A: " + comparison.options.what));
  comparisonNotes(main);
  const summary = element("p", { id: "summary", "aria-live": "polite" });
  const chartPlace = element("div", { id: "ratios" });
  const table = new PagedTable(comparisonColumns(), "A row for each compared case");
  table.element.id = "cases";
  const update = () => {
    const rows = comparedRows();
    const mean = comparison.geomean_ratio;
    summary.textContent = `${rows.length} of ${comparison.rows.length} rows`
      + (mean ? `; geometric mean of the ratio, over all rows, ${ratioText(mean)} (n = ${comparison.geomean_n})` : "");
    closeCharts();
    chartPlace.replaceChildren();
    addRatioChart(chartPlace, rows);
    table.setRows(rows);
  };
  main.append(comparisonForm(update), summary, chartPlace, table.element);
  showLeftOut(main);
  showArms(main);
  update();
}
