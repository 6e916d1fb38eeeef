// SPDX-License-Identifier: Apache-2.0

const histogramBins = 41;
// A sample is kept as so many of these steps from its side's median.
const stepsPerMedian = 1e5;

function presentSides(detail) {
  return sides.map(([name]) => [name, detail[name]]).filter(([, side]) => side);
}

// The clock at each shown sample: bursts are [samples, MHz] in the order of the samples.
function clockPoints(side) {
  const points = [];
  let first = 0;
  for (const [count, clock] of side.clocks || []) {
    const last = first + Math.max(count - 1, 0);
    if (clock !== null) points.push({ x: first + 1, y: clock }, { x: last + 1, y: clock });
    first += count;
  }
  return points;
}

function samplePoints(side) {
  return side.values.map((steps, k) => ({ x: k * side.step + 1, y: side.median_ns * (1 + steps / stepsPerMedian) }));
}

function addSampleChart(parent, name, side) {
  const clock = clockPoints(side);
  const datasets = [{ label: `${name}: time of a call`, data: samplePoints(side), yAxisID: "y", pointRadius: 2,
                      backgroundColor: colour(name), borderColor: colour(name) }];
  const scales = { x: axis("sample"), y: axis("time", "linear", timeText) };
  if (clock.length > 0) {
    datasets.push({ label: "clock", data: clock, yAxisID: "clock", showLine: true, pointRadius: 0,
                    borderWidth: 2, borderColor: colour("clock"), backgroundColor: colour("clock") });
    scales.clock = { ...axis("clock in MHz"), position: "right", grid: { drawOnChartArea: false } };
  }
  const lines = (point, item) => (item.dataset.yAxisID === "clock"
    ? [`clock ${point.y} MHz`] : [`sample ${point.x}: ${timeText(point.y)}`]);
  const thin = side.step > 1 ? `; each ${side.step}th is shown` : "";
  parent.append(element("h3", {}, `Samples of ${name} over time`),
                paragraph(`${side.taken} samples of ${side.calls_per_sample} calls${thin}`
                          + (clock.length > 0 ? "" : "; the clock was not read"), "quiet"));
  addChart(parent, `Samples of ${name} in the order in which they were taken`,
           { type: "scatter", data: { datasets }, options: { scales, plugins: { tooltip: tooltip(lines) } } });
}

// How far the samples of a side lie from its own median, relative.
function deviationsOf(side) {
  return side.values.map((steps) => steps / stepsPerMedian);
}

function rangeOf(lists) {
  const sizes = lists.flat().map(Math.abs).sort((a, b) => a - b);
  return Math.max(sizes[Math.floor((sizes.length - 1) * 0.98)], 1e-6);
}

function histogramOf(deviations, range) {
  const counts = new Array(histogramBins).fill(0);
  for (const deviation of deviations) {
    const place = Math.round((deviation / range + 1) / 2 * (histogramBins - 1));
    counts[Math.min(Math.max(place, 0), histogramBins - 1)] += 1;
  }
  return counts.map((count) => count / deviations.length);
}

function addDistribution(parent, withSamples) {
  const deviations = withSamples.map(([, side]) => deviationsOf(side));
  const range = rangeOf(deviations);
  const centres = Array.from({ length: histogramBins }, (unused, k) => (k / (histogramBins - 1) * 2 - 1) * range);
  const datasets = withSamples.map(([name], number) => ({
    label: name, data: histogramOf(deviations[number], range), backgroundColor: colour(name),
  }));
  const lines = (share, item) => [`${item.dataset.label}: ${percentText(share, 1)} of the samples`,
                                  `about ${percentText(centres[item.dataIndex], 2)} off the median`];
  parent.append(element("h3", {}, "Distribution"),
                paragraph("How far samples lie from their own side's median. Those beyond the ends are counted "
                          + "there.", "quiet"));
  addChart(parent, "Distribution of the samples of both sides around their medians", {
    type: "bar",
    data: { labels: centres.map((centre) => percentText(centre, 2)), datasets },
    options: { scales: { x: axis("off the side's median", "category"),
                         y: axis("share of the samples", "linear", (share) => percentText(share, 0)) },
               plugins: { tooltip: tooltip(lines) } },
  });
}

