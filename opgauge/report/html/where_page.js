// SPDX-License-Identifier: Apache-2.0
// Where the time of a batch went.

function secondsText(seconds) {
  if (seconds < 60) return seconds.toFixed(1) + " s";
  if (seconds < 3600) return Math.floor(seconds / 60) + " min " + Math.floor(seconds % 60) + " s";
  return Math.floor(seconds / 3600) + " h " + Math.floor(seconds % 3600 / 60) + " min";
}

function timeColumns(whole) {
  return [
    { title: "time", number: true, value: (row) => row.seconds, show: (row) => secondsText(row.seconds) },
    { title: "of all", number: true, value: (row) => row.seconds,
      show: (row) => percentText(whole > 0 ? row.seconds / whole : null, 1) },
  ];
}

function operatorTimeColumns(whole) {
  const share = (row) => (row.seconds > 0 ? row.parts[row.largest] / row.seconds : null);
  return [
    { title: "operator", value: (row) => row.name, show: (row) => row.name },
    ...timeColumns(whole),
    { title: "most of it", value: (row) => row.largest, show: (row) => row.largest },
    { title: "share", number: true, value: share, show: (row) => percentText(share(row), 1) },
    { title: "what would shorten it", value: (row) => row.hint, show: (row) => row.hint },
  ];
}

function showWhere(main) {
  const time = report.time;
  for (const line of time.head) main.append(paragraph(line, "quiet"));
  const parts = Object.entries(time.parts).map(([name, seconds]) => ({ name, seconds }))
    .filter((part) => part.seconds > 0).sort((a, b) => b.seconds - a.seconds);
  const table = new PagedTable(
    [{ title: "part", value: (row) => row.name, show: (row) => row.name }, ...timeColumns(time.seconds)],
    "All lanes' time by part");
  table.element.id = "time-parts";
  table.setRows(parts);
  const operators = new PagedTable(operatorTimeColumns(time.seconds), "The operators that took most");
  operators.element.id = "time-operators";
  operators.setRows(time.operators);
  main.append(table.element, operators.element);
}
