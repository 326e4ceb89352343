// A map of the space: squarified tiles, two levels at a time. Every tile is a button; Escape goes back up.
const HEADER = 22, GAP = 2, SMALLEST = 200, MOST_TILES = 60;
const KINDS = { root: "root", agent: "agent", session: "session", litter: "kind of item", unit: "item", rest: "group" };
const view = { node: top, by: "bytes" };

/** Rectangles with the areas of `items`, as square as can be (Bruls, Huizing, van Wijk). */
function squarified(items, area) {
  const total = items.reduce((sum, each) => sum + each.weight, 0);
  if (!total || area.w < 1 || area.h < 1) return [];
  const scale = (area.w * area.h) / total;
  const placed = [];
  let { x, y, w, h } = area, row = [], sum = 0, at = 0;
  const worst = (sizes, of, side) => {
    const most = sizes[0] * scale, least = sizes[sizes.length - 1] * scale, s = of * scale;
    return Math.max((side * side * most) / (s * s), (s * s) / (side * side * least));
  };
  const settle = () => {
    const isWide = w >= h, side = isWide ? h : w, thick = (sum * scale) / side;
    let along = isWide ? y : x;
    for (const each of row) {
      const length = (each.weight * scale) / thick;
      placed.push({ ...each, ...(isWide ? { x, y: along, w: thick, h: length } : { x: along, y, w: length, h: thick }) });
      along += length;
    }
    if (isWide) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    row = []; sum = 0;
  };
  while (at < items.length) {
    const next = items[at], side = Math.min(w, h), weights = row.map((each) => each.weight);
    if (!row.length || worst([...weights, next.weight], sum + next.weight, side) <= worst(weights, sum, side)) {
      row.push(next); sum += next.weight; at += 1;
    } else settle();
  }
  if (row.length) settle();
  return placed;
}

/** The children that can be seen at that size, and one tile for all the others. */
function visible(node, area) {
  const { shown, count, sum } = node.children(view.by, MOST_TILES);
  const least = node[view.by] * (SMALLEST / Math.max(1, area.w * area.h));
  const big = shown.filter((each, index) => each[view.by] >= least || index === 0), small = shown.slice(big.length);
  const items = big.map((each) => ({ node: each, weight: each[view.by] }));
  const left = { count: count + small.length, sum: sum + small.reduce((of, each) => of + each[view.by], 0) };
  if (left.count) items.push({ node: null, weight: Math.max(left.sum, least), ...left });
  return items;
}

const amount = (node) => (view.by === "bytes" ? size(node.bytes) : plural(node.entries, "entry", "entries"));

function spoken(node) {
  const goes = node.goBytes > 0 || node.goEntries > 0;
  const part = node.kind === "unit" ? (node.tone === "go" ? "removable" : "kept") : goes ? `${size(node.goBytes)} of it removable` : "kept";
  return `${KINDS[node.kind] ?? ""} ${node.name}, ${amount(node)}, ${percent(node[view.by], view.node[view.by])}; ${node.tone && node.kind === "rest" ? node.name : part}${node.why ? `: ${node.why}` : ""}`.trim();
}

const label = (node) => (node.kind === "session" || node.kind === "unit" ? short(node.name) : node.name);

function tile(place, depth) {
  const { node, x, y, w, h } = place;
  const vars = { left: `${x}px`, top: `${y}px`, width: `${Math.max(0, w - GAP)}px`, height: `${Math.max(0, h - GAP)}px` };
  if (!node) return el("div", { class: "tile rest", vars, title: `${plural(place.count, "smaller one")}` }, w > 60 && h > 16 ? el("span", {}, `${number(place.count)} more`) : null);
  const isOpen = depth === 0 && node.canOpen && w > 90 && h > 60 && node.kind !== "litter";
  const goShare = share(view.by === "bytes" ? node.goBytes : node.goEntries, node[view.by]);
  const tone = node.tone && node.kind !== "litter" ? node.tone : goShare >= 100 ? "go" : goShare > 0 ? "mixed" : "kept";
  const words = w > 44 && h > 17 ? [el("b", {}, label(node)), h > 34 || isOpen ? el("span", {}, amount(node)) : null] : [];
  const button = el("button", {
    type: "button", class: `tile tone-${tone}${isOpen ? " open" : ""}${words.length ? "" : " bare"}`, vars: { ...vars, "--go-share": `${goShare}%` },
    title: `${node.name}\n${amount(node)}${node.why ? `\n${node.why}` : ""}`, "aria-label": spoken(node), onclick: () => into(node),
  }, ...words);
  if (!isOpen) return button;
  const inside = { x: x + 3, y: y + HEADER, w: w - GAP - 6, h: h - GAP - HEADER - 3 };
  return [button, squarified(visible(node, inside), inside).map((each) => tile(each, depth + 1))].flat(2);
}

