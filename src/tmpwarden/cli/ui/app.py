"""`tmpwarden ui`: the tree, live; mark, clean, why, keep, undo, orphans. Only here and in its widgets is Textual."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.widgets import Footer, Input, Static, Tree

from ...errors import TmpwardenError
from ...model.request import Request
from ...oskit.files.space import percent_used
from ...text import plural, shown
from .. import render
from ..call import Call
from . import keys
from .forest import Key, TreeLine, grown
from .look import Snapshot, look
from .pins import Pin, pinned
from .units import Units

_SOONEST_S = 3.0  # between two looks
_REST = 5  # and this many times as long as one takes


class View(App[int]):
    TITLE = "tmpwarden"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #full, #columns { height: 1; padding: 0 1; }
    #full { background: $panel; }
    #columns { color: $text-muted; text-align: right; padding: 0 2; }
    #units { height: 1fr; scrollbar-size-vertical: 1; padding: 0 0; }
    #detail { height: 4; padding: 0 1; border-top: solid $panel; }
    #said { height: 1; padding: 0 1; text-style: bold; }
    #filter { height: 3; display: none; }
    #filter.is-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "mark", "Mark"),
        Binding("c", "clean", "Clean"),
        Binding("w", "why", "Why"),
        Binding("k", "keep", "Keep"),
        Binding("u", "undo", "Undo"),
        Binding("o", "orphans", "Orphans"),
        Binding("slash", "filter", "Filter", key_display="/"),
        Binding("a", "all", "All", show=False),
        Binding("r", "refresh", "Refresh", show=False),
        Binding("g", "going", "Only what may go", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("escape", "unfilter", "All", show=False),
    ]

    def __init__(self, call: Call, *, only_going: bool = False, request: Request | None = None) -> None:
        super().__init__()
        self.call, self.only_going, self.words = call, only_going, ""
        self.request = request or Request(roots=call.roots, config_file=call.config_file)
        self.seen: Snapshot | None = None
        self.roots: list[TreeLine] = []
        self.marks: dict[Key, Pin] = {}
        self.opened: set[Key] = set()
        self.said, self.is_busy, self.is_looking = "Looking ...", False, False
        self.drawn: object = None
        self.stop, self.leaves_with = asyncio.Event(), -1  # a clean ends between two units; then the exit status

    def compose(self) -> ComposeResult:
        yield from (Static(id="full"), Static(id="columns"))
        yield Units(self.is_marked, self.call.now_ns)
        yield Static(id="detail")
        yield Static(id="said")
        yield Input(placeholder="words of a path, agent, kind or session", id="filter")
        yield Footer()

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):  # the terminal is given back as it was
            loop.add_signal_handler(number, keys.leave, self, 128 + number)
        self.query_one(Units).focus()
        self.action_refresh()

    def action_refresh(self) -> None:
        if not (self.is_looking or self.is_busy):
            self.is_looking = True
            self.look_around()

    @work(thread=True, exclusive=True, group="look")
    def look_around(self) -> None:
        try:
            seen: Snapshot | str = look(self.request, self.call.now_ns)
        except (TmpwardenError, OSError) as error:
            seen = str(error)
        self.call_from_thread(self.take_in, seen)

    def take_in(self, seen: Snapshot | str) -> None:
        self.is_looking = False
        rest_s = _SOONEST_S
        if isinstance(seen, Snapshot):
            is_first, self.seen = self.seen is None, seen
            rest_s = max(_SOONEST_S, _REST * seen.took_s)
            self.said = "? shows all keys" if is_first else self.said
            self.draw(is_first=is_first)
        else:
            self.say(seen)
        self.set_timer(rest_s, self.action_refresh)

    def draw(self, *, is_first: bool = False) -> None:
        """The tree is drawn anew only where something has changed: a person may be reading it."""
        if self.seen is None:
            return
        self.roots = grown(self.seen.verdicts, self.seen.spaces, words=self.words, only_going=self.only_going)
        units = {unit.key: unit for root in self.roots for unit in root.units()}
        self.marks = {key: pin for key, pin in self.marks.items() if self.words or key in units}
        if is_first or self.words:
            self.opened |= {root.key for root in self.roots if root.children}
            self.opened |= {agent.key for root in self.roots for agent in root.children} if self.words else set()
        drawn = [(key, unit.bytes, unit.state) for key, unit in units.items()]
        tree = self.query_one(Units)
        if drawn != self.drawn or is_first:
            here = tree.cursor_node.data.key if tree.cursor_node and tree.cursor_node.data else None
            tree.show(self.roots, self.opened, here)
            self.drawn = drawn
        self.tell()

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[TreeLine]) -> None:
        if event.node.data:
            self.opened.add(event.node.data.key)

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[TreeLine]) -> None:
        if event.node.data:
            self.opened.discard(event.node.data.key)

    def on_tree_node_highlighted(self, _: Tree.NodeHighlighted[TreeLine]) -> None:
        self.tell()

    def say(self, sentence: str) -> None:
        self.said = sentence
        self.tell()

    def tell(self) -> None:
        try:
            self.query_one("#full", Static).update(Text(self.summary(), no_wrap=True, overflow="ellipsis"))
            tree = self.query_one(Units)
            tree.redraw()
            self.query_one("#columns", Static).update(Text(tree.titles))
            self.query_one("#detail", Static).update(Text(self.details()))
            self.query_one("#said", Static).update(Text(self.said, no_wrap=True, overflow="ellipsis"))
        except NoMatches:
            pass  # a question lies over it

    def summary(self) -> str:
        if self.seen is None:
            return self.said
        rooms = [f"{shown(each.path)} {percent_used(each)}%" for each in self.seen.spaces]
        parts = [" ".join(rooms), plural(self.seen.sessions, "live session")]
        parts += [f"undo: {self.seen.undoable}"] * (self.seen.undoable > 0)
        parts += [f"filter: {self.words}"] * bool(self.words) + ["only what may go"] * self.only_going
        marked = self.marked()
        parts += [f"marked: {render.counted([v for node in marked for v in node.verdicts])}"] * bool(marked)
        return "  |  ".join(parts)

    def details(self) -> str:
        node = self.here()
        if node is None:
            return "No agent left anything here." if self.seen and not self.drawn else ""
        where = shown(node.path) if node.path else node.title
        return f"{where}\n{node.why}"

    def on_resize(self) -> None:
        self.call_after_refresh(self.tell)

    def here(self) -> TreeLine | None:
        cursor = self.query_one(Units).cursor_node
        return cursor.data if cursor is not None else None

    def marked(self) -> list[TreeLine]:
        return [unit for root in self.roots for unit in root.units() if unit.key in self.marks]

    def is_marked(self, node: TreeLine) -> bool | None:
        """None: some of it."""
        if node.is_unit:
            return node.key in self.marks
        count = len(self.marks.keys() & node.offered)
        return None if 0 < count < len(node.offered) else bool(count)

    def action_mark(self) -> None:
        node = self.here()
        if node is not None:
            self.mark([unit for unit in node.units() if unit.can_be_marked], node)

    def action_all(self) -> None:
        self.mark([unit for root in self.roots for unit in root.units() if unit.going and unit.can_be_marked], None)

    def mark(self, units: Sequence[TreeLine], node: TreeLine | None) -> None:
        if not units:
            self.say(f"It stays: {node.why}." if node is not None and node.is_unit else "Nothing here may go.")
            return
        if all(unit.key in self.marks for unit in units):
            for unit in units:
                del self.marks[unit.key]
        else:
            self.marks |= {unit.key: pinned(unit.verdicts) for unit in units}
        self.say("c cleans what is marked." if self.marks else "Nothing is marked.")

    action_clean, action_why, action_keep = keys.clean, keys.why, keys.keep
    action_undo, action_orphans, action_quit, action_help = keys.undo, keys.orphans, keys.quit_view, keys.tell_keys

    def after(self, lines: list[str]) -> None:
        self.say(lines[-1])
        self.action_refresh()

    @work(thread=True, group="deed")
    def in_thread(self, deed: Callable[[], list[str]], then: Callable[[list[str]], object]) -> None:
        """What takes a moment, off the loop; an error is a sentence on the screen."""
        try:
            lines = deed()
        except (TmpwardenError, OSError) as error:
            self.call_from_thread(self.say, str(error))
        else:
            self.call_from_thread(then, lines)

    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("is-open")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.words = event.value.strip()
        self.draw()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.query_one("#filter").remove_class("is-open")
        self.query_one(Units).focus()

    def action_unfilter(self) -> None:
        field = self.query_one("#filter", Input)
        field.value = ""
        field.remove_class("is-open")
        self.query_one(Units).focus()

    def action_going(self) -> None:
        self.only_going = not self.only_going
        self.draw()
