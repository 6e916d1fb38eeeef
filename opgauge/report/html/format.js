// SPDX-License-Identifier: Apache-2.0
// Numbers with units, and elements of the page.

function timeText(nanoseconds) {
  if (nanoseconds === null || nanoseconds === undefined) return "-";
  if (nanoseconds < 1e3) return nanoseconds.toFixed(1) + " ns";
  if (nanoseconds < 1e6) return (nanoseconds / 1e3).toFixed(2) + " µs";
  if (nanoseconds < 1e9) return (nanoseconds / 1e6).toFixed(3) + " ms";
  return (nanoseconds / 1e9).toFixed(3) + " s";
}

function ratioText(ratio) {
  return ratio === null || ratio === undefined ? "-" : ratio.toFixed(3);
}

function percentText(share, digits) {
  return share === null || share === undefined ? "-" : (share * 100).toFixed(digits) + " %";
}

function rateText(perSecond, unit) {
  if (perSecond === null || perSecond === undefined) return "-";
  for (const [scale, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (perSecond >= scale) return (perSecond / scale).toPrecision(3) + " " + prefix + unit;
  }
  return perSecond.toPrecision(3) + " " + unit;
}

// Facts of any type as text.
function factText(value) {
  if (value === null || value === undefined) return "unknown";
  return typeof value === "string" ? value : JSON.stringify(value);
}

// element("td", { className: "number" }, "text", child, ...)
function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function paragraph(text, className) {
  return element("p", { className: className || "" }, text);
}

// A table of names and values.
function factsTable(pairs) {
  const body = element("tbody");
  for (const [name, value] of pairs) {
    body.append(element("tr", {}, element("th", { scope: "row" }, name),
                        element("td", {}, factText(value))));
  }
  return element("div", { className: "scroll" }, element("table", { className: "facts" }, body));
}

function labelled(text, control) {
  return element("label", {}, text, control);
}

// A list to choose from; "" is the first entry.
function choice(id, entries, first) {
  const select = element("select", { id });
  select.append(element("option", { value: "" }, first));
  for (const entry of entries) select.append(element("option", { value: entry }, entry));
  return select;
}
