// Helpers that everything else uses. Text from disk goes through `el` and `textContent` alone, never through markup.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const page = JSON.parse(byId("data").textContent);

const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "vars") for (const [name, to] of Object.entries(value)) node.style.setProperty(name, to);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

const NBSP = "\u00a0"; // a number and its unit stay on one line
const UNITS = ["B", "KB", "MB", "GB", "TB"];
function size(bytes) {
  let amount = bytes, unit = 0;
  while (Math.abs(amount) >= 1024 && unit < UNITS.length - 1) { amount /= 1024; unit += 1; }
  return `${amount.toFixed(unit ? 1 : 0)}${NBSP}${UNITS[unit]}`;
}

const number = (count) => count.toLocaleString("en-US");
const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;
const share = (part, whole) => (whole > 0 ? (100 * part) / whole : 0);

function percent(part, whole) {
  const value = share(part, whole);
  return value > 0 && value < 1 ? `< 1%` : `${Math.round(value)}%`;
}

const SPANS = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
function age(seconds) {
  if (seconds === null || seconds === undefined) return "?";
  const words = [];
  let left = Math.max(0, Math.floor(seconds));
  for (const [unit, length] of SPANS) {
    if (left >= length) { words.push(`${Math.floor(left / length)}${unit}`); left %= length; }
    else if (words.length) break;
    if (words.length === 2) break;
  }
  return words.join("") || "0s";
}

function about(seconds) {
  const [amount, unit] = seconds < 7200 ? [Math.max(1, Math.round(seconds / 60)), "min"] : seconds < 172800 ? [Math.round(seconds / 3600), "h"] : [Math.round(seconds / 86400), "days"];
  return `${amount}${NBSP}${unit}`;
}

const when = (seconds, options) => new Intl.DateTimeFormat(undefined, options).format(new Date(seconds * 1000));
const DAY_AND_TIME = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };

/** A word of a command, as every shell reads it. What Python had to escape ($'...') is one already. */
function quoted(path) {
  return /^[\w@%+=:,./-]+$/.test(path) || path.startsWith("$'") ? path : `'${path.replaceAll("'", `'"'"'`)}'`;
}

const short = (text) => (text && text.length > 12 && /^[0-9a-f-]+$/.test(text) ? text.slice(0, 8) : text ?? "");

/** Words of ours in which `commands` stand between backticks. */
const prose = (words) => words.split("`").map((each, index) => (index % 2 ? el("code", {}, each) : each));

/** A command with a button that copies it. */
function commandLine(text) {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy: ${text}`, onclick: () => copy(text, button) }, "Copy");
  return el("span", { class: "command" }, el("code", {}, text), button);
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.previousSibling); // no clipboard here: one key away
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

/** Radio buttons in a fieldset that look like one switch. */
function pick(fieldset, name, choices, onPick) {
  const chosen = choices.find((each) => each.checked) ?? choices[0];
  for (const each of choices) {
    const input = el("input", { type: "radio", name, value: each.value, checked: each === chosen, onchange: () => onPick(each.value) });
    fieldset.append(el("label", {}, input, el("span", {}, each.label)));
  }
  fieldset.hidden = choices.length < 2;
}
