"""The view, driven by Textual's pilot: keys in, files and text out."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from support import planted
from support.command import data
from tmpwarden.cli.call import Call

pytest.importorskip("textual", reason="needs the program textual: make dev installs it")
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tmpwarden.cli.ui.app import View
from tmpwarden.cli.ui.screens import Question, TextScreen
from tmpwarden.cli.ui.units import Units

_LIMIT_S = 60


def view(*, only_going: bool = False) -> View:
    return View(Call(now_ns=lambda: time.time_ns() + planted.DAYS * 10**9), only_going=only_going)


def drive(app: View, steps: Callable[[Any], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    async def driven() -> None:
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.seen is not None)
            await steps(pilot)

    asyncio.run(driven())


async def until(pilot: "Pilot[int]", holds: Callable[[], bool]) -> None:
    """Wait for the event itself."""
    end = time.monotonic() + _LIMIT_S
    while not holds():
        assert time.monotonic() < end, "it did not come to pass"
        await pilot.pause(0.02)


async def answer_yes(pilot: "Pilot[int]", app: View, key: str) -> None:
    """Press a key that asks; say yes once it has asked."""
    await until(pilot, lambda: len(app.screen_stack) == 1)
    await pilot.press(key)
    await until(pilot, lambda: isinstance(app.screen, Question))
    await pilot.press("y")
    await until(pilot, lambda: not isinstance(app.screen, Question))


def screen_text(app: View) -> str:
    """All that stands on the screen, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip)[:width] for strip in lines[:height])


async def go_to(pilot: "Pilot[int]", app: View, path: Path) -> None:
    """Open everything and put the cursor on a path."""
    tree = app.query_one(Units)
    app.opened |= {node.key for root in app.roots for node in (root, *root.children)}
    app.draw(is_first=True)
    for _ in range(tree.last_line + 2):
        here = app.here()
        if here is not None and here.path == str(path) and here.is_unit:
            return
        before = tree.cursor_line
        await pilot.press("down")
        await until(pilot, lambda: tree.cursor_line != before or tree.cursor_line == tree.last_line)  # noqa: B023
    raise AssertionError(f"{path} is not in the tree")


def test_what_is_marked_is_cleaned_after_one_question_and_comes_back(own_world: Path) -> None:
    marked, other = planted.session(own_world / "tmp", 50_000), planted.session(own_world / "tmp", 10_000)
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to(pilot, app, marked)
        await pilot.press("space")
        await until(pilot, lambda: "[x]" in screen_text(app))
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, Question))
        assert "Remove 1 item" in screen_text(app)
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Question))
        assert marked.exists()
        await answer_yes(pilot, app, "c")
        await until(pilot, lambda: not marked.exists() and not app.is_busy)
        assert other.exists()
        await until(pilot, lambda: "Removed 1 item" in app.said)
        await answer_yes(pilot, app, "u")
        await until(pilot, lambda: marked.exists() and "Brought back" in app.said)

    drive(app, steps)


def test_what_changed_after_it_was_marked_stays_and_is_told(own_world: Path) -> None:
    marked = planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to(pilot, app, marked)
        await pilot.press("space")
        await until(pilot, lambda: bool(app.marks))
        marked.rename(own_world / "aside")
        planted.session(own_world / "tmp", name=marked.name)
        await answer_yes(pilot, app, "c")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "changed since it was judged" in " ".join(app.screen.lines)  # type: ignore[attr-defined]
        assert marked.exists()

    drive(app, steps)


def test_why_keep_filter_and_help_answer(own_world: Path) -> None:
    unit, other = planted.session(own_world / "tmp", 50_000), planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to(pilot, app, unit)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert any("no process carries its session" in line for line in app.screen.lines)  # type: ignore[attr-defined]
        await pilot.press("escape")
        await answer_yes(pilot, app, "k")
        await until(pilot, lambda: app.said.startswith("Kept"))
        assert data("keep")["paths"] == [str(unit)]
        await until(pilot, lambda: any(each.state == "kept" for root in app.roots for each in root.units()))
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press(*other.name[:8], "enter")
        await until(pilot, lambda: [u.path for r in app.roots for u in r.units()] == [str(other)])
        await pilot.press("escape")
        await until(pilot, lambda: app.words == "")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "bring back" in " ".join(app.screen.lines)  # type: ignore[attr-defined]

    drive(app, steps)


