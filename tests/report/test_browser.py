"""The report in a real Chromium: looked at, clicked through, typed into, with the worst names and the most findings."""

import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.browser import CHROMIUM, launched
from support.reports import HOSTILE, scan_document
from tmpwarden.cli.call import Call
from tmpwarden.cli.commands import report as command
from tmpwarden.cli.wording import explained_in
from tmpwarden.report import page, sent
from tmpwarden.text import shown

pytestmark = pytest.mark.browser
SCHEMES, WIDTHS = ("light", "dark"), (360, 390, 768, 1280)
MANY = 100_000


class Look:
    """A page with everything that it said and asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"file://{file}")

    def __enter__(self) -> "Look":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()
        assert self.said == []
        assert [url for url in self.asked if not url.startswith("data:")] == self.asked[:1], "itself and nothing else"

    def __call__(self, script: str, *args: Any) -> Any:
        return self.page.evaluate(script, *args)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs the program playwright")
    if not Path(CHROMIUM).exists():
        pytest.skip("needs the program chromium")
    with sync_api.sync_playwright() as playwright, launched(playwright) as browser:
        yield browser


def drawn(place: Path, document: dict[str, Any], **more: Any) -> Path:
    """The page of a host that sent this, with what is known only here."""
    told, findings = sent.read(json.dumps(document))
    for each in findings:
        each["why"] = explained_in(each)
    told |= more
    told["headline"] = page.sentence(told["roots"], told["totals"], "tmpwarden clean")
    file = place / "report.html"
    file.write_bytes(page.written(told | command._frame(Call(), told), findings))
    return file


def besides(name: str = "shop") -> dict[str, Any]:
    """What a report of this host holds beside the scan; `name` stands wherever somebody else chose it."""
    now, told = int(time.time()), shown(name)
    used, hours = 10_000_000, range(60, 0, -1)
    waiting = {"id": told, "path": told, "row": told, "bytes": 5, "entries": 1, "reason": told, "keep_seconds": 86400}
    process = {"pid": 1, "agent": told, "age_seconds": 5, "memory_bytes": 5, "ports": [80], "verdict": "end"}
    return {
        "host": told,
        "user": told,
        "timer": told,
        "saved": {"bytes": 9_000_000, "entries": 30, "runs": 4},
        "history": {
            "roots": {"/tmp": [[now - hour * 3600, used, used, 5, 5] for hour in hours]},
            "freed": [[now - hour * 3600, 9_000_000 // hour] for hour in hours],
        },
        "sessions": [{"agent": told, "pid": 4242, "session": told, "scratch": told}],
        "quarantine": [waiting | {"time": "2026-11-16T07:00:00Z"}],
        "orphans": [process | {"reason": told, "command": told}],
        "worktrees": [
            {"bytes": 5, "path": told, "branch": told, "verdict": "keep", "reason": told, "detail": told},
        ],
        "rescued": [{"id": told, "path": told, "created": told, "bytes": 5, "repositories": 1, "files": 2}],
        "state": [{"what": told, "state": told, "where": told}],
    }


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return drawn(tmp_path_factory.mktemp("ordinary"), scan_document(400), **besides())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every text that comes from disk, from another process or from another host is an attack."""
    document = scan_document(400, hostile_every=2)
    for number, each in enumerate(document["findings"]):
        name = HOSTILE[number % len(HOSTILE)]
        each |= {"agent": name, "litter": name, "detail": name} | (
            {"reason": name} if each["verdict"] == "keep" else {}
        )
        each["owner"] = {"state": name, "session": name}
    group = {"root": "/tmp", "count": 1, "bytes": 4000, "entries": 1, "newest_seconds": 1}
    document["unmatched"] = [group | {"shape": name} for name in HOSTILE]
    document["roots"].append(document["roots"][0] | {"path": f"/{HOSTILE[2]}", "filesystem": HOSTILE[1]})
    return drawn(tmp_path_factory.mktemp("hostile"), document, **besides(HOSTILE[2]))


@pytest.mark.parametrize(("scheme", "width"), list(itertools.product(SCHEMES, WIDTHS)))
def test_it_draws_without_a_word_and_fits(browser: Any, ordinary: Path, scheme: str, width: int) -> None:
    with Look(browser, ordinary, viewport={"width": width, "height": 844}, color_scheme=scheme) as look:
        assert look("document.documentElement.scrollWidth <= innerWidth")
        sections = look(
            "[...document.querySelectorAll('main section[id]')].filter(s => s.checkVisibility()).map(s => s.id)"
        )
        assert set(sections) >= {
            "space",
            "facts",
            "map",
            "usage",
            "stays",
            "found",
            "sessions",
            "quarantine",
            "rescued",
            "state",
        }
        assert look("document.querySelectorAll('#rows tbody tr:not(.group)').length") == 25


