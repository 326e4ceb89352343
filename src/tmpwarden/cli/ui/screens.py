"""What lies over the tree for a moment: a question, a text, the processes that outlived their agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from .units import cut

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
