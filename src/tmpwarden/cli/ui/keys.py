"""What the keys of the view do, a function each, and the screens on which they ask and say what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from ...text import plural, shown, size
from .. import removal
from . import deeds
from .forest import MANY, Key, TreeLine, leaves
from .pins import Pin, pinned
from .units import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.sweep import Verdict
    from .app import View


_WIDEST, _FRAME = 120, 8  # columns: of the box; what of a terminal is no line of it
_BOX = """
{0} {{ align: center middle; background: $background 60%; }}
{0} > Vertical {{
    width: 98%; max-width: 120; height: auto; max-height: 90%; padding: 0 1;
    border: round $accent; background: $surface;
}}
{0} VerticalScroll {{ height: auto; max-height: 16; }}
{0} .keys {{ color: $text-muted; margin-top: 1; }}
"""
HELP = (
    "space  mark this item, or all removable items below it",
    "a      mark all removable items; again: unmark all",
    "c      clean what is marked, after one question",
    "w      why is it kept or removable?",
    "k      keep: never remove this item",
    "p      adopt: teach tmpwarden the name pattern of a group that is not recognised",
    "u      undo: bring back what the last clean removed",
    "o      processes that outlived their agent",
    "/      filter by words of path, agent or session; Esc shows all",
    "g      only removable items",
    "r      refresh now (it also refreshes every few seconds)",
    "Enter, left, right   open and close;  q, Ctrl-C  quit",
    "",
    "[x] marked   [-] partly marked   removable: can be removed now   ask: removed only if marked",
    "Not recognised: your other files. Enter checks each of a group; they are removed only if you mark them.",
    "Marked items are checked again before removal: an item that changed or is in use is kept.",
)


def mark_here(view: View) -> None:
    node = view.here()
    if node is not None and node.glob and node.glob not in view.judged:
        judge_group(view, node, then=lambda units: _mark(view, [unit for unit in units if unit.offered], node))
    elif node is not None:
        _mark(view, [unit for unit in node.units() if unit.offered], node)


def mark_all(view: View) -> None:
    units = view.forest.units.values() if view.forest else ()
    _mark(view, [unit for unit in units if unit.offered and unit.state == "removable"], None)


def judge_group(view: View, node: TreeLine, then: Callable[[Sequence[TreeLine]], object] | None = None) -> None:
    """The items of a group that is not recognised, checked as if each had been named."""
    if not node.glob or node.glob in view.judged:
        return
    verdicts: list[Verdict] = []

    def judge() -> list[str]:
        verdicts.extend(deeds.judged(view.request, node.glob, view.call.now_ns))
        return []

    def judged(_: object) -> None:
        view.judged[node.glob] = tuple(verdicts)
        view.say("" if verdicts else f"Nothing in {shown(node.glob)} can be checked by name.")
        view.draw()
        if then is not None:
            then(leaves(verdicts))

    view.say(f"Checking {shown(node.glob)} ...")
    view.in_thread(judge, judged)


def adopt(view: View) -> None:
    node = view.here()
    if node is None or not node.glob:
        view.say("Only a group that is not recognised can be adopted: choose one.")
        return
    glob = node.glob
    question = f"Add the name pattern {shown(glob)}? `scan` then lists such items, and `clean --all` can remove them."
    _ask(view, Question(question), lambda: deeds.adopt(view.call, glob))


def _mark(view: View, units: Sequence[TreeLine], node: TreeLine | None) -> None:
    if not units:
        view.say(f"Kept: {node.why}." if node is not None and node.is_unit else "Nothing here is removable.")
    elif all(unit.key in view.marks for unit in units):
        for unit in units:
            del view.marks[unit.key]
        _marked(view)
    elif len(units) < MANY:
        view.marks |= {unit.key: pinned(unit.verdicts) for unit in units}
        _marked(view)
    else:
        pins: dict[Key, Pin] = {}
        view.say(f"Marking {len(units):,} items ...")
        view.in_thread(lambda: _pin(units, pins), lambda _: _marked(view, pins))


def _pin(units: Sequence[TreeLine], pins: dict[Key, Pin]) -> list[str]:
    """A look at each file: too long for the loop where there are many."""
    pins.update((unit.key, pinned(unit.verdicts)) for unit in units)
    return []


def _marked(view: View, pins: Mapping[Key, Pin] | None = None) -> None:
    view.marks |= pins or {}
    view.recount()
    view.say("c cleans what is marked." if view.marks else "Nothing is marked.")


def clean(view: View) -> None:
    marked = view.marked()
    if view.is_busy or not marked:
        view.say("It is still working." if view.is_busy else "Nothing is marked: space marks, a marks all.")
        return
    question = removal.question([v for node in marked for v in node.verdicts], quarantine=True)
    listed = sorted(marked, key=lambda node: -node.bytes)[:MANY]
    lines = [f"{size(node.bytes):>10}  {shown(node.path or node.title)}" for node in listed]
    lines += [f"... and {len(marked) - MANY:,} smaller ones"] * (len(marked) > MANY)
    pins = [view.marks[node.key] for node in marked]
    view.push_screen(Question(question, lines), lambda yes: _start(view, pins) if yes else None)


def _start(view: View, pins: list[Pin]) -> None:
    view.is_busy, view.marks = True, {}
    view.recount()
    view.run_worker(_cleaned(view, pins), group="deed")


async def _cleaned(view: View, pins: list[Pin]) -> None:
    try:
        lines = await deeds.clean(view.call, pins, view.say, view.stop)
    finally:
        view.is_busy = False
    if view.leaves_with >= 0:
        view.exit(view.leaves_with)
        return
    view.say(lines[0])
    if len(lines) > 1:
        view.push_screen(TextScreen(lines[0], lines[1:]))
    view.action_refresh()


def why(view: View) -> None:
    node = view.here()
    if node is None or node.path is None:
        view.say("This is a group: open it and choose an item.")
        return
    path = node.path
    view.in_thread(lambda: deeds.why(view.call, path), lambda lines: view.push_screen(TextScreen(lines[0], lines[1:])))


def keep(view: View) -> None:
    node = view.here()
    if node is None or not node.is_unit or node.path is None or node.verdicts[0].finding.members:
        view.say("Only a single item can be kept: choose one.")
        return
    path = node.path
    _ask(view, Question(f"Never remove {shown(path)}?"), lambda: deeds.keep(path))


def undo(view: View) -> None:
    undoable = deeds.undoable()
    if not undoable:
        view.say("There is nothing to undo.")
        return
    _ask(view, Question(f"Bring back {plural(len(undoable), 'item')}?", undoable), deeds.undo)


def orphans(view: View) -> None:
    view.say("Looking for processes that outlived their agent ...")
    view.in_thread(lambda: deeds.orphans(view.call), lambda lines: _orphans(view, lines))


def _orphans(view: View, lines: list[str]) -> None:
    question, *lines = lines
    view.say("")
    if not question:
        view.push_screen(TextScreen("Processes that outlived their agent", lines))
        return
    _ask(view, Question(question, lines), lambda: deeds.end_orphans(view.call))


def _ask(view: View, question: Question, deed: Callable[[], list[str]]) -> None:
    def on_answer(yes: bool | None) -> None:
        if yes:
            view.in_thread(deed, view.after)

    view.push_screen(question, on_answer)


def leave(view: View, code: int = 0) -> None:
    """At once; or, while a clean is under way, as soon as it has stopped between two units."""
    if not view.is_busy:
        view.exit(code)
        return
    view.leaves_with = code
    view.stop.set()
    view.say("Stopping after this item ...")


async def quit_view(view: View) -> None:
    leave(view)


def tell_keys(view: View) -> None:
    view.push_screen(TextScreen("Keys", HELP))


class Question(ModalScreen[bool]):
    """One question. Only `y` is a yes."""

    CSS = _BOX.format("Question")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Yes"),
        Binding("n,escape,enter,q", "no", "No"),
    ]

    def __init__(self, question: str, lines: Sequence[str] = ()) -> None:
        super().__init__()
        self.question, self.lines = question, lines

    def compose(self) -> ComposeResult:
        with Vertical():
            if self.lines:
                room = min(self.app.size.width, _WIDEST) - _FRAME
                with VerticalScroll(can_focus=True):
                    yield Static(Text("\n".join(cut(line, room) for line in self.lines)))
            yield Static(Text(self.question, style="bold"), id="question")
            yield Static(Text("y yes   n no"), classes="keys")

    def action_yes(self) -> None:
        self.dismiss(True)

    def action_no(self) -> None:
        self.dismiss(False)


class TextScreen(ModalScreen[None]):
    """A text to read."""

    CSS = _BOX.format("TextScreen")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,q,w,question_mark", "close", "Close")]

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        super().__init__()
        self.heading, self.lines = title, lines

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self.heading, style="bold"))
            with VerticalScroll(can_focus=True):
                yield Static(Text("\n".join(self.lines)), id="told")
            yield Static(Text("Esc closes"), classes="keys")

    def action_close(self) -> None:
        self.dismiss(None)