CONTRAST = """() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v / 255 <= .03928 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = rgb(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] > .99) return colour;
    }
    return [255, 255, 255];
  };
  const speaks = (node) => [...node.childNodes].some((each) => each.nodeType === 3 && each.data.trim());
  const bad = [];
  for (const node of document.querySelectorAll('body *')) {
    if (!speaks(node) || !node.checkVisibility() || node.closest('script, style, svg, .hushed, .skip')) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push(`${node.tagName}.${node.className} ${node.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return bad;
}"""


def test_the_name_of_an_agent_stands_on_the_left_above_its_items_and_below_the_navigation(
    browser: Any, ordinary: Path
) -> None:
    with Look(browser, ordinary) as look:
        assert look("getComputedStyle(document.querySelector('#rows tr.group th')).textAlign") == "left"
        look("document.querySelector('#found').scrollIntoView({behavior: 'instant'})")
        covered = "document.querySelector('#found h2').getBoundingClientRect().top"
        assert look(f"{covered} >= document.querySelector('#contents').getBoundingClientRect().bottom - 1")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_word_can_be_read(browser: Any, ordinary: Path, scheme: str) -> None:
    with Look(browser, ordinary, color_scheme=scheme) as look:
        assert look(CONTRAST) == []


def test_every_control_has_a_name_and_every_picture_words(browser: Any, ordinary: Path) -> None:
    with Look(browser, ordinary) as look:
        nameless = look("""[...document.querySelectorAll('button, a, input, select')]
            .filter((each) => !(each.ariaLabel || each.textContent.trim() || each.labels?.[0]?.textContent.trim()))
            .map((each) => each.outerHTML)""")
        assert nameless == []
        assert look(
            "[...document.querySelectorAll('[role=img]')].every((each) => each.getAttribute('aria-label').length > 10)"
        )
        assert look("document.querySelectorAll('h1').length") == 1
        assert look("[...document.querySelectorAll('table')].every((each) => each.querySelector('th[scope]'))")


def test_names_from_disk_can_do_nothing(browser: Any, hostile: Path) -> None:
    with Look(browser, hostile) as look:
        assert look("document.querySelectorAll('main script, main img, main iframe, main style').length") == 0
        assert look("document.querySelectorAll('[onerror], [onfocus], [onclick]').length") == 0
        for name in HOSTILE:
            assert shown(f"/tmp/{name}").removeprefix("$'/tmp/").removesuffix("'")[:20] in look(
                "document.body.textContent"
            )
        _click_everything(look)


def test_the_policy_stops_what_the_script_does_not(browser: Any, ordinary: Path) -> None:
    """If a name ever became markup, it still would not run, nor reach anybody."""
    with Look(browser, ordinary) as look:
        tried = look("""() => {
          const tries = {
            markup: () => { document.body.innerHTML += '<img src=x>'; },
            script: () => {
              const made = document.createElement('script');
              made.textContent = 'window.ran = 1';
              document.body.append(made);
            },
          };
          const done = [];
          for (const [name, go] of Object.entries(tries)) {
            try { go(); done.push(name); } catch { /* as it should */ }
          }
          return [done, window.ran ?? 0];
        }""")
        refusals = ("Content Security Policy", "TrustedHTML", "TrustedScript")
        look.said = [said for said in look.said if not any(words in said for words in refusals)]
        assert tried == [[], 0]


def _click_everything(look: Look) -> None:
    """Every button once, every choice of every list, and then the map down to its units."""
    look("""() => {
      const all = () => document.querySelectorAll('button, summary, input[type=radio]');
      for (let n = 0, most = all().length; n < most; n += 1) all()[n % all().length].click();
      for (const list of document.querySelectorAll('select')) {
        for (const each of list.options) { list.value = each.value; list.dispatchEvent(new Event('change')); }
      }
    }""")
    for _ in range(6):
        look("document.querySelector('#tiles button.tile:not(.open)')?.click()")


def test_it_can_be_clicked_through(browser: Any, ordinary: Path) -> None:
    with Look(browser, ordinary) as look:
        _click_everything(look)


def test_the_map_leads_from_the_root_to_a_unit_and_back_by_keys(browser: Any, ordinary: Path) -> None:
    with Look(browser, ordinary) as look:
        page = look.page
        crumbs = lambda: [each.strip() for each in page.locator("#crumbs > *").all_inner_texts()]  # noqa: E731
        assert crumbs()[0].startswith("/tmp")
        page.locator("#tiles button.tile.open").first.focus()
        page.keyboard.press("Enter")
        assert len(crumbs()) == 2
        inside = page.locator("#count").inner_text()
        assert " in " in inside, "the list shows that part alone"
        first = look("document.activeElement.ariaLabel")
        page.keyboard.press("ArrowRight")
        assert look("document.activeElement.ariaLabel") != first
        page.keyboard.press("Enter")
        for _ in range(len(crumbs()) - 1):
            page.keyboard.press("Escape")
        assert len(crumbs()) == 1
        assert page.locator("#count").inner_text().startswith("400 items,")


