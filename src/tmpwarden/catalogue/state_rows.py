r"""What agents keep in the user's home on purpose: the `[[state]]` tables of the catalogue. Told, never removed.

    [[state]]
    id = "transcripts"
    in = "{home}/.claude"                       # {home} {xdg_data} {xdg_cache} {xdg_config} {xdg_state}
    paths = ["projects", "history.jsonl*"]      # below it, with all that lies in them; * is within one component
    keeps = "sessions: messages, tool calls and their results"
    lost = "sessions can no longer be resumed or searched"
    pruned = "by Claude Code, 30 days after the last use"
    command = "cleanupPeriodDays in ~/.claude/settings.json"

Of the rows of one directory the first that fits counts, so that each file belongs to exactly one.
"""

from __future__ import annotations

import fnmatch
import os
import re
import tomllib
from collections.abc import Iterable

from ..lazy_dataclass import dataclass
from ..oskit.files.opening import entry_names
from . import fields
from .fields import Reading
from .files import BUILT_IN, read_text, xdg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEYS = {"id", "in", "paths", "keeps", "lost", "pruned", "command"}
_BASES = ("{home}", "{xdg_data}", "{xdg_cache}", "{xdg_config}", "{xdg_state}")


@dataclass(frozen=True, slots=True)
class StateRow:
    agent: str
    name: str  # of the agent, for people
    id: str
    place: str
    paths: tuple[str, ...]
    keeps: str
    lost: str
    pruned: str  # who removes it, and when; "nothing" where nobody does
    command: str  # the agent's own setting or command for that; "" where there is none

    @property
    def key(self) -> str:
        return f"{self.agent}.{self.id}"

    def directory(self, home: str) -> str:
        """Where it is now."""
        start, _, rest = self.place.partition("/")
        base = home if start == "{home}" else xdg(home, os.environ)[start.strip("{}")][0]
        return f"{base}/{rest}" if rest else base


def rows() -> tuple[StateRow, ...]:
    """The built-in ones. There are no drop-ins: nothing is done with them."""
    result: list[StateRow] = []
    for name in entry_names(BUILT_IN):
        path = os.path.join(BUILT_IN, name)
        text = read_text(path) if name.endswith(".toml") else ""
        if "[[state]]" in text:
            data = tomllib.loads(text)
            reading = Reading(text, path, builtin=True, trusted=True)
            result += decode(data["state"], data["agent"], reading)
    return tuple(result)


def decode(tables: object, agent: dict[str, Any], reading: Reading) -> tuple[StateRow, ...]:
    """The rows in the `state` part of a file; what is wrong with them goes to `reading`."""
    return tuple(_row(table, agent, reading) for table in fields.tables(tables, "state", reading))


def _row(table: dict[str, Any], agent: dict[str, Any], reading: Reading) -> StateRow:
    for key in table.keys() - _KEYS:
        reading.complain(key, "is not known in [[state]]")
    row = StateRow(
        agent=str(agent.get("id", "")),
        name=str(agent.get("name", "")),
        id=fields.identifier(table, reading),
        place=fields.text(table, "in", reading),
        paths=fields.texts(table, "paths", reading),
        keeps=fields.text(table, "keeps", reading),
        lost=fields.text(table, "lost", reading),
        pruned=fields.text(table, "pruned", reading),
        command=fields.optional(table, "command", reading) or "",
    )
    start, _, rest = row.place.partition("/")
    if start not in _BASES or {"..", ".", ""} & set(rest.split("/") if rest else ()):
        reading.complain("in", f"must be a path below one of {' '.join(_BASES)}")
    if not row.paths or (not rest and any(path.startswith("*") for path in row.paths)):
        reading.complain("paths", "must name what lies there; in a home itself no path may start with *")
    return row


class Sorter:
    """Which of the rows of one directory a file belongs to, by its path relative to that directory."""

    def __init__(self, of_one_place: Iterable[StateRow]) -> None:
        self.rows = tuple(of_one_place)
        self._patterns = [(row, _pattern(row.paths)) for row in self.rows]
        self._tops = re.compile("|".join(_component(path.split("/")[0]) for row in self.rows for path in row.paths))

    def is_wanted(self, top: str) -> bool:
        """Whether any row speaks of this entry of the directory itself, or of what lies in it."""
        return self._tops.fullmatch(top) is not None

    def row_of(self, path: str) -> StateRow | None:
        return next((row for row, pattern in self._patterns if pattern.match(path)), None)


def _pattern(paths: Iterable[str]) -> re.Pattern[str]:
    """Matches each of these paths, and what lies below them."""
    each = ("/".join(_component(part) for part in path.split("/")) for path in paths)
    return re.compile(rf"(?:{'|'.join(each)})(?:/|\Z)", re.DOTALL)


def _component(glob: str) -> str:
    """One component: a `*` takes no slash."""
    inner = fnmatch.translate(glob).removeprefix("(?s:").removesuffix(r")\Z")
    return inner.replace(".*", "[^/]*")
