"""The view, driven by Textual's pilot: keys in, files and text out."""

import asyncio
import os
import subprocess
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from processes.leftovers import carrying, program, scratch_of_the_dead
from support import planted
from support.command import data
from tmpwarden.cli.call import Call

pytest.importorskip("textual", reason="needs the program textual: make dev installs it")
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tmpwarden.cli.ui import app as app_module
from tmpwarden.cli.ui import units as units_module
from tmpwarden.cli.ui.app import Snapshot, View
from tmpwarden.cli.ui.forest import Forest, TreeLine
from tmpwarden.cli.ui.keys import Question, TextScreen
from tmpwarden.cli.ui.units import Units

_LIMIT_S = 60


def view(*, only_removable: bool = False) -> View:
    return View(Call(now_ns=lambda: time.time_ns() + planted.DAYS * 10**9), only_removable=only_removable)


def drive(app: View, steps: Callable[[Any], Awaitable[None]], size: tuple[int, int] = (80, 24)) -> None:
    async def driven() -> None:
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.forest is not None)
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


def roots(app: View) -> tuple[TreeLine, ...]:
    return app.forest.roots if app.forest is not None else ()


def paths(app: View) -> list[str | None]:
    return [unit.path for unit in app.forest.units.values()] if app.forest is not None else []


def open_all(app: View) -> None:
    app.opened |= {node.key for root in roots(app) for node in (root, *root.children)}
    assert app.forest is not None
    app.show(app.forest)


async def go_to(pilot: "Pilot[int]", app: View, path: Path) -> None:
    """Open everything and put the cursor on a path."""
    tree = app.query_one(Units)
    open_all(app)
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
        await until(pilot, lambda: "Remove 1 item" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: not isinstance(app.screen, Question))
        assert marked.exists()
        await answer_yes(pilot, app, "c")
        await until(pilot, lambda: not marked.exists() and not app.is_busy)
        assert other.exists()
        await until(pilot, lambda: "Removed 1 item" in app.status_line)
        await answer_yes(pilot, app, "u")
        await until(pilot, lambda: marked.exists() and "Brought back" in app.status_line)

    drive(app, steps)


async def go_to_line(pilot: "Pilot[int]", app: View, title: str) -> None:
    """Put the cursor on the line of this title."""
    tree = app.query_one(Units)
    await until(pilot, lambda: title in {line.title for root in roots(app) for line in root.lines()})
    open_all(app)
    await pilot.press("home")
    for _ in range(tree.last_line + 2):
        here = app.here()
        if here is not None and here.title.startswith(title):
            return
        before = tree.cursor_line
        await pilot.press("down")
        await until(pilot, lambda: tree.cursor_line != before or tree.cursor_line == tree.last_line)  # noqa: B023
    raise AssertionError(f"{title} is not in the tree")


def strangers(root: Path) -> list[Path]:
    made = [root / "orch-17", root / "orch-18"]
    for each in made:
        each.mkdir(mode=0o700)
        (each / "data").write_bytes(b"x" * 30_000)
    return made


