// SPDX-License-Identifier: Apache-2.0
"use strict";

// What the page shows. Every text here is foreign: it goes into the page by textContent only.
const report = JSON.parse(document.getElementById("data").textContent);
const cases = report.cases;

const textColumns = new Set(
  ["operator", "dtype", "shapes", "status", "timer", "fallback", "flags", "bound"]);

function isRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function recordsOf(list) {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

// A comparison's file may come from anywhere: what is not as opgauge writes it counts as absent.
function readComparison(found) {
  const arm = (value) => (isRecord(value) ? value : {});
  const list = (value) => (Array.isArray(value) ? value : []);
  const rows = recordsOf(found.rows).map((row) => ({
    ...row,
    interval: Array.isArray(row.interval) && row.interval.length === 2 ? row.interval : null,
    processes: list(row.processes),
    flags: list(row.flags),
    ...Object.fromEntries(["a", "b", "ratio"].map(
      (name) => [name, typeof row[name] === "number" ? row[name] : null])),
  }));
  const arms = Object.fromEntries(["a", "b"].map((name) => [name, {
    paths: list(arm(found[name]).paths), runs: list(arm(found[name]).runs),
    setups: recordsOf(arm(found[name]).setups) }]));
  const differences = recordsOf(found.differences)
    .filter((difference) => isRecord(difference.left) && isRecord(difference.right));
  const mean = typeof found.geomean_ratio === "number" ? found.geomean_ratio : null;
  return { ...found, ...arms, geomean_ratio: mean, rows, differences, options: arm(found.options),
           left_out: recordsOf(found.left_out), notes: list(found.notes) };
}

if (report.comparison !== null) report.comparison = readComparison(report.comparison);

// The value of one case in a column of the data; texts are kept once in a list.
function valueOf(column, i) {
  const value = cases[column][i];
  return textColumns.has(column) ? cases.strings[value] : value;
}

// The different texts of a column, sorted.
function valuesOf(column) {
  if (report.count === 0) return [];
  return [...new Set(cases[column])].map((number) => cases.strings[number]).sort();
}

function flagsOf(i) {
  const flags = valueOf("flags", i);
  return flags === "" ? [] : flags.split(",");
}

// "throttled" of "throttled:power@1200".
function kindOfFlag(flag) {
  return flag.split(/[:@]/)[0];
}

let detailLines = null;

// What is known of one case beyond its line in the table; read when it is first asked for.
function detailOf(i) {
  if (detailLines === null) {
    detailLines = document.getElementById("details").textContent.trim().split("\n");
  }
  return JSON.parse(detailLines[i]);
}

// Unflagged speed-ups of ok rows: only they enter a mean.
function geomeanOf(indices) {
  let sum = 0;
  let count = 0;
  for (const i of indices) {
    const speedup = cases.speedup[i];
    if (speedup === null || valueOf("flags", i) !== "") continue;
    sum += Math.log(speedup);
    count += 1;
  }
  return { mean: count === 0 ? null : Math.exp(sum / count), count };
}

function allCases() {
  return Array.from({ length: report.count }, (unused, i) => i);
}
