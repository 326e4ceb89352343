// Usage over time: how much of a root was used, what cleans gave back, and where it is heading.
const FRAME = { w: 960, // as wide as there is room, so that its words keep their size
  h: 260, left: 78, right: 14, top: 14, bottom: 46 };

function series(root) {
  const points = (page.history?.roots[root.name] ?? []).map(([at, used, free]) => ({ at, used, free }));
  const used = root.bytes_used ?? root.bytes_total - root.bytes_free;
  return [...points.filter((each) => each.at < page.made_s), { at: page.made_s, used, free: root.bytes_free }];
}

/** What was given back between two lines of the history. */
function cleans() {
  const found = [];
  let before = null;
  for (const [at, bytes] of page.history?.freed ?? []) {
    if (before !== null && bytes > before) found.push({ at, bytes: bytes - before });
    before = bytes;
  }
  return found;
}

function ahead(root, points) {
  const trend = root.trend;
  if (!trend || trend.state !== "growing" || trend.what === "inodes") return null;
  const last = points[points.length - 1], span = last.at - points[0].at;
  const fullIn = trend.full_in_seconds ?? Infinity;
  const seconds = Math.min(fullIn, Math.max(3600, span * 0.4));
  return { at: last.at + seconds, used: Math.min(last.used + last.free, last.used + (trend.per_hour * seconds) / 3600), isFull: seconds === fullIn };
}

function ticks(from, to) {
  const steps = [3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000];
  const step = steps.find((each) => (to - from) / each <= FRAME.w / 150) ?? 31536000;
  const shift = new Date(from * 1000).getTimezoneOffset() * 60;
  const found = [];
  for (let at = Math.ceil((from - shift) / step) * step + shift; at <= to; at += step) found.push(at);
  return { found, options: step < 86400 ? { weekday: "short", hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" } };
}

function chart(root, points) {
  const next = ahead(root, points), last = points[points.length - 1];
  const from = points[0].at, to = next ? next.at : last.at, whole = Math.max(...points.map((each) => each.used + each.free), 1);
  const x = (at) => FRAME.left + ((at - from) / Math.max(1, to - from)) * (FRAME.w - FRAME.left - FRAME.right);
  const y = (used) => FRAME.top + (1 - used / whole) * (FRAME.h - FRAME.top - FRAME.bottom);
  const line = points.map((each, index) => `${index ? "L" : "M"}${x(each.at).toFixed(1)} ${y(each.used).toFixed(1)}`).join("");
  const floor = y(0), given = cleans().filter((each) => each.at >= from), most = Math.max(...given.map((each) => each.bytes), 1);
  const marks = ticks(from, to);
  const levels = [0, 0.25, 0.5, 0.75, 1].map((part) => svg("g", {},
    svg("line", { class: part === 1 ? "cap" : "grid", x1: FRAME.left, x2: FRAME.w - FRAME.right, y1: y(whole * part), y2: y(whole * part) }),
    svg("text", { x: FRAME.left - 8, y: y(whole * part) + 4, "text-anchor": "end" }, part === 1 ? "full" : rounded(whole * part))));
  const times = marks.found.filter((at) => x(at) > FRAME.left + 30 && x(at) < FRAME.w - 40).map((at) =>
    svg("text", { x: x(at), y: FRAME.h - 6, "text-anchor": "middle" }, when(at, marks.options)));
  const bars = given.map((each) => svg("rect", { class: "clean", x: x(each.at) - 2, width: 4, y: floor + 6, height: 4 + 14 * (each.bytes / most) },
    svg("title", {}, `${size(each.bytes)} freed by ${when(each.at, DAY_AND_TIME)}`)));
  return svg("svg", { viewBox: `0 0 ${FRAME.w} ${FRAME.h}`, role: "img", tabindex: 0, "aria-label": summary(root, points) },
    levels, times,
    svg("path", { class: "area", d: `${line}L${x(last.at).toFixed(1)} ${floor}L${x(from).toFixed(1)} ${floor}Z` }),
    svg("path", { class: "used", d: line }), bars,
    next ? svg("path", { class: "ahead", d: `M${x(last.at)} ${y(last.used)}L${x(next.at)} ${y(next.used)}` }) : null,
    next?.isFull ? svg("text", { class: "when", x: x(last.at) - 14, y: FRAME.top + 22, "text-anchor": "end" }, `full in about ${about(root.trend.full_in_seconds)}`) : null,
    svg("circle", { class: "now", cx: x(last.at), cy: y(last.used), r: 4 }),
    svg("g", { class: "cursor" }));
}

/** For an axis: no more digits than its lines are apart. */
function rounded(bytes) {
  const [amount, unit] = size(bytes).split(NBSP);
  return `${amount >= 10 ? Math.round(amount) : +amount} ${unit}`;
}

function summary(root, points) {
  const most = points.reduce((a, b) => (b.used > a.used ? b : a)), last = points[points.length - 1];
  const given = cleans().filter((each) => each.at >= points[0].at).reduce((sum, each) => sum + each.bytes, 0);
  const words = [`${root.name} uses ${size(last.used)} of ${size(last.used + last.free)}; since ${when(points[0].at, DAY_AND_TIME)} it was ${size(most.used)} at most`];
  if (given) words.push(`tmpwarden gave back ${size(given)} in that time`);
  if (heading(root.trend)) words.push(`it ${heading(root.trend)}`);
  return `${words.join("; ")}.`;
}

/** Pointer or arrow keys: the numbers of one moment. */
function readable(drawn, points) {
  const cursor = drawn.querySelector(".cursor"), from = points[0].at, width = FRAME.w - FRAME.left - FRAME.right;
  const to = +drawn.dataset.to;
  let at = points.length - 1;
  const show = (index) => {
    at = Math.min(points.length - 1, Math.max(0, index));
    const point = points[at], x = FRAME.left + ((point.at - from) / Math.max(1, to - from)) * width;
    const isRight = x > FRAME.w / 2;
    cursor.replaceChildren(
      svg("line", { x1: x, x2: x, y1: FRAME.top, y2: FRAME.h - FRAME.bottom }),
      svg("text", { x: x + (isRight ? -8 : 8), y: FRAME.top + 14, "text-anchor": isRight ? "end" : "start" },
        `${when(point.at, DAY_AND_TIME)}: ${size(point.used)}, ${percent(point.used, point.used + point.free)}`));
  };
  drawn.addEventListener("pointermove", (event) => {
    const box = drawn.getBoundingClientRect();
    const wanted = from + (((event.clientX - box.x) / box.width) * FRAME.w - FRAME.left) / width * (to - from);
    show(points.reduce((best, each, index) => (Math.abs(each.at - wanted) < Math.abs(points[best].at - wanted) ? index : best), 0));
  });
  drawn.addEventListener("pointerleave", () => cursor.replaceChildren());
  drawn.addEventListener("blur", () => cursor.replaceChildren());
  drawn.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); show(at + step); }
  });
}

