// SPDX-License-Identifier: Apache-2.0

function operatorLink(name) {
  return element("a", { href: "#operator/" + encodeURIComponent(name) }, name);
}

function summaryColumn(title, name, show) {
  return { title, number: true, value: (summary) => summary[name],
           show: (summary) => (show ? show(summary[name]) : String(summary[name])) };
}

function showOperators(main) {
  const table = new PagedTable([
    { title: "operator", value: (summary) => summary.name, show: (summary) => operatorLink(summary.name) },
    { title: "status", value: (summary) => summary.status, show: (summary) => summary.status },
    summaryColumn("rows", "rows"), summaryColumn("ok", "ok"), summaryColumn("failed or invalid", "bad"),
    summaryColumn("skipped", "skipped"), summaryColumn("flagged", "flagged"),
    summaryColumn("geometric mean", "geomean", ratioText), summaryColumn("n", "geomean_n"),
    summaryColumn("lowest", "lowest", ratioText), summaryColumn("highest", "highest", ratioText),
    { title: "reason", value: (summary) => summary.reason, show: (summary) => summary.reason },
  ], "A row for each run; its operator opens latency against size");
  table.setRows(report.operators);
  main.append(element("h2", {}, "Operators"), table.element);
}

const sides = [["base", "circle"], ["candidate", "triangle"]];

// A series for each dtype and side of `nameOf(side)`, against the arguments' elements.
function sizeSeries(indices, nameOf) {
  const series = [];
  const dtypes = [...new Set(indices.map((i) => valueOf("dtype", i)))];
  for (const [number, dtype] of dtypes.entries()) {
    for (const [side, pointStyle] of sides) {
      const points = indices
        .filter((i) => valueOf("dtype", i) === dtype && cases.elements[i] && cases[nameOf(side)][i])
        .map((i) => ({ x: cases.elements[i], y: cases[nameOf(side)][i], case: i, side }))
        .sort((a, b) => a.x - b.x);
      if (points.length === 0) continue;
      series.push({ label: `${dtype || "no dtype"} ${side}`, data: thinned(points), pointStyle,
                    showLine: true, pointRadius: 4, borderWidth: 1,
                    borderDash: side === "base" ? [4, 4] : [],
                    borderColor: seriesColour(number), backgroundColor: seriesColour(number) });
    }
  }
  return series;
}

// A line across the chart where the device's measured ceiling is.
function ceilingSeries(label, value, series) {
  const sizes = series.flatMap((one) => one.data.map((point) => point.x));
  if (!value || sizes.length === 0) return [];
  const ends = [Math.min(...sizes), Math.max(...sizes)];
  return [{ label, data: ends.map((x) => ({ x, y: value, ceiling: label })), showLine: true,
            pointRadius: 0, borderWidth: 2, borderDash: [8, 3], borderColor: colour("bad") }];
}

function addSizeChart(parent, title, series, show) {
  if (series.length === 0) return;
  const lines = (point) => (point.ceiling
    ? [`${point.ceiling}: ${show(point.y)}`]
    : [`${valueOf("shapes", point.case)} ${valueOf("dtype", point.case)}`, `${point.side} ${show(point.y)}`]);
  parent.append(element("h3", {}, title));
  addChart(parent, title, {
    type: "scatter",
    data: { datasets: series },
    options: {
      onClick: (event, active, chart) => {
        const point = active.length > 0 && chart.data.datasets[active[0].datasetIndex].data[active[0].index];
        if (point && point.case !== undefined) location.hash = "#case/" + point.case;
      },
      scales: { x: axis("elements of all arguments", "logarithmic", logTick(countText)),
                y: axis(title, "logarithmic", logTick(show)) },
      plugins: { tooltip: tooltip(lines) },
    },
  });
}

function ceilingsOf(indices) {
  return report.setups[report.runs[cases.run[indices[0]]].setup].ceilings;
}

function addRateCharts(parent, indices) {
  const ceilings = ceilingsOf(indices);
  const bandwidth = sizeSeries(indices, (side) => side + "_bytes_per_s");
  const arithmetic = sizeSeries(indices, (side) => side + "_flops_per_s");
  if (bandwidth.length + arithmetic.length === 0) {
    parent.append(paragraph("The corpus does not tell how many bytes and flops these cases need, so that no "
                            + "achieved rate is known.", "quiet"));
    return;
  }
  const copy = ceilingSeries("ceiling: copy", ceilings.copy_bytes_per_s, bandwidth);
  addSizeChart(parent, "Achieved bandwidth", bandwidth.concat(copy), (rate) => rateText(rate, "B/s"));
  const products = Object.entries(ceilings.matmul_flops_per_s)
    .flatMap(([dtype, flops]) => ceilingSeries("ceiling: " + dtype + " product", flops, arithmetic));
  addSizeChart(parent, "Achieved arithmetic", arithmetic.concat(products), (rate) => rateText(rate, "FLOP/s"));
  if (copy.length + products.length === 0) {
    parent.append(paragraph("Ceilings unknown: what the device can reach was not measured, so that no share "
                            + "of a limit is shown.", "quiet"));
  }
}

function showOperator(main, name) {
  const indices = allCases().filter((i) => valueOf("operator", i) === name);
  main.append(element("h2", {}, "Operator " + name));
  for (const summary of report.operators.filter((one) => one.name === name)) {
    if (summary.reason !== "") main.append(paragraph(`${summary.status}: ${summary.reason}`, "warning"));
  }
  if (indices.length === 0) {
    main.append(paragraph("This operator has no rows."));
    return;
  }
  const { mean, count } = geomeanOf(indices);
  main.append(paragraph(mean === null ? "No speed-up."
    : `Geometric mean of the speed-up ${ratioText(mean)} (n = ${count} of ${indices.length} rows).`));
  addSizeChart(main, "Latency", sizeSeries(indices, (side) => side + "_ns"), timeText);
  addRateCharts(main, indices);
  const table = new PagedTable(caseColumns(), "A row for each case; its operator opens its samples");
  table.setRows(indices);
  main.append(table.element);
}
