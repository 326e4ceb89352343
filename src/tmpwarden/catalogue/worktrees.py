r"""Where agents and orchestrators put worktrees and clones: the `[[worktree]]` tables of the catalogue's files.

    [[worktree]]
    id = "project-worktrees"
    in = ["{project}/.claude/worktrees"]        # {home} {tmp} {xdg_data} {xdg_cache} {project} {repository};
                                                # * is one component; {repository}: each checkout that was met
    projects = ["{home}/.claude.json"]          # files that name projects: every absolute path in them, key or value
    lock = 'agent \S+ \(pid (?P<pid>[0-9]+) start (?P<start>[0-9]+)\)'  # the reason of a lock
    why = "worktrees that the agent made beside the project"
    seen = ["anthropics/claude-code#55435"]

A row tells where to look, never what may go: that is for the proof of each worktree alone.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping

from ..lazy_dataclass import dataclass
from ..oskit.files.opening import entry_names
from ..oskit.proc.reach import Reach
from . import fields
from .fields import Reading
from .files import BUILT_IN, default_dirs, read_text, xdg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEYS = {"id", "in", "projects", "lock", "why", "seen"}
_PLACEHOLDERS = ("{home}", "{tmp}", "{xdg_data}", "{xdg_cache}", "{project}", "{repository}")
REPOSITORY = "{repository}"
_BESIDE = re.compile(r"\{repository\}(\.[\w.-]*\w)")  # `<repo>.worktrees`
_LARGEST = 64 << 20
_MOST_PROJECTS = 5000

Bases = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WorktreeRow:
    agent: str
    id: str
    places: tuple[str, ...]
    projects: tuple[str, ...]
    why: str
    seen: tuple[str, ...]
    lock: str | None = None  # what it says in a lock of an agent's: a regular expression with groups pid and start

    @property
    def key(self) -> str:
        return f"{self.agent}.{self.id}"

    def known_projects(self, bases: Bases) -> tuple[str, ...]:
        """Directories that the agent's own settings name as projects."""
        return tuple(project for file in self.projects for project in _projects(_expanded(file, bases)))

    def directories(self, bases: Bases) -> Iterator[str]:
        """Directories that exist now and in which each entry may be a worktree."""
        known = {**bases, "project": self.known_projects(bases)}
        for place in self.places:
            if not place.startswith(REPOSITORY):
                yield from _expanded(place, known)

    def beside(self, checkouts: Iterable[str]) -> Iterator[str]:
        """The same in and beside the directories where repositories are checked out."""
        known = {"repository": tuple(checkouts)}
        for place in self.places:
            if place.startswith(REPOSITORY):
                yield from _expanded(place, known)


def bases(roots: Iterable[str], home: str | None) -> dict[str, tuple[str, ...]]:
    """What the placeholders stand for; without a home only temp roots are looked at."""
    result = {"tmp": tuple(dict.fromkeys(roots))}
    return result if home is None else result | {"home": (home,), **xdg(home, os.environ)}


def rows() -> tuple[WorktreeRow, ...]:
    """Of the built-in files and of the user's; a later file masks an earlier one of the same name. Broken ones have
    been told of by `load`."""
    files: dict[str, str] = {}
    for directory in (BUILT_IN, *default_dirs()):
        files |= {name: os.path.join(directory, name) for name in entry_names(directory)}
    return tuple(row for name, path in sorted(files.items()) if name.endswith(".toml") for row in _read(path))


def _read(path: str) -> tuple[WorktreeRow, ...]:
    try:
        text = read_text(path)
        data = tomllib.loads(text) if "[[worktree]]" in text else {}
    except (OSError, ValueError, RecursionError):
        return ()
    head = data.get("agent")
    reading = Reading(text, path, builtin=False, trusted=False)
    rows = decode(data.get("worktree", []), str(head.get("id", "")) if isinstance(head, dict) else "", reading)
    return () if reading.complaints else rows


def decode(tables: object, agent: str, reading: Reading) -> tuple[WorktreeRow, ...]:
    """The rows in the `worktree` part of a file; what is wrong with them goes to `reading`."""
    return tuple(_row(table, agent, reading) for table in fields.tables(tables, "worktree", reading))


def _row(table: dict[str, Any], agent: str, reading: Reading) -> WorktreeRow:
    for key in table.keys() - _KEYS:
        reading.complain(key, "is not known in [[worktree]]")
    row = WorktreeRow(
        agent=agent,
        id=fields.identifier(table, reading),
        places=fields.texts(table, "in", reading),
        projects=fields.texts(table, "projects", reading),
        why=fields.text(table, "why", reading),
        seen=fields.texts(table, "seen", reading),
        lock=fields.optional(table, "lock", reading),
    )
    if row.lock is not None and not _names_a_process(row.lock):
        reading.complain("lock", "must be a regular expression with the groups pid and start")
    if not (row.places or row.projects) or not row.seen:
        reading.complain("seen" if row.places or row.projects else "in", "needs at least one")
    for place in (*row.places, *row.projects):
        start, _, rest = place.partition("/")
        is_beside = _BESIDE.fullmatch(start) is not None
        if not (is_beside or (start in _PLACEHOLDERS and rest)) or (rest and {"..", ".", ""} & set(rest.split("/"))):
            reading.complain("in", f"{place!r} must be a path below one of {' '.join(_PLACEHOLDERS)}")
    if any(place.startswith("{project}") for place in row.places) and not row.projects:
        reading.complain("projects", "names the files that {project} comes from")
    return row


def _names_a_process(pattern: str) -> bool:
    try:
        return re.compile(pattern).groupindex.keys() >= {"pid", "start"}
    except (re.error, RecursionError, OverflowError):
        return False


def _expanded(place: str, bases: Bases) -> list[str]:
    """Paths that exist; links are not followed below the base."""
    start, _, rest = place.partition("/")
    base, _, suffix = start.strip("{").partition("}")
    paths = [f"{path}{suffix}" for path in bases.get(base, ())]
    paths = [path for path in paths if not (suffix and os.path.islink(path))]
    for component in filter(None, rest.split("/")):
        names = ((path, name) for path in paths for name in (entry_names(path) if component == "*" else [component]))
        paths = [f"{path}/{name}" for path, name in names if not os.path.islink(f"{path}/{name}")]
    return [path for path in paths if os.path.exists(path)]


def _projects(files: list[str]) -> list[str]:
    """Directories that a settings file names, as keys or values: the formats differ, absolute paths do not."""
    projects: dict[str, None] = {}
    for path in files:
        try:
            text = read_text(path, _LARGEST)
            data = tomllib.loads(text) if path.endswith(".toml") else json.loads(text)
            projects |= dict.fromkeys(_absolute(data))
        except (OSError, ValueError, RecursionError):
            continue
    reach = Reach.now()
    return [path for path in list(projects)[:_MOST_PROJECTS] if reach.frozen(path) is None and os.path.isdir(path)]


def _absolute(data: object) -> Iterator[str]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from _absolute(key)
            yield from _absolute(value)
    elif isinstance(data, list):
        for value in data:
            yield from _absolute(value)
    elif isinstance(data, str) and data.startswith("/") and "\0" not in data and len(data) < 4096:
        yield os.path.normpath(data)
