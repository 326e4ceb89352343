"""Tables. In a pipe: one aligned line a row, the same at any width. For a person: painted, as wide as the terminal.

A column is its title; one that begins with `>` stands at the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..lazy_dataclass import dataclass
from .paint import Painter

_NARROWEST = 24  # the last column is folded, but never to less than this: then cells stand below each other
_INDENT = "    "
_MOST_PAINTED = 5000  # nobody reads more; and painting costs


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[str, ...]
    path: str = ""  # last on the line in a pipe; for a person on a line of its own, whole, so that it can be copied
    style: str = ""  # how it is painted; never the only bearer of a meaning
    group: str = ""  # for a person: the heading that it stands below


def draw(columns: Sequence[str], rows: Sequence[Row], *, for_a_person: bool, path_title: str = "PATH") -> Iterable[str]:
    if for_a_person and len(rows) <= _MOST_PAINTED:
        return _painted(columns, rows)
    return _plain(columns, rows, path_title)


def _plain(columns: Sequence[str], rows: Sequence[Row], path_title: str) -> Iterator[str]:
    lines = [_titles(columns), *(row.cells for row in rows)]
    widths = _widths(lines)
    paths = [path_title if any(row.path for row in rows) else "", *(row.path for row in rows)]
    for cells, path in zip(lines, paths, strict=True):
        yield "  ".join([*_aligned(columns, cells, widths), path]).rstrip()


def _painted(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    import textwrap

    paint = Painter()
    titles = _titles(columns)
    widths = _widths([titles, *(row.cells for row in rows)])
    indent = sum(width + 2 for width in widths[:-1])
    room = paint.width - indent
    if room < min(_NARROWEST, widths[-1]):
        yield from _stacked(columns, rows, paint)
        return
    room = max(room, 1)
    yield paint("  ".join(_aligned(columns, titles, widths)).rstrip(), "head")
    group = ""
    for row in rows:
        if row.group != group:
            yield paint(row.group, "head")
            group = row.group
        first, *more = textwrap.wrap(row.cells[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
        line = "  ".join([*_aligned(columns[:-1], row.cells[:-1], widths), first]).rstrip()
        yield paint(line, row.style)
        for rest in more:
            yield paint(" " * indent + rest, row.style)
        if row.path:
            yield _path_line(" " * (widths[0] + 2) + row.path, row, paint)


def _stacked(columns: Sequence[str], rows: Sequence[Row], paint: Painter) -> Iterator[str]:
    """For a terminal that is too narrow for columns: cells one after the other, folded, the last one indented."""
    import textwrap

    room = max(paint.width, _NARROWEST)
    titles = Row(_titles(columns), style="head")
    group = ""
    for row in (titles, *rows):
        if row.group != group:
            yield paint(row.group, "head")
            group = row.group
        head = "  ".join(cell for cell in row.cells[:-1] if cell)
        for line in textwrap.wrap(head, room, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False):
            yield paint(line, row.style)
        for line in textwrap.wrap(
            row.cells[-1],
            room,
            initial_indent=_INDENT,
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        ):
            yield paint(line, row.style)
        if row.path:
            yield _path_line("  " + row.path, row, paint)


def _path_line(text: str, row: Row, paint: Painter) -> str:
    """Painted as one piece, which is never folded; `DIR/ (12 files such as NAME)` is words, and may be."""
    return text if row.path.endswith(")") else paint(text, row.style or "command")


def _titles(columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(column.removeprefix(">") for column in columns)


def _widths(lines: Iterable[Sequence[str]]) -> list[int]:
    return [max(map(len, cells)) for cells in zip(*lines, strict=True)]


def _aligned(columns: Sequence[str], cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if column.startswith(">") else cell.ljust(width)
        for cell, width, column in zip(cells, widths, columns, strict=False)
    ]