def test_filters_and_sorting_show_what_they_say(browser: Any, ordinary: Path) -> None:
    findings = scan_document(400)["findings"]
    with Look(browser, ordinary) as look:
        page = look.page
        count = lambda: page.locator("#count").inner_text()  # noqa: E731
        page.get_by_label("Removable", exact=True).check()
        assert count().startswith(f"{sum(each['verdict'] == 'remove' for each in findings)} items,")
        page.get_by_role("searchbox").fill("codex shop-3/")
        expected = [
            each for each in findings if each["verdict"] == "remove" and "/codex-1000/-work-shop-3/" in each["path"]
        ]
        assert count().startswith(f"{len(expected)} item")
        page.get_by_role("button", name="Show all", exact=True).click()
        page.locator("#rows th button", has_text="Age").click()
        ages = look("[...document.querySelectorAll('#rows tbody td.age')].map((each) => each.textContent)")
        assert ages[0] == _age(max(each["age_seconds"] for each in findings))
        page.locator("#rows th button", has_text="Age").click()
        assert page.locator("#rows th[aria-sort=ascending]").inner_text().startswith("Age")
        page.locator("#more").click()
        assert look("document.querySelectorAll('#rows tbody tr:not(.group)').length") == 125
        page.locator("#rows button.path").first.click()
        assert page.locator("#rows .details code").inner_text().startswith("tmpwarden why /tmp/")


def _age(seconds: int) -> str:
    from tmpwarden.text import duration

    return duration(seconds)


def test_a_hundred_thousand_findings_are_one_page(
    browser: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = scan_document(MANY, hostile_every=997)
    file = drawn(tmp_path, document, **besides())
    assert file.stat().st_size <= page.MOST_BYTES
    with Look(browser, file) as look:
        loaded = look("performance.getEntriesByType('navigation')[0].loadEventEnd")
        times = [look(TYPE, words) for words in ("c", "claude shop-3", "zzz", "e6f1", "")]
        assert [each["count"] for each in times][2:] == [0, times[3]["count"], MANY]
        assert times[1]["count"] == sum("claude" in e["path"] and "shop-3" in e["path"] for e in document["findings"])
        _click_everything(look)
        assert look("document.querySelectorAll('#tiles *').length") < 2_000, "a map is no list"
    told = ", ".join(f"{each['ms']:.0f}" for each in times)
    with capsys.disabled():
        print(
            f"\n{MANY:,} findings, {file.stat().st_size / 1e6:.1f} MB: loaded in {loaded:.0f} ms, filtered in {told} ms"
        )


TYPE = """(words) => {
  const input = document.getElementById('words'), begun = performance.now();
  input.value = words;
  input.dispatchEvent(new Event('input'));
  document.body.offsetHeight;
  const count = document.getElementById('count').textContent.match(/^[\\d,]+/)[0].replaceAll(',', '');
  return { ms: performance.now() - begun, count: +count };
}"""


def test_on_paper_it_is_light_and_has_no_buttons(browser: Any, ordinary: Path) -> None:
    with Look(browser, ordinary, color_scheme="dark") as look:
        look.page.emulate_media(media="print")
        assert look("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert look(CONTRAST) == []
        assert not look(
            "[...document.querySelectorAll('#filters, #theme, .copy, #more')].some((each) => each.checkVisibility())"
        )
        assert look.page.pdf()[:5] == b"%PDF-"


def test_the_theme_can_be_chosen(browser: Any, ordinary: Path) -> None:
    with Look(browser, ordinary, color_scheme="light") as look:
        ground = "getComputedStyle(document.body).backgroundColor"
        light = look(ground)
        for expected in (light, "rgb(20, 22, 26)", light):
            look.page.locator("#theme").click()
            assert look(ground) == expected


def test_what_a_host_sent_has_no_empty_parts(browser: Any, tmp_path: Path) -> None:
    with Look(browser, drawn(tmp_path, scan_document(5), source="scan.json")) as look:
        assert look(
            "[...document.querySelectorAll('main section[id]')].filter(s => s.checkVisibility()).map(s => s.id)"
        ) == ["space", "facts", "map", "stays", "found"]


def test_an_empty_machine_is_told_so(browser: Any, tmp_path: Path) -> None:
    with Look(browser, drawn(tmp_path, scan_document(0), **besides())) as look:
        assert look("document.querySelector('h1').textContent.trim()").endswith("nothing can be removed now.")
