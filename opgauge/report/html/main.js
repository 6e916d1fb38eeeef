// SPDX-License-Identifier: Apache-2.0

const pages = report.kind === "comparison"
  ? [["comparison", "Comparison", showComparison]]
  : [["overview", "Overview", showOverview], ["operators", "Operators", showOperators],
     ["identity", "Identity", showIdentity]];
if (report.time !== null) pages.push(["time", "Time", showWhere]);

function showPage(main, name, argument) {
  if (name === "operator") return showOperator(main, argument);
  if (name === "case") return showCase(main, Number(argument));
  const page = pages.find(([known]) => known === name) || pages[0];
  return page[2](main);
}

function markPage(name) {
  const links = pages.map(([known, title]) => {
    const link = element("a", { href: "#" + known }, title);
    if (known === name) link.setAttribute("aria-current", "page");
    return link;
  });
  document.getElementById("pages").replaceChildren(...links);
}

// A name that does not decode is data like any other.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    return text;
  }
}

function route() {
  const main = document.getElementById("content");
  if (location.hash === "#content") {
    main.focus();
    return;
  }
  const [name, ...rest] = location.hash.slice(1).split("/");
  closeCharts();
  main.replaceChildren();
  markPage(name || pages[0][0]);
  showPage(main, name, decoded(rest.join("/")));
  document.documentElement.dataset.page = name || pages[0][0];
  window.scrollTo(0, 0);
}

document.title = `opgauge ${report.kind}: ${report.path}`;
document.getElementById("title").textContent = `opgauge ${report.opgauge_version}: ${report.kind} ${report.path}`;
window.addEventListener("hashchange", route);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", route);
route();
