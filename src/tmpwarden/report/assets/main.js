// Draw it all, in the order of the page.
function drawFrame() {
  const made = [page.user && page.host ? `${page.user} on ${page.host}` : page.source ? `from ${page.source}` : "", page.made].filter(Boolean);
  byId("made").textContent = made.join(" · ");
  const command = byId("command");
  if (command.textContent) command.replaceWith(commandLine(command.textContent)); else command.remove();
  const themes = ["auto", "light", "dark"], button = byId("theme");
  let theme = 0;
  const name = () => { button.textContent = { auto: "Theme: as your system", light: "Theme: light", dark: "Theme: dark" }[themes[theme]]; };
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = (theme + 1) % themes.length;
    if (theme) document.documentElement.dataset.theme = themes[theme]; else delete document.documentElement.dataset.theme;
    name();
  });
  name();
}

function drawContents() {
  const links = [...document.querySelectorAll("main section[id] h2")].filter((each) => !each.closest("[hidden]"));
  byId("contents").append(...links.map((each) => el("a", { href: `#${each.closest("section").id}` }, each.textContent)));
}

function drawFoot() {
  const words = [`Written by tmpwarden ${page.version}. It loads nothing and sends nothing. Its numbers are those of tmpwarden scan --json at that moment.`];
  if (page.timer) words.push(`Timer: ${page.timer}.`);
  byId("foot").append(...words.map((each) => el("p", {}, each)));
  if (page.warnings.length) byId("foot").prepend(el("ul", { class: "warnings" }, page.warnings.map((each) => el("li", {}, each))));
}

drawFrame();
drawSpace();
startFound();
startMap();
startUsage();
drawOthers();
drawContents();
drawFoot();

// On paper nobody can ask for more rows: fifty of them, and every table opened.
addEventListener("beforeprint", () => { document.querySelectorAll("details").forEach((each) => { each.open = true; }); });
