// Draws two models query by query: a point for each query, and the same queries in the order of their differences. What
// is pointed at or chosen in one picture is marked in the other.
"use strict";
{
  const NAMESPACE = "http://www.w3.org/2000/svg", SIZE = 360, EDGE = 46, LOW = 150;
  const groups = JSON.parse(document.getElementById("groups")?.textContent ?? "[]");
  const place = document.getElementById("pairs");

  function make(tag, properties, ...inside) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...inside);
    return made;
  }

  function shape(tag, measures, ...inside) {
    const made = document.createElementNS(NAMESPACE, tag);
    for (const [name, value] of Object.entries(measures)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  function chooser(label, act) {
    const control = make("select", {id: `pairs-${label}`});
    control.addEventListener("input", act);
    tools.append(make("span", {}, make("label", {htmlFor: control.id}, label), " ", control));
    return control;
  }

  const fill = (control, texts, at) =>
    control.replaceChildren(...texts.map((text, index) => new Option(text, index, index === at, index === at)));
  const percent = (count, of) => `${(100 * count / of).toFixed(1)} %`;
  const kindOf = difference => difference > 0 ? "wins" : difference < 0 ? "losses" : "ties";

  const tools = make("p", {className: "tools"});
  const group = chooser("runs", () => begin(Number(group.value)));
  const across = chooser("across", draw), up = chooser("up", draw);
  const verdicts = make("div", {className: "outcomes"}), told = make("p", {className: "note"});
  const pictures = make("div", {className: "pair"});
  const walk = make("input", {type: "range", min: 0, step: 1});
  told.setAttribute("aria-live", "polite");
  let shown = [], marked = null;

  function begin(index, first = 1) {
    fill(group, groups.map(one => one.title), index);
    const {models} = groups[index];
    fill(across, models, 0);
    fill(up, models, Math.min(first, models.length - 1));
    draw();
  }

  function draw() {
    const one = groups[group.value], [x, y] = [Number(across.value), Number(up.value)];
    const most = Math.max(one.parts, ...one.values[x], ...one.values[y]);
    shown = one.drawn.map((name, at) => ({name, x: one.values[x][at], y: one.values[y][at]}));
    for (const query of shown) query.difference = query.y - query.x;
    shown.sort((first, second) => first.difference - second.difference);
    const wins = one.better[y][x], losses = one.better[x][y];
    tellOutcomes(one, {wins, ties: one.queries - wins - losses, losses}, x, y);
    const words = `${one.metric} of ${one.drawn.length} of ${one.queries.toLocaleString("en")} test queries`;
    pictures.replaceChildren(scatter(one, x, y, most, words), strip(one, x, y, most, words));
    Object.assign(walk, {max: shown.length - 1, value: 0});
    mark(null);
  }

  // Buttons as wide as their shares, by which one kind of queries is picked out.
  function tellOutcomes(one, counts, x, y) {
    const names = {losses: `${one.models[x]} better`, ties: "equal", wins: `${one.models[y]} better`};
    const buttons = ["losses", "ties", "wins"].map(kind => {
      const button = make("button", {type: "button", className: kind},
        make("b", {}, percent(counts[kind], one.queries)), ` ${names[kind]}`);
      button.setAttribute("aria-pressed", "false");
      button.style.flexGrow = counts[kind];
      button.addEventListener("click", () => {
        const pressed = button.getAttribute("aria-pressed") !== "true";
        for (const other of buttons) other.setAttribute("aria-pressed", String(pressed && other === button));
        pictures.dataset.kind = pressed ? kind : "";
      });
      return button;
    });
    pictures.dataset.kind = "";
    verdicts.replaceChildren(...buttons);
  }

  function picture(height, words, ...inside) {
    return shape("svg", {viewBox: `0 0 ${SIZE} ${height}`, role: "img", "aria-label": words}, ...inside);
  }

  function titled(drawn, words, ...further) {
    return make("figure", {}, drawn, make("figcaption", {}, words, ...further));
  }

  const linked = (one, at) => one.pages[at] ? make("a", {href: one.pages[at]}, one.models[at]) : one.models[at];

  function scatter(one, x, y, most, words) {
    const room = SIZE - EDGE - 8, at = value => EDGE + room * value / most, down = value => SIZE - at(value);
    const ticks = [0, 0.5, 1].map(share => share * most);
    const label = value => String(Math.round(100 * value / one.parts) / 100);
    const drawn = picture(SIZE, `${words}: ${one.models[y]} over ${one.models[x]}`,
      ...ticks.flatMap(tick => [
        shape("path", {class: "grid", d: `M ${at(tick)} ${down(0)} V ${down(most)} M ${at(0)} ${down(tick)} H ${at(most)}`}),
        shape("text", {x: at(tick), y: SIZE - EDGE + 15, "text-anchor": "middle"}, label(tick)),
        shape("text", {x: EDGE - 6, y: down(tick) + 4, "text-anchor": "end"}, label(tick))]),
      shape("path", {class: "line", d: `M ${at(0)} ${down(0)} L ${at(most)} ${down(most)}`}),
      ...shown.map(query => point(query, shape("circle", {class: kindOf(query.difference), cx: at(query.x), cy: down(query.y), r: 3.4}))));
    return titled(drawn, "up: ", linked(one, y), `, mean ${one.means[y]}; across: `, linked(one, x),
      `, mean ${one.means[x]}; ${words}`);
  }

  function strip(one, x, y, most, words) {
    const wide = (SIZE - EDGE - 8) / shown.length, middle = LOW / 2;
    const far = Math.max(1, ...shown.map(query => Math.abs(query.difference)));
    const high = difference => (middle - 10) * difference / far;
    const reach = String(Math.round(100 * far / one.parts) / 100);
    const drawn = picture(LOW, `differences of ${words}: ${one.models[y]} less ${one.models[x]}, sorted`,
      shape("path", {class: "line", d: `M ${EDGE} ${middle} H ${SIZE - 8}`}),
      shape("text", {x: EDGE - 6, y: 14, "text-anchor": "end"}, `+${reach}`),
      shape("text", {x: EDGE - 6, y: middle + 4, "text-anchor": "end"}, "0"),
      shape("text", {x: EDGE - 6, y: LOW - 6, "text-anchor": "end"}, `−${reach}`),
      ...shown.map((query, at) => {
        const tall = high(query.difference);
        return point(query, shape("rect", {class: kindOf(query.difference), x: EDGE + at * wide, width: Math.max(wide, 0.6),
          y: middle - Math.max(tall, 0.5), height: Math.max(Math.abs(tall), 1),
          ...(tall < 0 ? {y: middle} : {})}));
      }));
    return titled(drawn, "The same queries, sorted by the difference: ", one.models[y], " less ", one.models[x], ".",
      make("label", {className: "walk"}, "go through them ", walk));
  }

  function point(query, drawn) {
    (query.shapes ??= []).push(drawn);
    drawn.addEventListener("pointerenter", () => mark(query));
    return drawn;
  }

  function mark(query) {
    for (const drawn of marked?.shapes ?? []) drawn.classList.remove("marked");
    marked = query;
    if (!query) {
      told.textContent = "Point at a query to see it in both pictures; the shares above pick out one kind.";
      return;
    }
    const {parts, models, metric} = groups[group.value];
    const [ours, theirs] = [query.y, query.x].map(value => (value / parts).toFixed(3));
    for (const drawn of query.shapes) {
      drawn.classList.add("marked");
      if (drawn.localName === "circle") drawn.parentElement.append(drawn);
    }
    told.textContent = `${query.name}: ${metric} ${ours} by ${models[up.value]}, ${theirs} by ${models[across.value]}`;
    walk.value = shown.indexOf(query);
  }

  function follow() {
    const asked = groups.findIndex(one => one.id === decodeURIComponent(location.hash.slice(1)));
    if (asked < 0) return;
    begin(asked);
    place.scrollIntoView();
  }

  if (groups.length) {
    walk.addEventListener("input", () => mark(shown[walk.value]));
    place.replaceChildren(tools, verdicts, pictures, told);
    begin(0);
    follow();
    addEventListener("hashchange", follow);
  }
}