function drawUsage(root) {
  const points = series(root), table = byId("usage-table");
  byId("usage-words").textContent = points.length < 3
    ? "There is no history to draw yet: each clean, timer tick and session end notes the usage, at most once an hour."
    : summary(root, points);
  byId("chart").replaceChildren();
  table.hidden = points.length < 3;
  if (points.length < 3) return;
  FRAME.w = Math.max(320, Math.min(1072, byId("chart").clientWidth));
  const drawn = chart(root, points);
  drawn.dataset.to = ahead(root, points)?.at ?? points[points.length - 1].at;
  byId("chart").append(drawn);
  readable(drawn, points);
  table.querySelector(".wide")?.remove();
  table.append(simpleTable(["Time", "Used", "Free", "Full"], points.slice(-48).reverse().map((each) =>
    [when(each.at, DAY_AND_TIME), size(each.used), size(each.free), percent(each.used, each.used + each.free)])));
}

function startUsage() {
  if (!page.history || !page.roots.length) return;
  byId("usage").hidden = false;
  let chosen = page.roots.reduce((a, b) => (series(b).length > series(a).length ? b : a));
  pick(byId("usage-of"), "usage-of", page.roots.map((each) => ({ value: each.name, label: each.name, checked: each === chosen })),
    (name) => { chosen = page.roots.find((each) => each.name === name); drawUsage(chosen); });
  let width = 0;
  new ResizeObserver(([entry]) => { if (entry.contentRect.width !== width) { width = entry.contentRect.width; drawUsage(chosen); } }).observe(byId("chart"));
}
