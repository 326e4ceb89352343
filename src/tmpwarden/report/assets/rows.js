// The findings as columns, and the tree above them: root, agent, session, litter, unit.
const columns = { bytes: [], ...page.findings };
const texts = { roots: [], agents: [], litters: [], sessions: [], owners: [], whys: [], dirs: [], reasons: [], ...columns.texts };
const rowCount = columns.bytes.length;
const AT_LEAST = 1, UNDOABLE = 2;
// What did not fit into the page row by row: root, agent, litter, reason, goes, units, items, bytes, entries.
const folded = columns.folded;

/** What Python left out because it is called as its session. */
const nameOf = (row) => columns.name[row] || texts.sessions[columns.session[row]];

function path(row) {
  const directory = texts.dirs[columns.dir[row]];
  if (directory === "") return nameOf(row);
  return directory === "/" ? `/${nameOf(row)}` : `${directory}/${nameOf(row)}`;
}

const litterName = (row) => `${texts.agents[columns.agent[row]]}.${texts.litters[columns.litter[row]]}`;
const bytesOf = (row) => columns.bytes[row] ?? 0;
const entriesOf = (row) => columns.entries[row] ?? 0;

// The next level below each kind: what rows are grouped by there, and what a group is called.
const BELOW = {
  all: { kind: "root", key: (row) => columns.root[row], name: (row) => texts.roots[columns.root[row]] },
  root: { kind: "agent", key: (row) => columns.agent[row], name: (row) => texts.agents[columns.agent[row]] },
  agent: {
    kind: (row) => (texts.sessions[columns.session[row]] ? "session" : "litter"),
    key: (row) => (texts.sessions[columns.session[row]] ? columns.session[row] : -1 - columns.litter[row]),
    name: (row) => texts.sessions[columns.session[row]] || texts.litters[columns.litter[row]],
  },
  session: { kind: "litter", key: (row) => columns.litter[row], name: (row) => texts.litters[columns.litter[row]] },
  litter: { kind: "unit", key: (row) => row, name: nameOf },
};

/** A part of the map: some rows, and what is no row (`extra`). What is below it is found when somebody looks. */
class Node {
  constructor(name, parent, kind) {
    Object.assign(this, { name, parent, kind, tone: "", why: "", rows: [], extra: [], groups: null, made: new Map() });
    Object.assign(this, { bytes: 0, entries: 0, goBytes: 0, goEntries: 0, units: 0 });
  }

  add(bytes, entries, goes, units = 1) {
    this.bytes += bytes;
    this.entries += entries;
    this.units += units;
    if (goes) { this.goBytes += bytes; this.goEntries += entries; }
  }

  addRow(row) {
    this.rows.push(row);
    this.add(bytesOf(row), entriesOf(row), columns.goes[row] === 1);
  }

  /** Add it here and to all above. */
  put(node) {
    this.extra.push(node);
    for (let above = this; above; above = above.parent) {
      above.add(node.bytes, node.entries, false, node.units);
      above.goBytes += node.goBytes;
      above.goEntries += node.goEntries;
    }
    return node;
  }

  /** What is in it, if that is one thing alone: a level that says nothing new. */
  get only() { return this.kind in BELOW && !this.extra.length && this.rows.length && this.grouped().first.length === 1 ? this.node(0) : null; }

  get canOpen() { return (this.rows.length > 0 && this.kind in BELOW) || this.extra.length > 0; }

  /** The `most` biggest in it, those alone as nodes; and how many others there are, with what they sum up to. */
  children(by, most) {
    const found = [...this.extra], groups = this.grouped();
    const weight = by === "bytes" ? groups.bytes : groups.entries;
    const order = weight.map((_, index) => index).filter((index) => weight[index] > 0).sort((a, b) => weight[b] - weight[a]);
    for (const index of order.slice(0, most)) found.push(this.node(index));
    found.sort((a, b) => b[by] - a[by]);
    const shown = found.filter((each) => each[by] > 0).slice(0, most), count = order.length + this.extra.filter((each) => each[by] > 0).length - shown.length;
    return { shown, count, sum: this[by] - shown.reduce((sum, each) => sum + each[by], 0) };
  }

  grouped() {
    if (this.groups) return this.groups;
    const groups = { first: [], bytes: [], entries: [], of: new Int32Array(this.rows.length) }, known = new Map();
    const below = BELOW[this.kind];
    this.rows.forEach((row, at) => {
      const key = below.key(row);
      let index = known.get(key);
      if (index === undefined) { known.set(key, (index = groups.first.length)); groups.first.push(row); groups.bytes.push(0); groups.entries.push(0); }
      groups.bytes[index] += bytesOf(row);
      groups.entries[index] += entriesOf(row);
      groups.of[at] = index;
    });
    return (this.groups = groups);
  }

  node(index) {
    if (this.made.has(index)) return this.made.get(index);
    const below = BELOW[this.kind], first = this.groups.first[index];
    const node = new Node(below.name(first), this, typeof below.kind === "function" ? below.kind(first) : below.kind);
    this.rows.forEach((row, at) => { if (this.groups.of[at] === index) node.addRow(row); });
    if (node.kind === "unit") { node.tone = columns.goes[first] ? "go" : "kept"; node.why = texts.whys[columns.why[first]]; }
    this.made.set(index, node);
    return node;
  }

  named(name) { return this.children("bytes", Infinity).shown.find((each) => each.name === name); }
}

function leaf(name, tone, bytes, entries, units, parent, goes = false) {
  const node = new Node(name, parent, "rest");
  node.tone = tone;
  node.add(bytes, entries, goes, units);
  return node;
}

const top = new Node("All roots", null, "all");
for (let row = 0; row < rowCount; row += 1) top.addRow(row);
const roots = new Map(); // every root once: of the rows, of the accounts
for (const index of top.grouped().first.keys()) { const node = top.node(index); roots.set(node.name, node); }

function rootNamed(name) {
  if (!roots.has(name)) { const node = new Node(name, top, "root"); roots.set(name, node); top.extra.push(node); }
  return roots.get(name);
}

for (const [root, agent, litter, , goes, units, , bytes, entries] of folded) {
  const above = rootNamed(texts.roots[root]);
  above.put(leaf(`${texts.agents[agent]}.${texts.litters[litter]}, small ones`, goes ? "go" : "kept", bytes, entries, units, above, goes === 1));
}

/** What lies in a root and is no finding: a whole root is accounted for. */
function addOthers(account) {
  const root = rootNamed(account.root), groups = page.unmatched.filter((each) => each.root === account.root);
  if (groups.length) {
    const unknown = new Node("not recognised", root, "rest");
    unknown.tone = "unknown";
    for (const each of groups) unknown.extra.push(leaf(each.shape, "unknown", each.bytes, each.entries, each.count, unknown));
    for (const each of unknown.extra) unknown.add(each.bytes, each.entries, false, each.units);
    root.put(unknown);
  }
  const rest = [["others", account.others_bytes, "other users"], ["waits", account.quarantined_bytes, "in quarantine"], ["others", account.other_bytes ?? 0, "deleted but still open, or other users' private files"]];
  for (const [tone, bytes, name] of rest) if (bytes) root.put(leaf(name, tone, bytes, 0, 0, root));
}
page.accounts.forEach(addOthers);
