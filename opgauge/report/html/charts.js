// SPDX-License-Identifier: Apache-2.0

// A chart of more points than this is no clearer, only slower.
const mostPoints = 2000;

let openCharts = [];

function closeCharts() {
  for (const chart of openCharts) chart.destroy();
  openCharts = [];
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

const palette = ["#2f6fd0", "#c2410c", "#15803d", "#9333ea", "#b45309", "#0e7490", "#be185d", "#4d7c0f"];
const darkPalette = ["#86b7ff", "#ff9c5a", "#66d19e", "#d3a6ff", "#fbbf24", "#67d8ef", "#ff9ccb", "#bef264"];

function seriesColour(number) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const colours = dark ? darkPalette : palette;
  return colours[number % colours.length];
}

function axis(title, type, showTick) {
  const ticks = { color: colour("quiet"), autoSkip: type !== "logarithmic", maxTicksLimit: 12 };
  if (showTick) ticks.callback = showTick;
  return {
    type: type || "linear",
    title: { display: true, text: title, color: colour("text") },
    ticks,
    grid: { color: colour("line") },
  };
}

// A logarithmic axis is else drawn to whole powers of ten.
function endsOf(values) {
  const known = values.filter((value) => value > 0);
  return known.length === 0 ? {} : { min: Math.min(...known) / 1.1, max: Math.max(...known) * 1.1 };
}

// Ticks of a logarithmic axis: 1, 2 and 5 of each decade, of many decades 1 alone, of a part of one all.
function logTick(show) {
  return (value, index, ticks) => {
    const decades = Math.log10(ticks[ticks.length - 1].value / ticks[0].value);
    const digit = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    if (decades < 0.7) return show(Number(value.toPrecision(3)));
    return (decades > 3 ? [1] : [1, 2, 5]).some((kept) => Math.abs(digit - kept) < 1e-6) ? show(value) : "";
  };
}

function countText(value) {
  if (value >= 1e9) return value / 1e9 + "G";
  if (value >= 1e6) return value / 1e6 + "M";
  return value >= 1e3 ? value / 1e3 + "k" : String(value);
}

// Puts a chart into a new element. `label` says to those who do not see it what is drawn; the
// tables hold the same numbers.
function addChart(parent, label, config) {
  const canvas = element("canvas", { role: "img", "aria-label": label });
  parent.append(element("div", { className: "chart" }, canvas));
  const options = config.options || {};
  config.options = {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    ...options,
    plugins: {
      legend: { labels: { color: colour("text"), usePointStyle: true } },
      ...options.plugins,
    },
  };
  const chart = new Chart(canvas, config);
  openCharts.push(chart);
  return chart;
}

// At most `mostPoints` of a list, evenly taken, both ends kept.
function thinned(list) {
  if (list.length <= mostPoints) return list;
  const step = (list.length - 1) / (mostPoints - 1);
  return Array.from({ length: mostPoints }, (unused, i) => list[Math.round(i * step)]);
}

// A tooltip of the lines that `linesOf(point)` gives.
function tooltip(linesOf) {
  return {
    callbacks: { title: () => "", label: (item) => linesOf(item.raw, item) },
    displayColors: false,
  };
}
