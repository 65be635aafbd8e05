// Sorts and filters tables, gives every row an address, tells the points of figures, and searches. Pages are complete
// without it; it reads nothing but the page, and writes texts as texts only.
"use strict";
{
  const LONG = 14, MOST_FOUND = 100, NEAR = 30;

  function make(tag, properties, ...inside) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...inside);
    return made;
  }

  const folded = text => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
  const wordsOf = text => folded(text).split(/\s+/).filter(Boolean);

  // Tables.
  function value(cell) {
    const text = (cell?.querySelector("a:not(.permalink)") ?? cell)?.textContent.trim().replaceAll("−", "-") ?? "";
    const number = /^[-+]?[\d.]/.test(text) ? Number.parseFloat(text.replace(/,(?=\d{3})/g, "")) : Number.NaN;
    return text === "" ? null : Number.isNaN(number) ? text : number;
  }

  function compare(first, second) {
    if (typeof first === "number" && typeof second === "number") return first - second;
    return String(first).localeCompare(String(second), undefined, {numeric: true});
  }

  function sort(table, place, head) {
    const rows = [...table.tBodies[0].rows].map(row => [value(row.cells[place]), row]);
    const numbers = rows.some(([one]) => typeof one === "number");
    const before = head.getAttribute("aria-sort");
    const downwards = before ? before === "ascending" : numbers;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", downwards ? "descending" : "ascending");
    rows.sort(([first], [second]) => {
      if (first === null || second === null) return (first === null) - (second === null);
      return downwards ? compare(second, first) : compare(first, second);
    });
    for (const [, row] of rows) table.tBodies[0].append(row);
  }

  function isPlain(table) {
    const [head] = table.tHead?.rows ?? [];
    return table.tHead?.rows.length === 1 && table.tBodies.length && !table.querySelector("tbody [rowspan]")
      && [...head.cells].every(cell => cell.colSpan === 1) && table.tBodies[0].rows.length > 2;
  }

  function makeSortable(table) {
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = make("button", {type: "button", title: "Sort by this column"});
      button.append(...head.childNodes);
      if (!button.textContent.trim()) return;
      button.addEventListener("click", () => sort(table, place, head));
      head.append(button);
    });
  }

  function chooser(tools, label, control, act) {
    tools.append(make("label", {}, `${label} `, control), " ");
    control.addEventListener("input", act);
    return control;
  }

  // A line above some tables that shows only rows with given words, and with a given verdict where rows have one.
  function makeFilter(tables, before) {
    const tools = make("p", {className: "tools"}), told = make("span", {});
    told.setAttribute("aria-live", "polite");
    const every = tables.flatMap(table => [...table.tBodies].flatMap(body => [...body.rows]));
    const verdictOf = row => row.cells[1]?.querySelector("span")?.textContent;
    const words = chooser(tools, "filter", make("input", {type: "search", placeholder: "words"}), show);
    const verdict = tables[0].closest(".claims") && make("select", {});
    if (verdict) {
      for (const one of ["all", ...new Set(every.map(verdictOf))]) verdict.add(new Option(one));
      chooser(tools, "verdict", verdict, show);
    }
    function show() {
      const asked = wordsOf(words.value);
      let left = 0;
      for (const row of every) {
        const text = folded(row.textContent);
        const kept = asked.every(word => text.includes(word))
          && (!verdict || verdict.value === "all" || verdict.value === verdictOf(row));
        row.hidden = !kept;
        left += kept;
        const paper = kept && (asked.length || verdict?.value !== "all") && row.closest(".paper");
        if (paper) paper.open = true;
      }
      told.textContent = `${left} of ${every.length} rows`;
    }
    tools.append(told);
    before.before(tools);
    show();
  }

  // Addresses of rows: those of their section and of their own words.
  function nameRows(section) {
    const used = new Set([...document.querySelectorAll("[id]")].map(one => one.id));
    for (const row of section.querySelectorAll("tbody tr:not([id])")) {
      const words = [...row.cells].filter(cell => typeof value(cell) === "string").slice(0, 3);
      const name = words.map(cell => cell.textContent.trim()).join(" ").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
      const stem = `${section.id}--${name.slice(0, 60).replace(/^-|-$/g, "") || "row"}`;
      let id = stem;
      for (let count = 2; used.has(id); count += 1) id = `${stem}-${count}`;
      used.add(id);
      row.id = id;
      if (row.cells.length > 1) addLink(row.cells[0], id, "Address of this row");
    }
  }

  function addLink(place, id, title) {
    const link = make("a", {className: "permalink", href: `#${encodeURIComponent(id)}`, title}, "#");
    link.setAttribute("aria-label", title);
    place.append(" ", link);
  }

  function goToRow() {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let around = row; around; around = around.parentElement)
      if (around.localName === "details") around.open = true;
    row?.scrollIntoView();
  }

  // The search: words of which each must be in a title, a detail or a kind.
  function makeSearch(index, place) {
    const entries = JSON.parse(index.textContent).map(([kind, title, detail, href]) =>
      ({kind, title, detail, href, text: folded(`${kind} ${title} ${detail}`), name: folded(title)}));
    const box = make("input", {type: "search", id: "asked", placeholder: "claims, figures, tables, combinations"});
    const told = make("p", {className: "note"}), found = make("ul", {className: "results"});
    told.setAttribute("aria-live", "polite");
    function show() {
      const asked = wordsOf(box.value);
      const hits = asked.length ? entries.filter(one => asked.every(word => one.text.includes(word))) : [];
      const titled = one => asked.filter(word => one.name.includes(word)).length;
      hits.sort((first, second) => titled(second) - titled(first));
      found.replaceChildren(...hits.slice(0, MOST_FOUND).map(one => make("li", {},
        make("a", {href: one.href}, one.title), make("br", {}), make("small", {}, `${one.kind} · ${one.detail}`))));
      told.textContent = asked.length ? `${hits.length} of ${entries.length} found` : `${entries.length} to search`;
    }
    box.addEventListener("input", () => {
      history.replaceState(null, "", `#q=${encodeURIComponent(box.value)}`);
      show();
    });
    place.replaceChildren(make("p", {className: "tools"}, make("label", {}, "Search for ", box)), told, found);
    function read() {
      box.value = new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
      show();
    }
    addEventListener("hashchange", read);
    box.focus();
    read();
  }

  function addSearchBox(link) {
    const box = make("input", {type: "search", className: "find", placeholder: "search  /"});
    box.setAttribute("aria-label", "Search the report");
    box.addEventListener("keydown", event => {
      if (event.key === "Enter" && box.value) location.href = `${link.href}#q=${encodeURIComponent(box.value)}`;
    });
    document.addEventListener("keydown", event => {
      if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
      event.preventDefault();
      box.focus();
    });
    link.replaceWith(box);
  }

  // The point of a picture that is nearest to the pointer, in words; all of them are in the table below the picture.
  function tellPoints(picture, points) {
    const told = make("span", {className: "told", hidden: true});
    told.setAttribute("aria-hidden", "true");
    picture.parentElement.append(told);
    picture.addEventListener("pointermove", event => {
      const {left, top, width, height} = picture.getBoundingClientRect();
      let nearest = null, least = NEAR;
      for (const [across, down, words] of points) {
        const distance = Math.hypot(across * width + left - event.clientX, down * height + top - event.clientY);
        if (distance < least) [nearest, least] = [[across, down, words], distance];
      }
      told.hidden = !nearest;
      if (!nearest) return;
      told.textContent = nearest[2];
      const farthest = picture.parentElement.clientWidth - told.offsetWidth - 4;
      told.style.left = `${Math.max(0, Math.min(nearest[0] * width + 10, farthest))}px`;
      told.style.top = `${Math.max(0, nearest[1] * height - 30)}px`;
    });
    picture.addEventListener("pointerleave", () => { told.hidden = true; });
  }

  // What is scrolled sideways can be scrolled by keys: browsers need not give it the focus by themselves.
  function markScrolled() {
    for (const one of document.querySelectorAll(".table, .dataframe, .picture, details, pre, main p")) {
      if (one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== "visible") one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
  }

  // What narrow screens say before a cell whose head they leave out.
  for (const table of document.querySelectorAll(".wide:not(.claims) table")) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map(head => head.textContent);
    for (const row of table.tBodies[0]?.rows ?? [])
      [...row.cells].forEach((cell, place) => { if (place && heads[place]) cell.dataset.head = heads[place]; });
  }

  const every = [...document.querySelectorAll("main table")].filter(isPlain);
  every.forEach(makeSortable);
  const plain = every.filter(table => !table.matches(".board, .boards"));  // The scoreboard has a filter of its own.
  const claims = plain.filter(table => table.closest(".claims"));
  if (claims.length) makeFilter(claims, document.querySelector(".jump") ?? claims[0].parentElement);
  for (const table of plain.filter(one => !claims.includes(one) && one.tBodies[0].rows.length > LONG)) {
    const around = table.parentElement;
    makeFilter([table], around.localName === "details" ? table : around);
  }
  // Papers' claims are folded on narrow screens until one asks for them.
  if (matchMedia("(max-width: 48rem)").matches)
    for (const paper of document.querySelectorAll(".paper")) paper.open = false;
  for (const section of document.querySelectorAll("section.exhibit[id], section[id^=board]")) nameRows(section);
  const points = JSON.parse(document.getElementById("points")?.textContent ?? "{}");
  for (const picture of document.querySelectorAll(".picture img")) {
    const found = points[picture.getAttribute("src")];
    if (found) tellPoints(picture, found);
  }
  const index = document.getElementById("index"), place = document.getElementById("search");
  const link = document.querySelector("nav a.search");
  if (index && place) makeSearch(index, place);
  else if (link) addSearchBox(link);
  for (const when of ["load", "resize"]) addEventListener(when, markScrolled);
  document.addEventListener("toggle", markScrolled, true);
  addEventListener("hashchange", goToRow);
  if (location.hash) goToRow();
}
