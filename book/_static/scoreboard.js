/* The scoreboard: sort by a column, filter by paper, kind, verdict and words. Without it the table stands as it is. */
"use strict";

/** The column that the table is sorted by at first, downwards: the statements whose checks would notice least come first. */
const FIRST = "would notice";

/** Columns whose values one can choose from, by their headings. */
const CHOICES = ["paper", "kind", "verdict", "the statement is"];

/** Make an element. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A verdict without the slack of a loose bound, so that all loose bounds are one choice. */
const bare = (text) => text.trim().replace(/ ×.*/, "");

/** What a cell can be chosen by: each of its badges, else its text without what it says of hypotheses. */
function values(whole) {
  const cell = whole.cloneNode(true);
  cell.querySelector(".their-hypotheses")?.remove();
  const badges = [...cell.querySelectorAll(".verdict-badge")];
  return (badges.length ? badges : [cell]).map((part) => bare(part.textContent));
}

/** Give a table its buttons and its filters. */
function enliven(table) {
  const headings = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const column = (heading) => headings.findIndex((cell) => cell.textContent.trim() === heading);
  const chosen = CHOICES.map((heading) => [heading, column(heading)]).filter(([, place]) => place >= 0);

  const count = element("output", { className: "scoreboard-count", ariaLive: "polite" });
  const words = element("input", { type: "search", name: "words" });
  const selects = chosen.map(([heading, place]) => {
    const known = [...new Set(rows.flatMap((row) => values(row.cells[place])))].sort();
    const all = element("option", { value: "", textContent: "all" });
    return [place, element("select", { name: heading }, all, ...known.map((text) => element("option", { value: text, textContent: text })))];
  });

  /** Show the rows that meet every choice and contain every word, and say how many they are. */
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word))
        || selects.some(([place, select]) => select.value && !values(row.cells[place]).includes(select.value));
    }
    count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} statements`;
  };

  /** Sort by a column: upwards, downwards, and back to the order of the book. */
  const sort = (place) => {
    const order = { none: "ascending", ascending: "descending", descending: "none" }[headings[place].getAttribute("aria-sort")];
    headings.forEach((cell, other) => cell.setAttribute("aria-sort", other === place ? order : "none"));
    // Words for a number carry its place among all rows, in a class.
    const rank = (row) => row.cells[place].querySelector("[class*='rank-']")?.className.match(/rank-(\d+)/)[1] ?? "";
    const text = (row) => row.cells[place].textContent.trim().replace(":", ""); // "Fact 1: …" before "Fact 1, sharp: …"
    const sorted = order === "none" ? rows
      : [...rows].sort((a, b) => (order === "ascending" ? 1 : -1) * (rank(a) - rank(b) || text(a).localeCompare(text(b), "en", { numeric: true })));
    body.append(...sorted);
  };

  headings.forEach((cell, place) => {
    const button = element("button", { type: "button", title: "Sort; a third time: the order of the book" }, cell.textContent.trim());
    button.addEventListener("click", () => sort(place));
    cell.replaceChildren(button);
    cell.setAttribute("aria-sort", "none");
  });
  const form = element("form", { className: "scoreboard-tools", role: "search", ariaLabel: "Filter the scoreboard" },
    ...selects.map(([, select]) => element("label", { textContent: select.name }, select)),
    element("label", { textContent: "words" }, words),
    element("button", { type: "reset", textContent: "Show all" }), count);
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  (table.closest(".pst-scrollable-table-container") ?? table).before(form);
  filter();
  if (column(FIRST) >= 0) [1, 2].forEach(() => sort(column(FIRST))); // downwards
}

document.querySelectorAll("table.scoreboard").forEach(enliven);
