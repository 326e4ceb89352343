// Everything found: a table that is filtered and sorted here, and never longer than somebody asked for.
const FIRST = 25, STEP = 100;
const wanted = { verdict: "all", words: "", agent: "", reason: "", node: null, sort: "size", isUp: false, most: FIRST };
const HEADS = [["size", "Size"], ["age", "Age"], ["what", "What and where"], ["why", "Verdict and why"]];

/** Each text that has the word in it, by number: a hundred thousand rows share a few thousand texts. */
function hits(kind, word) {
  lowered[kind] ??= texts[kind].map((text) => text.toLowerCase());
  return Uint8Array.from(lowered[kind], (text) => (text.includes(word) ? 1 : 0));
}
const lowered = {};

/** A long path loses its middle, where names tell least; the details have it whole. */
const LONGEST = 96;
const cut = (text) => (text.length <= LONGEST ? text : `${text.slice(0, 56)}\u2026${text.slice(57 - LONGEST)}`);

/** Whether a row has the word in its path, agent, litter, session or reason. */
function finder(word) {
  if (/[/.]/.test(word)) return (row) => path(row).toLowerCase().includes(word) || litterName(row).toLowerCase().includes(word);
  const [dirs, sessions, whys, agents, litters] = ["dirs", "sessions", "whys", "agents", "litters"].map((kind) => hits(kind, word));
  return (row) => sessions[columns.session[row]] || dirs[columns.dir[row]] || whys[columns.why[row]] || agents[columns.agent[row]]
    || litters[columns.litter[row]] || (columns.name[row] && columns.name[row].toLowerCase().includes(word));
}

function rank(values) {
  const of = new Uint32Array(values.length);
  values.map((_, index) => index).sort((a, b) => (values[a] < values[b] ? -1 : 1)).forEach((each, index) => { of[each] = index; });
  return of;
}

const KEYS = {
  size: () => (row) => -bytesOf(row),
  age: () => (row) => -(columns.age[row] ?? -1),
  what: () => { const agents = rank(texts.agents), litters = rank(texts.litters); return (row) => agents[columns.agent[row]] * 1e5 + litters[columns.litter[row]]; },
  why: () => { const whys = rank(texts.whys); return (row) => whys[columns.why[row]] - (columns.goes[row] ? 1e9 : 0); },
};

const sorted = new Map();
function sequence() {
  if (!sorted.has(wanted.sort)) {
    const key = KEYS[wanted.sort](), keys = Float64Array.from({ length: rowCount }, (_, row) => key(row));
    sorted.set(wanted.sort, Uint32Array.from({ length: rowCount }, (_, row) => row).sort((a, b) => keys[a] - keys[b] || a - b));
  }
  return sorted.get(wanted.sort);
}

/** As long as nobody sorts or filters: below each agent its items, the agent with the most on top. */
const isGrouped = () => wanted.sort === "size" && !wanted.isUp && wanted.agent === "";

function agentRanks() {
  const sums = new Float64Array(texts.agents.length);
  for (let row = 0; row < rowCount; row += 1) sums[columns.agent[row]] += bytesOf(row);
  const ranks = new Float64Array(texts.agents.length);
  [...sums.keys()].sort((a, b) => sums[b] - sums[a]).forEach((agent, rank) => { ranks[agent] = rank; });
  return ranks;
}
let ranks = null;

function matching() {
  const has = wanted.words.toLowerCase().split(/\s+/).filter(Boolean).map(finder), order = sequence(), found = [];
  const agent = wanted.agent === "" ? -1 : +wanted.agent, reason = wanted.reason === "" ? -1 : +wanted.reason;
  const goes = { all: -1, go: 1, kept: 0 }[wanted.verdict];
  const inside = wanted.node ? new Uint8Array(rowCount) : null; // the chosen part of the map
  if (inside) for (const row of wanted.node.rows) inside[row] = 1;
  for (let index = 0; index < rowCount; index += 1) {
    const row = order[wanted.isUp ? rowCount - 1 - index : index];
    if (goes >= 0 && columns.goes[row] !== goes) continue;
    if (agent >= 0 && columns.agent[row] !== agent) continue;
    if (reason >= 0 && columns.reason[row] !== reason) continue;
    if (inside && !inside[row]) continue;
    if (!has.every((test) => test(row))) continue;
    found.push(row);
  }
  if (isGrouped()) {
    ranks ??= agentRanks();
    found.sort((a, b) => ranks[columns.agent[a]] - ranks[columns.agent[b]]); // a stable sort: by size within each
  }
  return found;
}

function details(row) {
  const count = columns.count[row], full = path(row);
  const facts = [
    ["Path", full], ["Session", texts.sessions[columns.session[row]]], ["Owner", texts.owners[columns.owner[row]]],
    ["Entries", columns.entries[row] === null ? "not measured" : number(columns.entries[row])], ["Files", count > 1 ? number(count) : ""],
    ["Undo", columns.goes[row] ? (columns.flags[row] & UNDOABLE ? "for a day" : "cannot be undone") : ""],
  ];
  return el("tr", { class: "details" }, el("td", { colspan: 4 },
    el("dl", {}, facts.filter(([, value]) => value).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    commandLine(`tmpwarden why ${quoted(full)}`)));
}

function toggle(button, tr, row) {
  const isOpen = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!isOpen));
  if (isOpen) tr.nextSibling.remove(); else tr.after(details(row));
}

