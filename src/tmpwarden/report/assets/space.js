// How full each root is, as a bar of whose the bytes are; and the page in five numbers.
const TONES = {
  go: "can be removed now",
  kept: "agents' files that are kept",
  waits: "in quarantine",
  unknown: "not recognised",
  others: "of other users, or not readable",
  else: "elsewhere on the same disk",
  free: "free",
};

function parts(root) {
  const node = roots.get(root.name);
  const account = page.accounts.find((each) => each.root === root.name);
  const used = root.bytes_used ?? root.bytes_total - root.bytes_free;
  const found = {
    go: node?.goBytes ?? 0,
    kept: Math.max(0, (account?.matched_bytes ?? node?.bytes ?? 0) - (node?.goBytes ?? 0)),
    waits: account?.quarantined_bytes ?? 0,
    unknown: account?.unmatched_bytes ?? 0,
    others: (account?.others_bytes ?? 0) + (account?.other_bytes ?? 0),
  };
  const known = Object.values(found).reduce((sum, each) => sum + each, 0);
  const rest = used - known; // a rounding error is nobody's
  return { ...found, else: rest > used / 1000 ? rest : 0, free: root.bytes_free };
}

function heading(trend) {
  if (!trend || trend.state !== "growing") return "";
  const amount = trend.what === "inodes" ? `${number(trend.per_hour)} inodes` : size(trend.per_hour);
  const end = { bytes: "full", inodes: "out of inodes", quota: "at your quota" }[trend.what];
  return `grows by ${amount} an hour` + (trend.full_in_seconds === null ? "" : `, ${end} in about ${about(trend.full_in_seconds)}`);
}

function bar(root) {
  const found = parts(root);
  const whole = Object.values(found).reduce((sum, each) => sum + each, 0);
  const pieces = Object.entries(found).filter(([, bytes]) => bytes > 0);
  const words = pieces.map(([tone, bytes]) => `${size(bytes)} ${TONES[tone]}`);
  const used = root.bytes_used ?? root.bytes_total - root.bytes_free;
  const facts = [`${size(used)} of ${size(root.bytes_total)}`];
  if (root.inodes_total) facts.push(`inodes ${root.percent_inodes}%`);
  const forecast = heading(root.trend);
  return el("div", { class: "root" },
    el("p", { class: "root-line" },
      el("b", {}, root.name), " ", el("span", { class: "dim" }, root.filesystem),
      el("span", { class: "right" }, el("b", { class: root.percent >= 80 ? "alarm" : "" }, `${root.percent}% full`), ` · ${facts.join(" · ")}`)),
    el("div", { class: "bar", role: "img", "aria-label": `${root.name}: ${words.join(", ")}` },
      pieces.map(([tone, bytes]) => el("span", { class: `tone-${tone}`, title: `${size(bytes)} ${TONES[tone]}`, vars: { "--share": share(bytes, whole) } }))),
    el("ul", { class: "legend" }, pieces.filter(([tone]) => tone !== "free").map(([tone, bytes]) =>
      el("li", {}, el("i", { class: `swatch tone-${tone}` }), `${TONES[tone]} ${size(bytes)}`))),
    forecast ? el("p", { class: root.trend.full_in_seconds !== null && root.trend.full_in_seconds < 86400 ? "forecast alarm" : "forecast" }, `${root.name} ${forecast}.`) : null);
}

function fact(value, name, more, href) {
  return el(href ? "a" : "div", { class: "fact", href }, el("b", {}, value), el("span", {}, name), more ? el("small", {}, more) : null);
}

function drawSpace() {
  // A root that is nearly empty, and of which nothing can be removed, needs no bar: one line each, folded.
  const isDull = (root) => root.percent < 2 && !(roots.get(root.name)?.goBytes > 0), dull = page.roots.filter(isDull);
  const shown = dull.length < page.roots.length ? page.roots.filter((root) => !isDull(root)) : page.roots;
  byId("space").append(...shown.map(bar));
  if (shown.length < page.roots.length) {
    byId("space").append(el("details", { id: "dull" }, el("summary", {}, `${plural(dull.length, "temp root")} nearly empty: ${dull.map((root) => root.name).join(", ")}`), dull.map(bar)));
  }
  const totals = page.totals;
  const least = totals.at_least ? "at least " : "";
  const facts = [
    fact(least + size(totals.removable_bytes), "can be removed now", plural(totals.removable_entries, "entry", "entries"), "#found"),
    fact(least + size(totals.bytes - totals.removable_bytes), "kept", plural(Object.values(totals.kept_by_reason).reduce((a, b) => a + b, 0), "item"), "#found"),
  ];
  if (page.saved) facts.push(fact(size(page.saved.bytes), "freed so far", `${plural(page.saved.entries, "entry", "entries")} in ${plural(page.saved.runs, "run")}`));
  if (page.quarantine) facts.push(fact(size(page.quarantine.reduce((sum, each) => sum + (each.bytes ?? 0), 0)), "can be brought back", plural(page.quarantine.length, "item"), page.quarantine.length ? "#quarantine" : "#empty"));
  if (page.sessions) facts.push(fact(number(page.sessions.length), page.sessions.length === 1 ? "running session" : "running sessions", "", page.sessions.length ? "#sessions" : "#empty"));
  byId("facts").append(...facts);
}