/** Down to where there is something to choose. */
function into(node) {
  while (node.only?.canOpen) node = node.only;
  go(node);
}

/** Back up, past levels that have one thing alone. */
function up() {
  let node = view.node.parent;
  while (node?.parent && node.only) node = node.parent;
  if (node) go(node);
}

/** Look into a node; a unit has nothing in it, so the list below shows it. */
function go(node) {
  if (!node.canOpen) {
    if (node.kind === "unit") showOnly(path(node.rows[0]));
    return;
  }
  view.node = node;
  drawMap();
  scope(node);
  byId("tiles").querySelector("button")?.focus({ preventScroll: true });
}

function drawCrumbs() {
  const way = [];
  for (let node = view.node; node; node = node.parent) way.unshift(node);
  byId("crumbs").replaceChildren(...way.map((node, index) => index === way.length - 1
    ? el("span", { "aria-current": "true" }, `${node.name} `, el("small", {}, amount(node)))
    : el("button", { type: "button", class: "link", onclick: () => go(node) }, node.name)));
}

function drawLargest() {
  const rows = view.node.children(view.by, 8).shown.map((node) => el("li", {},
    el("button", { type: "button", class: "line", onclick: () => into(node), "aria-label": spoken(node) },
      el("span", { class: "name" }, label(node)), el("span", { class: "num" }, amount(node)),
      el("span", { class: `meter tone-${node.kind === "rest" ? node.tone : "kept"}` }, el("i", { vars: { width: `${share(node[view.by], view.node[view.by])}%` } }, el("u", { vars: { width: `${share(view.by === "bytes" ? node.goBytes : node.goEntries, node[view.by])}%` } }))))));
  byId("largest").replaceChildren(el("ol", {}, rows));
}

function drawMap() {
  const box = byId("tiles"), area = { x: 0, y: 0, w: box.clientWidth, h: box.clientHeight };
  box.replaceChildren(...squarified(visible(view.node, area), area).flatMap((each) => tile(each, 0)));
  drawCrumbs();
  drawLargest();
}

function startMap() {
  if (!top.bytes && !top.entries) return;
  byId("map").hidden = false;
  const only = roots.size === 1 ? [...roots.values()][0] : null;
  if (only) only.parent = null;
  view.node = only ?? roots.get(page.fullest) ?? top;
  pick(byId("map-by"), "map-by", [{ value: "bytes", label: "Bytes" }, { value: "entries", label: "Entries" }], (by) => { view.by = by; drawMap(); });
  const tones = new Set(["go", "kept"]);
  for (const root of roots.values()) for (const each of root.extra) tones.add(each.tone);
  byId("legend").append(...[...tones].map((tone) => el("li", {}, el("i", { class: `swatch tone-${tone}` }), TONES[tone])));
  byId("map").addEventListener("keydown", (event) => {
    if (event.key === "Escape" && view.node.parent) { event.preventDefault(); up(); }
    if (event.key.startsWith("Arrow") && event.target.classList.contains("tile")) move(event);
  });
  new ResizeObserver(drawMap).observe(byId("tiles"));
  drawMap();
}

/** Arrow keys go to the nearest tile in that direction. */
function move(event) {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const middle = (node) => { const r = node.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; };
  const [x, y] = middle(event.target);
  let best = null, least = Infinity;
  for (const other of byId("tiles").querySelectorAll("button.tile")) {
    const [ox, oy] = middle(other), along = (ox - x) * dx + (oy - y) * dy, aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    const far = along + 3 * aside;
    if (other !== event.target && along > 2 && far < least) { best = other; least = far; }
  }
  if (best) { event.preventDefault(); best.focus(); }
}
