"""`tmpwarden ui`: the tree, live; mark, clean, why, keep, undo, orphans. Only here and in its widgets is Textual."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.widgets import Footer, Input, Static, Tree
from textual.worker import get_current_worker

from ...catalogue.load import load
from ...catalogue.settings import load_settings
from ...errors import TmpwardenError
from ...lazy_dataclass import dataclass, field, replace
from ...lifecycle.living import living_sessions
from ...model.request import Request
from ...model.sweep import Space, Verdict
from ...oskit.files import places
from ...oskit.files.space import percent_used
from ...sweep.compose import prepare
from ...sweep.store import labels
from ...sweep.survey import Survey
from ...text import plural, shown
from ..call import Call
from . import deeds, keys
from .forest import MANY, Forest, Key, MarkCounts, Rest, TreeLine
from .pins import Pin
from .units import Units

_SOONEST_S = 3.0  # between two looks
_REST = 5  # and this many times as long as one takes
_TYPING_S = 0.15  # a filter is looked up when nobody has typed for so long
_SPINS, _SPIN_S = "|/-\\", 0.2
_TURN_S = 0.0005  # how long a look at 100,000 things may hold the interpreter while a key waits


@dataclass(frozen=True, slots=True)
class Snapshot:
    verdicts: tuple[Verdict, ...]
    spaces: tuple[Space, ...]
    sessions: int  # alive
    undoable: int  # units that can come back
    warnings: tuple[str, ...]
    took_s: float
    rest: Rest = field(default_factory=Rest)


def look(
    request: Request,
    now_ns: Callable[[], int],
    is_unwanted: Callable[[], bool] = lambda: False,
    opened: Iterable[str] = (),
) -> Snapshot:
    """What `scan` sees, who lives, and the items of the unrecognised groups that were opened. It runs in a thread, so
    it forks nothing.

    It ends between two units once its answer is not wanted any more: quitting does not wait for 100,000 of them.
    """
    began_s = time.monotonic()
    survey = Survey(prepare(request, now_ns=now_ns), _forks=False)
    verdicts, is_whole = [], True
    for verdict in survey:
        if is_unwanted():
            is_whole = False
            break
        verdicts.append(verdict)
    unmatched = survey.unmatched() if is_whole else ()
    judged = {glob: deeds.judged(request, glob, now_ns) for glob in opened if is_whole}
    rest = Rest(unmatched, survey.accounts(unmatched) if is_whole else (), judged)
    overrides = load_settings(request.config_file).rows
    sessions = living_sessions(load(overrides=overrides), tuple(room.path for room in survey.roots))
    waiting = labels.restorable(places.state_dir())
    took_s = time.monotonic() - began_s
    return Snapshot(
        verdicts=tuple(verdicts),
        spaces=survey.roots,
        sessions=len(sessions),
        undoable=len(waiting),
        warnings=survey.warnings,
        took_s=took_s,
        rest=rest,
    )


class View(App[int]):
    TITLE = "tmpwarden"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #full, #columns { height: 1; }
    #full { background: $panel; padding: 0 1; }
    #columns { color: $text-muted; }
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
        Binding("p", "adopt", "Adopt", show=False),
        Binding("a", "all", "All", show=False),
        Binding("r", "refresh", "Refresh", show=False),
        Binding("g", "toggle_removable", "Only removable items", show=False),
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
        Binding("escape", "unfilter", "All", show=False),
    ]

    def __init__(self, call: Call, *, only_removable: bool = False, request: Request | None = None) -> None:
        super().__init__()
        self.call, self.only_removable, self.words = call, only_removable, ""
        self.request = request or Request(roots=call.roots, config_file=call.config_file)
        self.units = Units(self.is_marked, call.now_ns)
        self.seen: Snapshot | None = None
        self.forest: Forest | None = None
        self.typing: Timer | None = None
        self.marks: dict[Key, Pin] = {}
        self.mark_counts = MarkCounts()
        self.opened: set[Key] = set()
        self.judged: dict[str, Sequence[Verdict]] = {}  # items of unrecognised groups, each once it was opened
        self.status_line, self.is_busy, self.is_looking, self.turns = "Checking ...", False, False, 0
        self.stop, self.leaves_with = asyncio.Event(), -1  # a clean ends between two units; then the exit status

    def compose(self) -> ComposeResult:
        yield from (Static(id="full"), Static(id="columns"))
        yield self.units
        yield Static(id="detail")
        yield Static(id="said")
        yield Input(placeholder="words of a path, agent, kind or session", id="filter")
        yield Footer()

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):  # the terminal is given back as it was
            loop.add_signal_handler(number, keys.leave, self, 128 + number)
        sys.setswitchinterval(_TURN_S)
        self.units.focus()
        self.spinner = self.set_interval(_SPIN_S, self.spin)
        self.action_refresh()

    def spin(self) -> None:
        """Until the first look is there, which may take seconds: it is at work, and has not hung."""
        if self.seen is None:
            self.turns += 1
            self.put("#said", Text(f"{_SPINS[self.turns % len(_SPINS)]} {self.status_line}"))
        else:
            self.spinner.stop()

    def action_refresh(self) -> None:
        if not (self.is_looking or self.is_busy):
            self.is_looking = True
            self.look_around()

    @work(thread=True, exclusive=True, group="look")
    def look_around(self) -> None:
        worker = get_current_worker()
        try:
            opened = tuple(self.judged)
            seen: Snapshot | str = look(self.request, self.call.now_ns, lambda: worker.is_cancelled, opened)
        except (TmpwardenError, OSError) as error:
            seen = str(error)
        if not worker.is_cancelled:
            self.call_from_thread(self.take_in, seen)

    def take_in(self, seen: Snapshot | str) -> None:
        self.is_looking = False
        rest_s = _SOONEST_S
        if isinstance(seen, Snapshot):
            self.status_line = "? shows all keys" if self.seen is None else self.status_line
            self.seen = seen
            self.judged |= seen.rest.judged
            rest_s = max(_SOONEST_S, _REST * seen.took_s)
            self.draw()
        else:
            self.say(seen)
        self.set_timer(rest_s, self.action_refresh)

    def draw(self) -> None:
        """100,000 units take seconds to be put in order: that is done off the loop, and a later wish overtakes it."""
        if self.seen is not None:
            self.grow(self.seen, self.words, self.only_removable, self.judged.copy())

    @work(thread=True, exclusive=True, group="grow", description="grow")  # else all findings are written out
    def grow(self, seen: Snapshot, words: str, only_removable: bool, judged: Mapping[str, Sequence[Verdict]]) -> None:
        rest = replace(seen.rest, judged=judged)
        forest = Forest.of(seen.verdicts, seen.spaces, words, only_removable, rest)
        is_same = self.forest is not None and forest.looks_like(self.forest)
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self.show, forest, is_same)

    def show(self, forest: Forest, is_same: bool = False) -> None:
        """The tree is drawn anew only where something has changed: a person may be reading it."""
        is_first, self.forest = self.forest is None, forest
        self.marks = {key: pin for key, pin in self.marks.items() if forest.words or key in forest.units}
        if is_first or forest.words:
            self.opened |= {root.key for root in forest.roots if root.children}
            self.opened |= {agent.key for root in forest.roots for agent in root.children} if forest.words else set()
        self.recount()
        tree = self.units
        if tree.is_attached and not is_same:
            here = tree.cursor_node.data.key if tree.cursor_node and tree.cursor_node.data else None
            tree.show(forest.roots, self.opened, here)
        self.tell()

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[TreeLine]) -> None:
        if event.node.data:
            self.opened.add(event.node.data.key)
            keys.judge_group(self, event.node.data)

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[TreeLine]) -> None:
        if event.node.data:
            self.opened.discard(event.node.data.key)

    def on_tree_node_highlighted(self, _: Tree.NodeHighlighted[TreeLine]) -> None:
        self.put("#detail", Text(details(self)))

    def say(self, sentence: str) -> None:
        self.status_line = sentence
        self.tell()

    def recount(self) -> None:
        """After each change of marks or of what can be marked."""
        if self.forest is None or len(self.forest.units) < MANY:
            self.mark_counts = MarkCounts(self.forest.roots if self.forest else (), self.marks)
        else:
            self.count(self.forest.roots, self.marks.copy())

    @work(thread=True, exclusive=True, group="count", description="count")
    def count(self, roots: Iterable[TreeLine], marks: Container[Key]) -> None:
        mark_counts = MarkCounts(roots, marks)
        if not get_current_worker().is_cancelled:
            self.call_from_thread(self.counted, mark_counts)

    def counted(self, mark_counts: MarkCounts) -> None:
        self.mark_counts = mark_counts
        self.tell()

    def tell(self) -> None:
        if not self.units.is_attached:
            return  # the view is closing
        self.units.redraw()
        self.put("#full", Text(summary(self), no_wrap=True, overflow="ellipsis"))
        self.put("#columns", Text(self.units.titles))
        self.put("#detail", Text(details(self)))
        self.put("#said", Text(self.status_line, no_wrap=True, overflow="ellipsis"))

    def put(self, place: str, text: Text) -> None:
        """Their sizes are fixed: nothing has to be laid out anew for a word."""
        for shown_there in self.query(place).results(Static):
            shown_there.update(text, layout=False)

    def on_resize(self) -> None:
        self.call_after_refresh(self.tell)

    def here(self) -> TreeLine | None:
        cursor = self.units.cursor_node
        return cursor.data if cursor is not None else None

    def marked(self) -> list[TreeLine]:
        units = self.forest.units if self.forest else {}
        return [units[key] for key in self.marks if key in units]

    def is_marked(self, node: TreeLine) -> bool | None:
        """None: some of it."""
        return node.key in self.marks if node.is_unit else self.mark_counts.is_whole(node)

    action_mark, action_all = keys.mark_here, keys.mark_all
    action_clean, action_why, action_keep, action_adopt = keys.clean, keys.why, keys.keep, keys.adopt
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
        if self.typing is not None:
            self.typing.stop()
        self.typing = self.set_timer(_TYPING_S, self.draw)

    def on_input_submitted(self, _: Input.Submitted) -> None:
        self.query_one("#filter").remove_class("is-open")
        self.units.focus()

    def action_unfilter(self) -> None:
        field = self.query_one("#filter", Input)
        field.value = ""
        field.remove_class("is-open")
        self.units.focus()

    def action_toggle_removable(self) -> None:
        self.only_removable = not self.only_removable
        self.draw()


def summary(view: View) -> str:
    """The line above the tree: how full, who lives, what is marked."""
    if view.seen is None:
        return view.status_line
    rooms = [f"{shown(each.path)} {percent_used(each)}%" for each in view.seen.spaces]
    parts = [" ".join(rooms), plural(view.seen.sessions, "running session")]
    parts += [f"undo: {view.seen.undoable}"] * (view.seen.undoable > 0)
    parts += [f"filter: {view.words}"] * bool(view.words) + ["only removable items"] * view.only_removable
    parts += [view.mark_counts.summary] * bool(view.mark_counts.summary)
    return "  |  ".join(parts)


def details(view: View) -> str:
    """The lines below it: where the cursor is, and why that stays or goes."""
    node = view.here()
    if node is None:
        return "No agent left anything behind here." if view.forest and not view.forest.units else ""
    where = shown(node.path or node.glob) or node.title
    return f"{where}\n{node.why}"
