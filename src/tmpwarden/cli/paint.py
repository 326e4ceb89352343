"""How text meets a terminal: one small palette, and lines that are folded between words. In a pipe nothing changes.

No colour bears a meaning alone: what is red also says "full" or "FAIL".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

PALETTE = {
    "head": "1",  # titles, names of agents
    "removable": "32",
    "kept": "2",
    "command": "36",  # what can be copied: commands and paths
    "ok": "32",
    "warn": "33",
    "full": "1;31",
}
FULL_PERCENT, HIGH_PERCENT = 95, 80
_LEAST_ROOM = 24  # columns of text beside a label: with less it goes below
_WIDTH_UNKNOWN = 80
_LONGEST_LABEL = 14


class Painter:
    """Text in, text with escape codes out. None with NO_COLOR, on a dumb terminal, or where nobody watches."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        self.is_on = is_coloured(self.stream)

    @property
    def width(self) -> int:
        columns = os.environ.get("COLUMNS", "")
        return width_of(self.stream) or (int(columns) if columns.isdigit() and int(columns) else _WIDTH_UNKNOWN)

    def __call__(self, text: str, style: str) -> str:
        code = PALETTE.get(style) if self.is_on and text else None
        return f"\x1b[{code}m{text}\x1b[0m" if code else text


def is_coloured(stream: TextIO | None) -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") in ("dumb", ""):
        return False
    return stream is not None and stream.isatty()


def width_of(stream: TextIO | None) -> int:
    """Columns of the terminal; 0 where there is none."""
    if stream is None or not stream.isatty():
        return 0
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _WIDTH_UNKNOWN
    except (OSError, ValueError):
        return _WIDTH_UNKNOWN


def percent_style(percent: int) -> str:
    return "full" if percent >= FULL_PERCENT else "warn" if percent >= HIGH_PERCENT else "ok"


def bar(percent: int, cells: int = 10) -> str:
    """`[######....]`: how full, also without colour."""
    filled = min(cells, max(0, -(-percent * cells // 100)))
    return f"[{'#' * filled}{'.' * (cells - filled)}]"


def folded(lines: Iterable[str], stream: TextIO | None) -> Iterator[str]:
    """Each line as it is if it fits, else folded between words. Text of several lines (a diff, a help page) was laid
    out by its maker. Paths, `commands` and a command that ends a line stay whole, on a line of their own if need be."""
    width = width_of(stream)
    for line in lines:
        if not width or "\n" in line or _is_one_piece(line) or _length(line) <= width:
            yield line
        else:
            yield from fold(line, width)


def _is_one_piece(line: str) -> bool:
    """Painted as a whole by who knows the width: a row of a table, a path."""
    return line.startswith("\x1b") and line.count("\x1b") == 2 and line.endswith("\x1b[0m")


def fold(line: str, width: int) -> Iterator[str]:
    text = line.lstrip(" ")
    first = " " * (len(line) - len(text))
    if _length(text.split(" ", 1)[0]) == _length(text) or text.startswith("run: "):
        yield line  # one path, one command
        return
    label, below = _label(text, first, width)
    head, command = _with_its_command(text[len(label) :])
    row, start = first + label, True
    for word in _words(head):
        if not start and _length(row) + 1 + _length(word.rstrip()) > width:
            yield row.rstrip()
            row, start = below, True
        gap = "" if start else " "
        row, start = row + gap + word, False
    if row.strip():
        yield row.rstrip()
    if command:
        yield below + command


def _label(text: str, first: str, width: int) -> tuple[str, str]:
    """`last clean  ` of a line that begins so, and where its next lines begin: under the text, or below the label."""
    label, gap, rest = text.partition("  ")
    if not gap or _length(label) > _LONGEST_LABEL:
        return "", first + "  "
    label = text[: len(text) - len(rest.lstrip(" "))]
    column = len(first) + _length(label)
    return label, " " * column if width - column >= _LEAST_ROOM else first + "  "


def _with_its_command(text: str) -> tuple[str, str]:
    """`To undo this: tmpwarden setup --remove` as sentence and command."""
    for mark in (": tmpwarden ", ". tmpwarden ", ": kill "):
        head, separator, command = text.rpartition(mark)
        if separator and ". " not in command and "; " not in command and ", " not in command:
            return head + mark[0], mark[2:] + command
    return text, ""


def _words(text: str) -> Iterator[str]:
    """Words at single blanks; what stands in backticks or quotes is one. Wider gaps stay as they are."""
    word, closing, before = "", "", ""
    for char in text:
        if closing:
            closing = "" if char == closing else closing
        elif char == "`" or (char == "'" and not (before.isalnum() or before == ")") and "'" in text):
            closing = char if char == "`" else "'"
        elif char == " ":
            if word:
                yield word
            word, before = "", char
            continue
        word, before = word + char, char
    if word:
        yield from word.split(" ") if closing else [word]  # a quote that never ended was an apostrophe


def _length(text: str) -> int:
    """Columns, without escape codes."""
    length, at = 0, 0
    while at < len(text):
        if text[at] == "\x1b":
            at = text.find("m", at) + 1 or len(text)
        else:
            length, at = length + 1, at + 1
    return length
