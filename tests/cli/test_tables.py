"""Every table of ours fits the terminal: 80 columns, and 40 of a phone or a split window. Paths stay whole."""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator

import pytest

import tmpwarden.cli
from support.terminal import on_a_terminal
from tmpwarden.cli.table import Row, draw

_PATH = "/tmp/claude-1000/-home-somebody-work-a-project/2f6e1d3c-0000-4000-8000-000000000000/tasks"
_CELLS = {"SIZE": "1023.9 MB", "AGE": "13d23h-364d11h", "TIME": "2026-11-16 07:59", "ITEMS": "1,234,567",
          "PID": "4194304", "PORTS": "3000,3001,8080", "": "removable"}  # fmt: skip
_TITLE = re.compile(r">?[A-Z ]*").fullmatch


def _tables() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every tuple of columns that a module of the command line has."""
    for found in pkgutil.walk_packages(tmpwarden.cli.__path__, "tmpwarden.cli."):
        if not found.name.startswith("tmpwarden.cli.ui."):
            for name, value in vars(importlib.import_module(found.name)).items():
                if isinstance(value, tuple) and value and all(isinstance(each, str) and _TITLE(each) for each in value):
                    yield f"{found.name}.{name}", value


TABLES = dict(_tables())


def test_the_tables_are_found() -> None:
    assert len(TABLES) >= 15


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_fits_the_terminal(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    columns = TABLES[name]
    titles = [column.removeprefix(">") for column in columns]
    cells = [_CELLS.get(title, "some-longer-word of " + title) for title in titles[:-1]]
    row = Row((*cells, "a sentence that tells why it stays or goes, which takes a while to tell"), _PATH)
    lines = list(draw(columns, [row, row], for_a_person=True))
    assert [line for line in lines if len(line) > width and _PATH not in line] == []
    assert [line.strip() for line in lines if _PATH in line] == [_PATH, _PATH]
    said = "".join("".join(lines).split())
    assert all("".join(cell.split()) in said for cell in row.cells)


@pytest.mark.parametrize("columns", [80, 40, 12])
def test_the_line_that_tells_how_far_it_is_stays_one_line(columns: int) -> None:
    words = "Removing: 1,179 of 4,000 items, 23.0 MB of 78.1 MB ..."
    started = (
        "import sys; sys.stdin.readline(); from tmpwarden.cli.progress import Progress; p = Progress(); p._next = 0; "
    )
    told = f"print('go on [y/N]', flush=True); {started}p.tell({words!r})"
    status, seen = on_a_terminal([sys.executable, "-c", told], answer="y", columns=columns)
    line = seen.rpartition("\r")[2]
    assert status == 0
    assert line == {80: words, 40: "Removing: 1,179 of 4,000 items ...", 12: "Removing: 1"}[columns]
