"""Rows about processes: which programs agents are known to start and leave. Decoded from processes.toml."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Sequence
from functools import cache

from ..model.processes import ProcessRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "processes.toml")
KINDS = ("mcp", "browser", "dev-server", "tail", "shell")
_KEYS = {"id", "kind", "program", "word", "why", "seen", "matches", "spares", "part_of"}


@cache
def _file() -> dict[str, Any]:
    import tomllib

    with open(FILE, "rb") as file:
        return tomllib.load(file)


@cache
def rows() -> tuple[ProcessRow, ...]:
    """The built-in rows. There are no drop-ins: a row decides which processes may be ended."""
    return decode(_file())


@cache
def markers() -> tuple[tuple[str, str], ...]:
    """(agent, variable) of variables that say which agent started a process, not for which session."""
    return tuple((table["agent"], table["variable"]) for table in _file()["marker"])


def decode(data: dict[str, Any]) -> tuple[ProcessRow, ...]:
    """Raises ValueError with what is wrong."""
    rows = tuple(_row(table) for table in data["process"])
    if len({row.id for row in rows}) != len(rows):
        raise ValueError("two rows have the same id")
    return rows


def row_of(arguments: Sequence[str]) -> ProcessRow | None:
    """The row that knows this command line."""
    return next((row for row in rows() if is_match(row, arguments)), None)


def is_match(row: ProcessRow, arguments: Sequence[str]) -> bool:
    if len(arguments) == 1:  # npm, and any node that sets its title, writes one line with blanks over its arguments
        arguments = arguments[0].split()
    if not arguments or not arguments[0]:
        return False
    program = arguments[0].rsplit("/", 1)[-1]
    if not any(fnmatch.fnmatchcase(program, glob) for glob in row.programs):
        return False
    return not row.words or any(fnmatch.fnmatchcase(word, glob) for word in arguments[1:] for glob in row.words)


def _row(table: dict[str, Any]) -> ProcessRow:
    if strange := table.keys() - _KEYS:
        raise ValueError(f"{min(strange)} is not known in a process row")
    if table["kind"] not in KINDS:
        raise ValueError(f"kind {table['kind']!r} is not one of {', '.join(KINDS)}")
    if table.get("part_of") not in (None, *KINDS):
        raise ValueError(f"part_of {table['part_of']!r} is not one of {', '.join(KINDS)}")
    lists = {key: tuple(table.get(key, ())) for key in ("program", "word", "seen", "matches", "spares")}
    return ProcessRow(
        id=table["id"],
        kind=table["kind"],
        programs=lists["program"],
        words=lists["word"],
        why=table["why"],
        seen=lists["seen"],
        matches=lists["matches"],
        spares=lists["spares"],
        part_of=table.get("part_of"),
    )