def test_what_is_not_recognised_is_marked_by_its_group_and_cleaned(own_world: Path) -> None:
    unused, used = strangers(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to_line(pilot, app, "orch-* (2)")
        await pilot.press("space")
        await until(pilot, lambda: [pin.path for pin in app.marks.values()] == [str(unused)])
        await until(pilot, lambda: app.mark_counts.summary.startswith("marked: 1 item"))
        await answer_yes(pilot, app, "c")
        await until(pilot, lambda: not app.is_busy and "Removed 1 item" in app.status_line)
        await answer_yes(pilot, app, "u")
        await until(pilot, lambda: unused.exists())

    with subprocess.Popen(["sleep", "60"], cwd=used) as worker:
        drive(app, steps)
        worker.kill()
    assert used.exists()


def test_a_group_that_is_not_recognised_opens_into_its_items_and_can_be_adopted(own_world: Path) -> None:
    unused, _ = strangers(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await pilot.press("p")
        await until(pilot, lambda: "Only a group" in app.status_line)
        await go_to_line(pilot, app, "orch-* (2)")
        await pilot.press("enter")
        await until(pilot, lambda: str(unused) in paths(app))
        await until(pilot, lambda: "not recognised, unused" in screen_text(app))
        await answer_yes(pilot, app, "p")
        await until(pilot, lambda: app.status_line.startswith("Adopted"))
        await until(pilot, lambda: "adopted" in {line.title for root in roots(app) for line in root.lines()})

    drive(app, steps)
    assert [each["name"] for each in data("adopt")["rows"]] == ["orch\\-.+"]


def test_why_stands_beside_each_item_at_80_columns_and_below_the_tree_in_full(own_world: Path) -> None:
    planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        open_all(app)
        await until(pilot, lambda: "removable: no process" in screen_text(app))
        await pilot.press("down", "down")
        await until(pilot, lambda: "no process of its session is left" in screen_text(app))

    drive(app, steps, (80, 24))


@pytest.mark.parametrize("width", [120, 80, 40])
def test_a_title_stands_above_its_column(own_world: Path, width: int) -> None:
    planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        open_all(app)
        await until(pilot, lambda: " 9d " in screen_text(app) or width < 60)
        await until(pilot, lambda: "KB" in screen_text(app))
        lines = screen_text(app).splitlines()
        title = next(line for line in lines if "SIZE" in line)
        amounts = {line.index(" KB") + len(" KB") for line in lines if " KB " in line}
        assert amounts == {title.index("SIZE") + len("SIZE")}
        if width >= 60:
            why = next(line for line in lines if "removable: " in line)
            assert why.index("removable") == title.index("REMOVABLE")

    drive(app, steps, (width, 24))


def test_a_spinner_turns_until_the_first_look_is_there(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on, real = threading.Event(), app_module.look
    monkeypatch.setattr(app_module, "look", lambda *given: may_go_on.wait(_LIMIT_S) and real(*given))
    app = view()

    async def driven() -> None:
        async with app.run_test(size=(80, 24)) as pilot:
            for sign in "|/-\\":
                await until(pilot, lambda: f"{sign} Checking" in screen_text(app))  # noqa: B023
            may_go_on.set()
            await until(pilot, lambda: app.forest is not None)

    try:
        asyncio.run(driven())
    finally:
        may_go_on.set()


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
        assert "changed after it was checked" in " ".join(app.screen.lines)  # type: ignore[attr-defined]
        assert marked.exists()

    drive(app, steps)


def test_a_look_that_ends_while_the_view_closes_breaks_nothing(own_world: Path) -> None:
    marked = planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to(pilot, app, marked)
        assert app.seen is not None
        await app.query_one(Units).remove()
        app.show(Forest.of([], app.seen.spaces, "", only_removable=False, rest=app.seen.rest))

    drive(app, steps)


def test_why_keep_filter_and_help_answer_and_what_is_kept_cannot_be_marked(own_world: Path) -> None:
    unit, other = planted.session(own_world / "tmp", 50_000), planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await go_to(pilot, app, unit)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert any("no process of its session" in line for line in app.screen.lines)  # type: ignore[attr-defined]
        await pilot.press("escape")
        await answer_yes(pilot, app, "k")
        await until(pilot, lambda: app.status_line.startswith("Kept"))
        assert data("keep")["paths"] == [str(unit)]
        await until(pilot, lambda: any(each.state == "kept" for root in roots(app) for each in root.units()))
        await pilot.press("space")
        await until(pilot, lambda: "keep list" in app.status_line)
        assert app.marks == {}
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.focused, Input))
        await pilot.press(*other.name[:8], "enter")
        await until(pilot, lambda: paths(app) == [str(other)])
        await pilot.press("escape")
        await until(pilot, lambda: app.words == "")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))
        assert "bring back" in " ".join(app.screen.lines)  # type: ignore[attr-defined]

    drive(app, steps)


