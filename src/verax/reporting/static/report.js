/* A report works without this. With it: tables are sorted by a click on a heading and filtered by typing, and folded
   parts open where somebody follows a link to them or prints the page. */
"use strict";
(() => {
  const value = (row, column) => (row.cells[column]?.textContent ?? "").trim();
  const number = (text) => {
    const found = text.replaceAll("−", "-").replaceAll(",", "").match(/^[^\d+-]{0,2}([+-]?\d+(\.\d+)?)/);
    return found ? parseFloat(found[1]) : NaN;
  };

  function sort(table, column, heading) {
    const body = table.tBodies[0];
    const down = heading.getAttribute("aria-sort") === "ascending";
    const sign = down ? -1 : 1;
    const rows = [...body.rows];
    rows.sort((first, second) => {
      const [a, b] = [value(first, column), value(second, column)];
      const [x, y] = [number(a), number(b)];
      if (Number.isNaN(x) && Number.isNaN(y)) return sign * a.localeCompare(b);
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
      return sign * (x - y);
    });
    for (const other of table.tHead.querySelectorAll("th")) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  }

  function sortable(table) {
    for (const [column, heading] of [...table.tHead.rows[0].cells].entries()) {
      heading.tabIndex = 0;
      heading.title = "Sort by this column";
      heading.addEventListener("click", () => sort(table, column, heading));
      heading.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        sort(table, column, heading);
      });
    }
  }

  function filterable(table) {
    const box = document.createElement("input");
    box.type = "search";
    box.className = "filter";
    box.placeholder = "Show rows with …";
    box.setAttribute("aria-label", "Show only the rows of the table that hold these words");
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
    });
    (table.closest(".scroll") ?? table).before(box);
  }

  for (const table of document.querySelectorAll("table.numbers, table.aligned")) {
    if (!table.tHead || table.tBodies.length !== 1 || table.querySelector("tr.first, tbody [colspan]")) continue;
    if (table.tBodies[0].rows.length > 2) sortable(table);
    if (table.tBodies[0].rows.length > 8) filterable(table);
  }

  const show = () => {
    const part = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    const folded = part?.closest("details") ?? part?.querySelector("details.part");
    if (folded) {
      folded.open = true;
      part.scrollIntoView();
    }
  };
  addEventListener("hashchange", show);
  show();
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });
})();
