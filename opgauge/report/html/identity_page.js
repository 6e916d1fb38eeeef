// SPDX-License-Identifier: Apache-2.0

// Every fact of a nested object with its path: [["device.name", "..."], ...].
function flatFacts(object, path) {
  return Object.entries(object).flatMap(([name, value]) => {
    const here = path === "" ? name : `${path}.${name}`;
    const nested = value !== null && typeof value === "object" && !Array.isArray(value);
    return nested && Object.keys(value).length > 0 ? flatFacts(value, here) : [[here, value]];
  });
}

function showSetup(main, setup) {
  main.append(element("h3", {}, "Setup " + setup.setup_id),
              paragraph("Facts that two runs must share before their numbers may be set side by side.", "quiet"),
              factsTable(Object.entries(setup.facts)));
  const all = element("details", {}, element("summary", {}, "Everything that was recorded"));
  all.append(factsTable(flatFacts(setup.identity, "")));
  main.append(all);
}

function showIdentity(main) {
  main.append(element("h2", {}, "Identity and caliber"));
  for (const line of report.calibers) main.append(paragraph(line));
  for (const setup of report.setups) showSetup(main, setup);
  const table = new PagedTable([
    { title: "run", value: (run) => run.run_id, show: (run) => run.run_id },
    { title: "begun (UTC)", value: (run) => run.created_utc, show: (run) => run.created_utc },
    { title: "seconds", number: true, value: (run) => run.seconds,
      show: (run) => (run.seconds === null ? "-" : run.seconds.toFixed(1)) },
    { title: "setup", value: (run) => run.setup, show: (run) => report.setups[run.setup].setup_id },
    { title: "winners", value: (run) => run.winners_digest, show: (run) => run.winners_digest || "none" },
    { title: "folder", value: (run) => run.directory, show: (run) => run.directory },
  ], "The runs of this report");
  table.setRows(report.runs);
  main.append(element("h3", {}, "Runs"), table.element);
}