def test_it_sees_what_agents_do_while_it_is_open(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tmpwarden.cli.ui import app as module

    monkeypatch.setattr(module, "_SOONEST_S", 0.05)
    monkeypatch.setattr(module, "_REST", 0)
    planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        new = planted.session(own_world / "tmp")
        await until(pilot, lambda: str(new) in paths(app))
        os.rename(new, own_world / "gone")
        await until(pilot, lambda: str(new) not in paths(app))

    drive(app, steps)


_HOSTILE = ("-[red]x", "-[bold", "-\x1b[31m", "-[link=x]", "-[@click=app.quit]q", "-" + "ü" * 40)


def test_names_from_disk_are_text_and_every_screen_fits(own_world: Path) -> None:
    home = own_world / "tmp" / f"claude-{os.geteuid()}"
    for number, word in enumerate(_HOSTILE):
        unit = planted.session(own_world / "tmp", name=f"0000000{number}-2222-3333-4444-555555555555")
        (home / word).mkdir(mode=0o700)
        unit.rename(home / word / unit.name)
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        app.say("[red]not markup[/red] [/]")
        open_all(app)
        for width, height in ((160, 50), (80, 24), (40, 12)):
            await pilot.resize_terminal(width, height)
            await until(pilot, lambda: app.query_one("#full", Static).size.width <= width)  # noqa: B023
            words = ("-[red]x", "-[bold", "-[link=x]", "-[@click=") if width > 80 else ("claude",)
            await until(pilot, lambda: all(w in screen_text(app) for w in ("[red]not markup", *words)))  # noqa: B023
            shown = screen_text(app)
            assert "\x1b[31m" not in shown
            assert all(len(line) <= width for line in shown.splitlines())

    drive(app, steps, (160, 50))


def test_pick_shows_what_may_go_and_who_quits_while_it_cleans_leaves_between_two_things(own_world: Path) -> None:
    kept, *units = [planted.session(own_world / "tmp") for _ in range(4)]
    data("keep", str(kept))
    app = view(only_removable=True)

    async def steps(pilot: "Pilot[int]") -> None:
        assert set(map(str, units)) <= set(paths(app))
        assert str(kept) not in paths(app)
        await pilot.press("a")
        await until(pilot, lambda: set(map(str, units)) <= {pin.path for pin in app.marks.values()})
        await answer_yes(pilot, app, "c")
        await until(pilot, lambda: app.is_busy or "Removed" in app.status_line)
        app.simulate_key("q")  # the pilot would wait for an app that is about to end
        end = time.monotonic() + _LIMIT_S
        while app.return_code is None and time.monotonic() < end:
            await asyncio.sleep(0.02)
        assert app.return_code == 0

    drive(app, steps)
    assert kept.exists()
    left = sum(unit.exists() for unit in units)
    assert left + len([each for each in data("log")["entries"] if each["undoable"]]) == 3


def test_a_process_that_outlived_its_agent_is_shown_and_ends_after_a_yes(own_world: Path, tmp_path: Path) -> None:
    scratch_of_the_dead(own_world / "tmp")
    app = view()
    with program(tmp_path, ["node", "node_modules/.bin/playwright-mcp", "--headless"], carrying()) as left:

        async def steps(pilot: "Pilot[int]") -> None:
            await pilot.press("o")
            await until(pilot, lambda: isinstance(app.screen, Question))
            assert str(left.pid) in " ".join(app.screen.lines)  # type: ignore[attr-defined]
            await until(pilot, lambda: "End 1 process" in screen_text(app))
            await pilot.press("n")
            await until(pilot, lambda: len(app.screen_stack) == 1)
            assert left.is_alive()
            await answer_yes(pilot, app, "o")
            await until(pilot, lambda: not left.is_alive())

        drive(app, steps)


def test_many_children_come_page_by_page_and_keys_are_heard_while_a_filter_is_looked_up(
    own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units_module, "_PAGE", 2)
    made = [planted.session(own_world / "tmp", 1000 + number) for number in range(5)]
    app = view()
    started, may_go_on = threading.Event(), threading.Event()
    real = Forest.of

    def slow(*given: Any) -> Forest:
        started.set()
        assert may_go_on.wait(_LIMIT_S)
        return real(*given)

    async def steps(pilot: "Pilot[int]") -> None:
        open_all(app)
        await until(pilot, lambda: "and 3 smaller ones" in screen_text(app))
        app.query_one(Units).focus()
        await pilot.press("end", "enter")
        await until(pilot, lambda: "and 1 smaller ones" in screen_text(app))
        monkeypatch.setattr(Forest, "of", slow)
        await pilot.press("slash", *made[0].name[:8], "enter")
        await until(pilot, started.is_set)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, TextScreen))  # while the forest is still growing
        assert len(paths(app)) == 5
        may_go_on.set()
        await pilot.press("escape")
        await until(pilot, lambda: paths(app) == [str(made[0])])

    try:
        drive(app, steps)
    finally:
        may_go_on.set()


def test_nothing_writes_all_that_was_found_out_for_a_debugger(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is described by its arguments unless it says what it is: seconds on the loop at 100,000 findings."""
    planted.session(own_world / "tmp")
    written: list[str] = []
    for noun in (Snapshot, TreeLine, Forest):
        monkeypatch.setattr(noun, "__repr__", lambda self: written.append(type(self).__name__) or "")
    monkeypatch.setattr(app_module, "MANY", 0)  # marks are counted in a thread
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await pilot.press("a")
        await until(pilot, lambda: app.mark_counts.summary.startswith("marked: 1 item"))

    drive(app, steps)
    assert written == []


def test_a_question_gives_each_thing_one_line_with_both_its_ends(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    app = view()

    async def steps(pilot: "Pilot[int]") -> None:
        await pilot.press("a", "c")
        await until(pilot, lambda: isinstance(app.screen, Question))
        await until(pilot, lambda: "y yes" in screen_text(app))
        (line,) = (line for line in screen_text(app).splitlines() if unit.name[-12:] in line)
        assert "KB  /" in line

    drive(app, steps)
