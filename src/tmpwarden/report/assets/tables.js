// The smaller tables: why things stay, what no row knows, sessions, quarantine, processes, worktrees, state.
function simpleTable(heads, rows) {
  return el("div", { class: "wide" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, index) => el("td", { "data-name": heads[index] }, cell)))))));
}

function part(id, title, words, ...content) {
  return el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), words ? el("p", {}, prose(words)) : null, ...content);
}

const empty = []; // sentences of sections that have nothing to show, folded into one

/** A table; nothing where nobody looked. */
function listed(id, title, rows, none, words, heads, cells) {
  if (rows === null || rows === undefined) return null;
  if (!rows.length) { empty.push(none); return null; }
  return part(id, title, words, simpleTable(heads, rows.map(cells)));
}

const reasonWords = (reason) => page.reasons[texts.reasons[reason]] ?? texts.reasons[reason];

function reasons() {
  const found = new Map();
  const count = (reason, why, units, bytes) => {
    const each = found.get(reason) ?? { why, units: 0, bytes: 0, words: new Set() };
    each.units += units; each.bytes += bytes;
    if (why && each.words.size < 2) each.words.add(why);
    found.set(reason, each);
  };
  for (let row = 0; row < rowCount; row += 1) if (!columns.goes[row]) count(columns.reason[row], texts.whys[columns.why[row]], 1, bytesOf(row));
  for (const [, , , reason, goes, units, , bytes] of folded) if (!goes) count(reason, "", units, bytes);
  const rows = [...found.entries()].sort((a, b) => b[1].bytes - a[1].bytes || b[1].units - a[1].units);
  if (!rows.length) return null;
  const most = Math.max(...rows.map(([, each]) => each.bytes), 1);
  return part("stays", "What is kept, and why", "Choose a reason to see what it keeps.", el("ol", { class: "reasons" }, rows.map(([reason, each]) =>
    el("li", {}, el("button", { type: "button", class: "line", onclick: () => showReason(reason) },
      el("span", { class: "name" }, each.words.size === 1 ? [...each.words][0] : reasonWords(reason)),
      el("span", { class: "num" }, `${size(each.bytes)} · ${plural(each.units, "item")}`),
      el("span", { class: "meter kept" }, el("i", { vars: { width: `${share(each.bytes, most)}%` } })))))));
}

function showReason(reason) {
  byId("by-reason").value = String(reason);
  redraw({ reason: String(reason) });
  byId("found").scrollIntoView();
  byId("found").focus({ preventScroll: true });
}

const left = (each) => {
  const gone = Date.parse(each.time) / 1000 + each.keep_seconds - page.made_s;
  return Number.isFinite(gone) ? (gone > 0 ? age(gone) : "expired") : "?";
};

const holds = (each) => [[each.repositories, "repository", "repositories"], [each.files, "file", "files"]]
  .filter(([count]) => count).map(([count, one, many]) => plural(count, one, many)).join(", ");

function drawOthers() {
  const parts = [
    listed("unknown", "Not recognised", page.unmatched.length ? page.unmatched : null, "", "Kept unless you name it: `tmpwarden clean PATH` removes it if unused, `tmpwarden adopt PATTERN` teaches tmpwarden its names.",
      ["Size", "Items", "Newest", "Names"], (each) => [(each.at_least ? "at least " : "") + size(each.bytes), number(each.count), age(each.newest_seconds), el("code", {}, `${each.root.replace(/\/$/, "")}/${each.shape}`)]),
    listed("sessions", "Running sessions", page.sessions, "No session is running.", "Items that they use are always kept.",
      ["Agent", "Process", "Session", "Temp directory"], (each) => [each.agent, String(each.pid), short(each.session), el("code", {}, each.scratch ?? "")]),
    listed("quarantine", "Quarantine", page.quarantine, "The quarantine is empty.", "Removed, and can still be brought back.",
      ["Size", "What", "Was", "Left", "Bring back"], (each) => [size(each.bytes ?? 0), each.row ?? "", el("code", {}, each.path ?? ""), left(each), commandLine(`tmpwarden undo ${quoted(String(each.id).slice(0, 8))}`)]),
    listed("orphans", "Processes that outlived their agent", page.orphans, "No process outlived its agent.", "`tmpwarden orphans end` ends those marked `end`, after asking.",
      ["Process", "Agent", "Age", "Memory", "Ports", "Verdict", "Command"], (each) => [String(each.pid), each.agent ?? "?", age(each.age_seconds), size(each.memory_bytes), each.ports.join(", "), el("span", {}, el("b", { class: each.verdict === "end" ? "badge go" : "badge kept" }, each.verdict === "end" ? "end" : "kept"), ` ${each.reason}`), el("code", {}, each.command)]),
    listed("worktrees", "Worktrees and clones of agents", page.worktrees, "No worktree or clone of an agent was found.", "`tmpwarden worktrees clean` removes those that hold no work of their own, after asking.",
      ["Size", "Where", "Branch", "Verdict"], (each) => [each.bytes === null ? "?" : size(each.bytes), el("code", {}, each.path), each.branch ?? "", el("span", {}, el("b", { class: each.verdict === "remove" ? "badge go" : "badge kept" }, each.verdict === "remove" ? "removable" : "kept"), ` ${each.detail || each.reason.replaceAll("-", " ")}`)]),
    listed("rescued", "Rescued work", page.rescued, "Nothing was saved yet.", "Saved before its directory was removed, because it exists nowhere else.",
      ["Size", "Saved from", "Holds", "Bring back"], (each) => [size(each.bytes), el("code", {}, each.path), holds(each), commandLine(`tmpwarden rescue restore ${quoted(each.id)}`)]),
    listed("keeps", "What agents keep in your home", page.keeps, "No agent keeps anything in your home.", "tmpwarden never removes any of it. The agent's own setting, where it has one, limits it.",
      ["Size", "Last week", "Oldest", "Agent", "What it is", "Lost when it goes", "Removed by", "Setting"], (each) => [size(each.bytes), each.week_bytes ? `+${size(each.week_bytes)}` : "", age(each.oldest_seconds), each.agent, each.keeps, each.lost, each.pruned, each.command]),
    listed("state", "Setup", page.state, "No agent was found.", "How tmpwarden is set up here; `tmpwarden setup` adds what is missing.",
      ["What", "State", "Where"], (each) => [each.what, each.state, el("code", {}, each.where)]),
  ];
  byId("others").append(...parts.filter(Boolean));
  if (empty.length) byId("others").append(el("details", { id: "empty" }, el("summary", {}, plural(empty.length, "section") + " with nothing to show"), el("ul", {}, empty.map((each) => el("li", {}, each)))));
  byId("reasons").append(...[reasons()].filter(Boolean));
}
