"""Tables. In a pipe: aligned plain text, the same at any width. For a person: drawn by rich to fit the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_MOST_DRAWN = 2000


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    right: bool = False
    fold: bool = False  # may take several lines on a narrow terminal; all others stay whole


@dataclass(frozen=True, slots=True)
class Row:
    cells: tuple[str, ...]
    style: str = ""  # how rich draws it; never the only bearer of a meaning


def draw(columns: Sequence[Column], rows: Sequence[Row], *, for_a_person: bool) -> Iterable[str]:
    """Rich draws only what is small enough to be read."""
    return _rich(columns, rows) if for_a_person and len(rows) < _MOST_DRAWN else _plain(columns, rows)


def _plain(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    lines = [tuple(column.title for column in columns), *(row.cells for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        cells = [
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        ]
        yield "  ".join(cells).rstrip()


def _rich(columns: Sequence[Column], rows: Sequence[Row]) -> Iterator[str]:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=not column.fold,
            overflow="fold",
        )
    for row in rows:
        table.add_row(*(Text(cell) for cell in row.cells), style=row.style)
    yield from rich_lines(table)


def rich_lines(drawable: object) -> Iterator[str]:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    with console.capture() as captured:
        console.print(drawable)
    for line in captured.get().splitlines():
        yield line.rstrip()


def styled(text: str, style: str, *, for_a_person: bool) -> str:
    """`text` as it is in a pipe; with `style` on a terminal."""
    if not for_a_person:
        return text
    from rich.text import Text

    return "\n".join(rich_lines(Text(text, style=style)))
