"""Colour for a person on a terminal. The only module that imports rich, and only when there is something to paint."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


class Painter:
    """Text in, text with escape codes out; NO_COLOR and TERM=dumb are rich's to honour."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)

    @property
    def width(self) -> int:
        return self._console.width

    def __call__(self, text: str, style: str) -> str:
        if not style:
            return text
        with self._console.capture() as captured:
            self._console.print(Text(text, style=style), end="")
        return captured.get()