function line(row) {
  const goes = columns.goes[row] === 1, least = columns.flags[row] & AT_LEAST ? "at least " : "", count = columns.count[row];
  const full = path(row), tr = el("tr", {});
  const button = el("button", { type: "button", class: "path", "aria-expanded": "false", onclick: () => toggle(button, tr, row), title: full }, cut(full));
  tr.append(
    el("td", { class: "num" }, columns.bytes[row] === null ? "?" : least + size(columns.bytes[row])),
    el("td", { class: "num age" }, age(columns.age[row])),
    el("td", {}, el("span", { class: "litter" }, litterName(row), count > 1 ? ` · ${plural(count, "file")}` : ""), button),
    el("td", {}, el("b", { class: goes ? "badge go" : "badge kept" }, goes ? "removable" : "kept"), " ", texts.whys[columns.why[row]]));
  return tr;
}

function drawRows() {
  const found = matching(), sum = found.reduce((of, row) => of + bytesOf(row), 0);
  const shown = found.slice(0, wanted.most), lines = [];
  shown.forEach((row, index) => {
    const agent = columns.agent[row];
    if (isGrouped() && (!index || columns.agent[shown[index - 1]] !== agent)) lines.push(el("tr", { class: "group" }, el("th", { colspan: 4, scope: "rowgroup" }, texts.agents[agent])));
    lines.push(line(row));
  });
  byId("rows").tBodies[0].replaceChildren(...lines);
  const inside = wanted.node ? ` in ${wanted.node.name}` : "";
  const hidden = folded.length ? ` ${plural(folded.reduce((of, each) => of + each[5], 0), "small item")} more, ${size(folded.reduce((of, each) => of + each[7], 0))}, would make this page too big; they are in every sum.` : "";
  byId("count").replaceChildren(`${plural(found.length, "item")}${inside}, ${size(sum)}.${hidden} `,
    isFiltered() ? el("button", { type: "button", class: "link", onclick: clearFilters }, "Show all") : "");
  const more = byId("more"), left = found.length - wanted.most;
  more.hidden = left <= 0;
  more.textContent = `Show ${number(Math.min(STEP, left))} more of ${number(left)}`;
}

const isFiltered = () => wanted.verdict !== "all" || wanted.words || wanted.agent || wanted.reason || wanted.node;

function redraw(changes) {
  Object.assign(wanted, { most: FIRST }, changes);
  drawRows();
}

const scope = (node) => redraw({ node: node.parent ? node : null });

function showOnly(text) {
  byId("words").value = text;
  redraw({ words: text });
  byId("found").scrollIntoView();
  byId("words").focus({ preventScroll: true });
}

function clearFilters() {
  byId("filters").reset();
  redraw({ verdict: "all", words: "", agent: "", reason: "", node: null });
}

function drawHeads() {
  byId("rows").tHead.replaceChildren(el("tr", {}, HEADS.map(([key, name]) => {
    const isOn = wanted.sort === key;
    return el("th", { scope: "col", "aria-sort": isOn ? (wanted.isUp ? "ascending" : "descending") : false },
      el("button", { type: "button", class: "link", onclick: () => { redraw({ sort: key, isUp: isOn && !wanted.isUp }); drawHeads(); } }, name, isOn ? (wanted.isUp ? " ↑" : " ↓") : ""));
  })));
}

function options(select, name, counts, words) {
  const listed = [...counts.entries()].sort((a, b) => b[1] - a[1]);
  select.append(el("option", { value: "" }, name), ...listed.map(([key, count]) => el("option", { value: key }, `${words(key)} (${number(count)})`)));
}

function startFound() {
  byId("found").hidden = false;
  const agents = new Map(), reasons = new Map();
  for (let row = 0; row < rowCount; row += 1) {
    agents.set(columns.agent[row], (agents.get(columns.agent[row]) ?? 0) + 1);
    reasons.set(columns.reason[row], (reasons.get(columns.reason[row]) ?? 0) + 1);
  }
  options(byId("by-agent"), "Every agent", agents, (key) => texts.agents[key]);
  options(byId("by-reason"), "Every reason", reasons, reasonWords);
  pick(byId("by-verdict"), "verdict", [{ value: "all", label: "All" }, { value: "go", label: "Removable" }, { value: "kept", label: "Kept" }], (verdict) => redraw({ verdict }));
  byId("words").addEventListener("input", (event) => redraw({ words: event.target.value }));
  byId("by-agent").addEventListener("change", (event) => redraw({ agent: event.target.value }));
  byId("by-reason").addEventListener("change", (event) => redraw({ reason: event.target.value }));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("more").addEventListener("click", () => redraw({ most: wanted.most + STEP }));
  drawHeads();
  drawRows();
  for (const kind of ["sessions", "dirs", "whys"]) hits(kind, " "); // now, and not when somebody types
}