function sideFacts(side, rates) {
  const interval = side.median_interval_ns;
  return [
    ["timer", side.timer], ["timer settings", side.timer_settings],
    ["median", timeText(side.median_ns)],
    ["95 % interval of the median", interval ? `${timeText(interval[0])} to ${timeText(interval[1])}` : null],
    ["quartiles", `${timeText(side.lower_quartile_ns)} to ${timeText(side.upper_quartile_ns)}`],
    ["range", `${timeText(side.minimum_ns)} to ${timeText(side.maximum_ns)}`],
    ["samples", side.samples], ["outliers", side.outliers], ["calls per sample", side.calls_per_sample],
    ["stopped by", side.stopped_by], ["first call", timeText(side.first_call_ns)],
    ["clock", side.sm_clock_mhz === undefined ? null : side.sm_clock_mhz + " MHz"],
    ["highest temperature", side.temperature_celsius === undefined ? null : side.temperature_celsius + " °C"],
    ["dropped bursts", side.dropped_bursts || 0], ["invalid samples", side.invalid_samples],
    ["why invalid", side.invalid_reasons], ...rates,
  ].filter(([, value]) => value !== undefined);
}

function rateFacts(i, name) {
  const limit = cases[name + "_limit"][i];
  return [
    ["achieved bandwidth", rateText(cases[name + "_bytes_per_s"][i], "B/s")],
    ["achieved arithmetic", rateText(cases[name + "_flops_per_s"][i], "FLOP/s")],
    ["of the limit", limit === null ? "ceilings unknown" : `${percentText(limit, 1)} (${valueOf("bound", i)})`],
  ];
}

function caseFacts(i, detail) {
  const run = report.runs[cases.run[i]];
  return [
    ["status", valueOf("status", i)], ["reason", detail.reason || "none"],
    ["flags", valueOf("flags", i) || "none"],
    ["speed-up", ratioText(cases.speedup[i])], ["precision", percentText(cases.precision[i], 2)],
    ["fallback", valueOf("fallback", i) ? `${valueOf("fallback", i)}: ${detail.fallback_detail}` : "none"],
    ["error", detail.error || "none"], ["check of the outputs", detail.check || "none"], ["work", detail.work],
    ["layout", detail.case.layout], ["attributes", detail.case.attributes], ["node", detail.case.node],
    ["case id", detail.case_id], ["caliber id", detail.caliber_id],
    ["winners", detail.winners_digest || "none"], ["run", run.run_id], ["folder", run.directory],
    ["case of the run", cases.index[i]],
  ];
}

function showCase(main, i) {
  if (!(i >= 0 && i < report.count)) {
    main.append(paragraph("There is no such case in this report."));
    return;
  }
  const detail = detailOf(i);
  const name = valueOf("operator", i);
  main.append(element("h2", {}, `${name} ${valueOf("dtype", i)} ${valueOf("shapes", i)}`),
              element("p", {}, "All cases of ", operatorLink(name)));
  const withSamples = presentSides(detail).filter(([, side]) => side.values);
  if (withSamples.length === 0) main.append(paragraph("No samples were kept for this case.", "quiet"));
  for (const [side, taken] of withSamples) addSampleChart(main, side, taken);
  if (withSamples.length > 0) addDistribution(main, withSamples);
  const columns = element("div", { className: "side-by-side" });
  columns.append(element("div", {}, element("h3", {}, "Case"), factsTable(caseFacts(i, detail))));
  for (const [side, taken] of presentSides(detail)) {
    columns.append(element("div", {}, element("h3", {}, side), factsTable(sideFacts(taken, rateFacts(i, side)))));
  }
  main.append(columns);
}
