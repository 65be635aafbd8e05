// Filters the tables of the scoreboard. The page is complete without it; it reads nothing but the page.
"use strict";
const boards = [...document.querySelectorAll("section[id^=board]")];
const tools = document.createElement("p");
tools.className = "tools";
const shown = document.createElement("span");
shown.setAttribute("aria-live", "polite");

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

const conditions = boards.map(board => board.querySelector("h2").firstChild.textContent.trim());
const words = chooser("filter", Object.assign(document.createElement("input"), {type: "search", placeholder: "words"}));
const board = select("conditions", conditions);
const verdict = select("verdict", ["best", "holds", "no difference", "inconclusive"]);

function filter() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0, all = 0;
  boards.forEach((section, place) => {
    const collections = [...section.querySelectorAll(".collections li")];
    let left = 0;
    for (const table of section.querySelectorAll(".board")) {
      const heads = [...table.tHead.rows[0].cells].slice(3);
      const about = collections.length ? collections.splice(0, heads.length) : heads;
      const titles = [conditions[place], ...about.map(one => one.textContent)].join(" ").toLowerCase();
      const before = left;
      for (const row of table.tBodies[0].rows) {
        const text = `${row.textContent} ${titles}`.toLowerCase();
        const verdicts = [...row.querySelectorAll(".verdict")].map(one => one.textContent);
        const kept = (board.value === "all" || board.value === conditions[place])
          && asked.every(word => text.includes(word))
          && (verdict.value === "all" || verdicts.includes(verdict.value));
        row.hidden = !kept;
        left += kept;
        all += 1;
      }
      table.parentElement.hidden = left === before;
    }
    section.hidden = left === 0;
    if (left && (asked.length || board.value !== "all" || verdict.value !== "all"))
      section.querySelector(".board").closest("details").open = true;
    count += left;
  });
  shown.textContent = `${count} of ${all} rows`;
}

tools.append(shown);
if (boards.length) boards[0].before(tools);
filter();