def test_a_unit_that_is_kept_says_why_instead_of_being_marked(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    data("keep", str(unit))
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to(pilot, app, unit)
        await pilot.press("space")
        await until(pilot, lambda: "keep list" in app.said)
        assert app.marks == {}

    drive(app, steps)


def test_it_sees_what_agents_do_while_it_is_open(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tmpwarden.cli.ui import app as module

    monkeypatch.setattr(module, "_SOONEST_S", 0.05)
    monkeypatch.setattr(module, "_REST", 0)
    planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        new = planted.session(own_world / "tmp")
        await until(pilot, lambda: str(new) in [u.path for r in app.roots for u in r.units()])
        os.rename(new, own_world / "gone")
        await until(pilot, lambda: str(new) not in [u.path for r in app.roots for u in r.units()])

    drive(app, steps)


_HOSTILE = ("-[red]x", "-[bold", "-\x1b[31m", "-[link=x]", "-[@click=app.quit]q", "-" + "ü" * 40)


@pytest.mark.parametrize("size", [(80, 24), (40, 12), (160, 50)])
def test_names_from_disk_are_text_and_the_screen_fits(own_world: Path, size: tuple[int, int]) -> None:
    home = own_world / "tmp" / f"claude-{os.geteuid()}"
    for number, word in enumerate(_HOSTILE):
        unit = planted.session(own_world / "tmp", name=f"0000000{number}-2222-3333-4444-555555555555")
        (home / word).mkdir(mode=0o700)
        unit.rename(home / word / unit.name)
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        app.say("[red]not markup[/red] [/]")
        app.opened |= {node.key for root in app.roots for node in (root, *root.children)}
        app.draw(is_first=True)
        await until(pilot, lambda: "[red]not markup" in screen_text(app))
        words = ("-[red]x", "-[bold", "-[link=x]", "-[@click=") if size[0] >= 80 else ("claude",)
        await until(pilot, lambda: all(word in screen_text(app) for word in words))
        shown = screen_text(app)
        assert "\x1b[31m" not in shown
        assert all(len(line) <= size[0] for line in shown.splitlines())
        await pilot.resize_terminal(60, 20)
        await until(pilot, lambda: app.query_one("#full", Static).size.width <= 60)

    drive(app, steps, size)


def test_pick_shows_only_what_may_go(own_world: Path) -> None:
    kept, going = planted.session(own_world / "tmp"), planted.session(own_world / "tmp")
    data("keep", str(kept))
    app = view(only_going=True)

    async def steps(pilot: "Pilot[int]") -> None:
        paths = [u.path for r in app.roots for u in r.units()]
        assert str(going) in paths
        assert str(kept) not in paths
        await pilot.press("a")
        await until(pilot, lambda: str(going) in {pin.path for pin in app.marks.values()})

    drive(app, steps)


def test_who_quits_while_it_cleans_leaves_when_it_has_stopped_between_two_things(own_world: Path) -> None:
    units = [planted.session(own_world / "tmp") for _ in range(3)]
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await pilot.press("a")
        await until(pilot, lambda: len(app.marks) >= 3)
        await answer_yes(pilot, app, "c")
        await until(pilot, lambda: app.is_busy or "Removed" in app.said)
        app.simulate_key("q")  # the pilot would wait for an app that is about to end
        end = time.monotonic() + _LIMIT_S
        while app.return_code is None and time.monotonic() < end:
            await asyncio.sleep(0.02)
        assert app.return_code == 0

    drive(app, steps)
    assert all(unit.exists() or not list(unit.parent.glob(f"{unit.name}*")) for unit in units)
    left = sum(unit.exists() for unit in units)
    assert left + len([each for each in data("log")["entries"] if each["undoable"]]) == 3
