// Sorts and filters the tables of the scoreboard. The page is complete without it; it reads nothing but the page.
"use strict";
const boards = [...document.querySelectorAll("section")];
const tools = document.createElement("p");
tools.className = "tools";
const shown = document.createElement("span");
shown.setAttribute("aria-live", "polite");

function value(row, place) {
  const text = (row.cells[place].querySelector("a") ?? row.cells[place]).textContent.trim();
  const number = Number.parseFloat(text);
  return text === "" ? null : Number.isNaN(number) || place < 2 ? text : number;
}

function compare(first, second) {
  return typeof first === "number" && typeof second === "number" ? first - second : String(first).localeCompare(second);
}

function sort(table, place, head) {
  const before = head.getAttribute("aria-sort");
  const downwards = before ? before === "ascending" : place > 2;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", downwards ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].map(row => [value(row, place), row]);
  rows.sort(([first], [second]) => {
    if (first === null || second === null) return (first === null) - (second === null);
    return downwards ? compare(second, first) : compare(first, second);
  });
  for (const [, row] of rows) table.tBodies[0].append(row);
}

function chooser(label, control) {
  const words = document.createElement("label");
  words.append(`${label} `, control);
  tools.append(words, " ");
  control.addEventListener("input", filter);
  return control;
}

function select(label, texts) {
  const control = document.createElement("select");
  for (const text of ["all", ...new Set(texts)]) control.add(new Option(text));
  return chooser(label, control);
}

const conditions = boards.map(board => board.querySelector("h2").textContent);
const words = chooser("filter", Object.assign(document.createElement("input"), {type: "search", placeholder: "words"}));
const board = select("conditions", conditions);
const verdict = select("verdict", ["best", "holds", "no difference", "inconclusive"]);

function filter() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0, all = 0;
  boards.forEach((section, place) => {
    const titles = `${conditions[place]} ${section.querySelector("thead").textContent}`.toLowerCase();
    let left = 0;
    for (const row of section.querySelector("tbody").rows) {
      const text = `${row.textContent} ${titles}`.toLowerCase();
      const verdicts = [...row.querySelectorAll(".verdict")].map(one => one.textContent);
      const kept = (board.value === "all" || board.value === conditions[place])
        && asked.every(word => text.includes(word))
        && (verdict.value === "all" || verdicts.includes(verdict.value));
      row.hidden = !kept;
      left += kept;
      all += 1;
    }
    section.hidden = left === 0;
    count += left;
  });
  shown.textContent = `${count} of ${all} rows`;
}

for (const table of document.querySelectorAll("table.board")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.title = "Sort by this column";
    button.addEventListener("click", () => sort(table, place, head));
    head.append(button);
  });
}
tools.append(shown);
if (boards.length) boards[0].before(tools);
filter();
