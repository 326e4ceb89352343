"""Commits that only a reflog remembers: what `reset --hard` and `commit --amend` left behind."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from ..repos import work
from ..repos.gitdir import Directory, Unclear
from ..repos.repository import Repository, Shape

_NAMES = "refs/rescue/reflog"
_MOST = 500
_LONGEST = 64 << 20
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def forgotten(repository: Repository, known: list[str]) -> dict[str, str]:
    """Tips of commits that only a reflog has, under names of ours. `known`: objects that are saved anyway."""
    logged = _logged(repository)
    if not logged:
        return {}
    there = repository.git.output("cat-file", "--batch-check=%(objectname) %(objecttype)", given=_lines(logged))
    commits = [line.split()[0] for line in there.decode().splitlines() if line.endswith(" commit")]
    excluded = work.published(repository) if repository.shape is not Shape.WORKTREE else ["--not", *work.STAYS]
    words = ("rev-list", "--parents", "--stdin", *excluded, *known)
    found = [line.split() for line in repository.git.output(*words, given=_lines(commits)).decode().splitlines()]
    parents = {parent for _, *above in found for parent in above}
    tips = [oid for oid, *_ in found if oid not in parents]
    if len(tips) > _MOST:
        raise Unclear(f"its reflogs hold more than {_MOST} lines of forgotten commits")
    return {f"{_NAMES}/{number}": oid for number, oid in enumerate(tips)}


def _logged(repository: Repository) -> list[str]:
    """Object names in the reflogs: of a worktree in its own alone."""
    found: dict[str, None] = {}
    for directory, name in _logs(repository):
        for line in os.fsdecode(directory.read(name, _LONGEST)).splitlines():
            found |= dict.fromkeys(oid for oid in line.split(" ", 2)[:2] if _OBJECT.fullmatch(oid) and oid.strip("0"))
    return list(found)


def _logs(repository: Repository) -> Iterator[tuple[Directory, str]]:
    own = repository.own
    if own.has("logs/HEAD"):
        yield own, "logs/HEAD"
    waiting = ["logs/refs/heads"] if repository.shape is not Shape.WORKTREE else []
    while waiting:
        here = waiting.pop()
        for name in own.names(here):
            path = f"{here}/{name}"
            if own.has_directory(path):
                waiting.append(path)
            else:
                yield own, path


def _lines(names: list[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()
