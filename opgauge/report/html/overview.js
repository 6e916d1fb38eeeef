// SPDX-License-Identifier: Apache-2.0

function caseLink(i) {
  return element("a", { href: "#case/" + i }, valueOf("operator", i));
}

function marksOf(i) {
  const marks = valueOf("status", i) === "ok" ? [] : [valueOf("status", i)];
  if (valueOf("fallback", i) !== "") marks.push("fallback=" + valueOf("fallback", i));
  return marks.concat(flagsOf(i)).join(", ");
}

function textColumn(title, name) {
  return { title, value: (i) => valueOf(name, i), show: (i) => valueOf(name, i) };
}

function numberColumn(title, name, show) {
  return { title, number: true, value: (i) => cases[name][i], show: (i) => show(cases[name][i]) };
}

function isKnown(name) {
  return report.count > 0 && cases[name].some((value) => value !== null);
}

function caseColumns() {
  const columns = [
    { title: "operator", value: (i) => valueOf("operator", i), show: caseLink },
    textColumn("dtype", "dtype"),
    textColumn("shapes", "shapes"),
    numberColumn("base", "base_ns", timeText),
    numberColumn("candidate", "candidate_ns", timeText),
    numberColumn("speed-up", "speedup", ratioText),
    numberColumn("precision", "precision", (share) => percentText(share, 2)),
  ];
  if (isKnown("candidate_bytes_per_s")) {
    columns.push(numberColumn("bandwidth", "candidate_bytes_per_s", (rate) => rateText(rate, "B/s")));
  }
  if (isKnown("candidate_flops_per_s")) {
    columns.push(numberColumn("arithmetic", "candidate_flops_per_s", (rate) => rateText(rate, "FLOP/s")));
  }
  if (isKnown("candidate_limit")) {
    columns.push(numberColumn("of the limit", "candidate_limit", (share) => percentText(share, 1)));
  }
  columns.push({ title: "flags", value: marksOf, show: marksOf });
  return columns;
}

// The filters of the overview stay while other pages are looked at.
const filters = { words: "", dtype: "", flag: "" };

function flagMatches(i) {
  if (filters.flag === "") return true;
  const clean = valueOf("status", i) === "ok" && valueOf("flags", i) === "";
  if (filters.flag === "unflagged") return clean;
  if (filters.flag === "any flag") return valueOf("flags", i) !== "";
  if (filters.flag.startsWith("status ")) return valueOf("status", i) === filters.flag.slice(7);
  return flagsOf(i).some((flag) => kindOfFlag(flag) === filters.flag);
}

function filteredCases() {
  const words = filters.words.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return allCases().filter((i) => {
    if (filters.dtype !== "" && valueOf("dtype", i) !== filters.dtype) return false;
    const name = valueOf("operator", i).toLowerCase();
    return words.every((word) => name.includes(word)) && flagMatches(i);
  });
}

function flagChoices() {
  const kinds = new Set();
  for (const flags of valuesOf("flags")) {
    for (const flag of flags.split(",")) if (flag !== "") kinds.add(kindOfFlag(flag));
  }
  const statuses = valuesOf("status").filter((name) => name !== "ok").map((name) => "status " + name);
  return ["unflagged", "any flag", ...[...kinds].sort(), ...statuses];
}

// Takes what a form says into `kept` whenever that has changed. A list may tell of it in one event or
// the other, and most tell in both.
function withFilters(form, kept, read, onChange) {
  const take = () => {
    const said = read();
    if (Object.keys(said).every((name) => said[name] === kept[name])) return;
    Object.assign(kept, said);
    onChange();
  };
  form.addEventListener("input", take);
  form.addEventListener("change", take);
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

function filterForm(onChange) {
  const words = element("input", { id: "filter-operator", type: "search", value: filters.words });
  const dtype = choice("filter-dtype", valuesOf("dtype"), "all");
  const flag = choice("filter-flag", flagChoices(), "all");
  dtype.value = filters.dtype;
  flag.value = filters.flag;
  const form = element("form", { className: "filters", role: "search" },
                       labelled("Operator", words), labelled("Dtype", dtype), labelled("Flag", flag));
  return withFilters(form, filters, () => ({ words: words.value, dtype: dtype.value, flag: flag.value }), onChange);
}

function speedupLines(point) {
  const i = point.case;
  return [`${valueOf("operator", i)} ${valueOf("dtype", i)} ${valueOf("shapes", i)}`,
          `speed-up ${ratioText(point.y)}: ${timeText(cases.base_ns[i])} to ${timeText(cases.candidate_ns[i])}`,
          marksOf(i)].filter((line) => line !== "");
}

function speedupPoints(indices) {
  const known = indices.filter((i) => cases.speedup[i] !== null);
  known.sort((a, b) => cases.speedup[a] - cases.speedup[b]);
  return thinned(known.map((i, rank) => ({ x: rank + 1, y: cases.speedup[i], case: i })));
}

function pointColour(i) {
  if (valueOf("flags", i) !== "") return colour("quiet");
  return cases.speedup[i] >= 1 ? colour("good") : colour("bad");
}

function addSpeedupChart(parent, points) {
  const open = (event, active, chart) => {
    if (active.length > 0) location.hash = "#case/" + chart.data.datasets[0].data[active[0].index].case;
  };
  return addChart(parent, "Speed-ups of the rows in the table, from the lowest to the highest", {
    type: "scatter",
    data: { datasets: [{ label: "speed-up", data: points, pointRadius: 3,
                         backgroundColor: points.map((point) => pointColour(point.case)) }] },
    options: {
      onClick: open,
      scales: { x: axis("rows, by their speed-up"),
                y: { ...axis("speed-up (base / candidate)", "logarithmic", logTick(String)),
                     ...endsOf(points.map((point) => point.y)) } },
      plugins: { legend: { display: false }, tooltip: tooltip(speedupLines) },
    },
  });
}

function overviewSummary(indices) {
  const { mean, count } = geomeanOf(indices);
  const rows = `${indices.length} of ${report.count} rows`;
  if (mean === null) return `${rows}; no speed-up`;
  return `${rows}; geometric mean of the speed-up ${ratioText(mean)} (n = ${count})`;
}

function showOverview(main) {
  for (const line of report.calibers) main.append(paragraph(line, "quiet"));
  for (const line of report.warnings) main.append(paragraph(line, "warning"));
  const summary = element("p", { id: "summary", "aria-live": "polite" });
  const chartPlace = element("div", { id: "speedups" });
  const table = new PagedTable(caseColumns(), "A row for each case; its operator opens its samples");
  table.element.id = "cases";
  const update = () => {
    const indices = filteredCases();
    summary.textContent = overviewSummary(indices);
    closeCharts();
    chartPlace.replaceChildren();
    addSpeedupChart(chartPlace, speedupPoints(indices));
    table.setRows(indices);
  };
  main.append(filterForm(update), summary, chartPlace, table.element);
  update();
}
