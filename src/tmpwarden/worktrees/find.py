"""Find worktrees and clones that agents made, and every other worktree of the repositories met on the way."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..catalogue.worktrees import Bases, WorktreeRow
from ..lazy_dataclass import dataclass
from ..oskit.files import places
from ..oskit.files.opening import entry_names
from ..repos import links


@dataclass(frozen=True, slots=True)
class Candidate:
    """One checkout that may be an agent's. `maker` is the row that found it; None: only its repository lists it."""

    path: str
    maker: str | None = None


def find(rows: Iterable[WorktreeRow], bases: Bases, beside: Iterable[str] = ()) -> list[Candidate]:
    """All candidates, each once. `beside`: directories whose repositories are looked at as well."""
    found: dict[str, Candidate] = {}
    repositories: dict[str, None] = {}
    for row in rows:
        for path in _checkouts(row.directories(bases)):
            found.setdefault(path, Candidate(path, row.key))
        repositories |= dict.fromkeys(_repositories(row.known_projects(bases)))
    repositories |= dict.fromkeys(_repositories((*found, *beside)))
    for repository in repositories:
        for path in links.linked_worktrees(repository):
            found.setdefault(path, Candidate(path))
    return [found[path] for path in sorted(found)]


def maker_of(path: str, rows: Iterable[WorktreeRow], bases: Bases) -> str | None:
    """The row whose place holds `path`, without looking at anything else there."""
    parent = os.path.dirname(path)
    places = ((row.key, directory) for row in rows for directory in row.directories(bases))
    return next((key for key, directory in places if os.path.realpath(directory) == parent), None)


def _checkouts(directories: Iterable[str]) -> Iterator[str]:
    for directory in directories:
        for name in entry_names(directory):
            path = f"{directory}/{name}"
            if not os.path.islink(path) and links.is_checkout(path) and places.owner_of(path) == places.uid():
                yield os.path.realpath(path)


def _repositories(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        common = links.common_directory(path)
        if common and places.owner_of(common) == places.uid():
            yield common
