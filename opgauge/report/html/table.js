// SPDX-License-Identifier: Apache-2.0

const rowsPerPage = 100;

function compareValues(a, b) {
  // What is not known comes last, whichever way the table is sorted.
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

// A table of many rows: a page of them at a time, sorted by a click on a title. `columns` have
// `title`, `value(row)` to sort by, `show(row)` for the cell (a text or an element) and `number`.
class PagedTable {
  constructor(columns, caption) {
    this.columns = columns;
    this.rows = [];
    this.page = 0;
    this.sorted = { column: -1, ascending: true };
    this.body = element("tbody");
    this.heads = columns.map((column, number) => this.makeHead(column, number));
    this.table = element("table", {}, element("caption", { className: "quiet" }, caption),
                         element("thead", {}, element("tr", {}, ...this.heads)), this.body);
    this.where = element("span", { "aria-live": "polite" });
    this.back = element("button", { type: "button", onclick: () => this.turn(-1) }, "Previous");
    this.forth = element("button", { type: "button", onclick: () => this.turn(1) }, "Next");
    this.element = element("div", {},
                           element("div", { className: "scroll" }, this.table),
                           element("div", { className: "pager" }, this.back, this.forth, this.where));
  }

  makeHead(column, number) {
    const button = element("button", { type: "button", onclick: () => this.sortBy(number) },
                           column.title);
    return element("th", { scope: "col", className: column.number ? "number" : "" }, button);
  }

  setRows(rows) {
    this.rows = rows.slice();
    this.page = 0;
    this.sort();
    this.draw();
  }

  sortBy(number) {
    const again = this.sorted.column === number;
    this.sorted = { column: number, ascending: again ? !this.sorted.ascending : true };
    this.page = 0;
    this.sort();
    this.draw();
  }

  sort() {
    const { column, ascending } = this.sorted;
    this.heads.forEach((head, number) => {
      if (number === column) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    if (column < 0) return;
    const keyed = this.rows.map((row) => [this.columns[column].value(row), row]);
    const known = keyed.filter(([key]) => key !== null && key !== undefined);
    const unknown = keyed.filter(([key]) => key === null || key === undefined);
    const sign = ascending ? 1 : -1;
    known.sort((a, b) => sign * compareValues(a[0], b[0]));
    this.rows = known.concat(unknown).map(([, row]) => row);
  }

  turn(step) {
    this.page += step;
    this.draw();
  }

  draw() {
    const first = this.page * rowsPerPage;
    const shown = this.rows.slice(first, first + rowsPerPage);
    this.body.replaceChildren(...shown.map((row) => this.makeRow(row)));
    const last = first + shown.length;
    this.where.textContent = this.rows.length === 0
      ? "no rows" : `rows ${first + 1} to ${last} of ${this.rows.length}`;
    this.back.disabled = this.page === 0;
    this.forth.disabled = last >= this.rows.length;
  }

  makeRow(row) {
    const line = element("tr");
    for (const column of this.columns) {
      line.append(element("td", { className: column.number ? "number" : "" }, column.show(row)));
    }
    return line;
  }
}
