"""A clone of a path on this machine: does the repository there hold its commits, and will it stay?

It counts only where it lies outside every temp root and outside the clone itself, is ours, and depends on nothing else:
no alternates, no grafts, no promised objects. What it holds is what its own branches and tags reach.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ..lazy_dataclass import dataclass, field
from ..oskit.files import places
from ..oskit.files.opening import closing
from ..oskit.proc.reach import Reach
from ..text import is_within
from .gitdir import Unclear
from .repository import Repository, Shape, Unit, opened

_MOST_ASKED = 20_000
_PATH = re.compile(r"(?:file://)?(/[^\s\"#;]*)", re.ASCII)


@dataclass(slots=True)
class AskedOrigins:
    """Which commits origins on this machine hold, and why others were not asked: those count for nothing."""

    commits: set[str] = field(default_factory=set)
    not_asked: list[str] = field(default_factory=list)  # sentences


def held(repository: Repository, commits: list[str]) -> AskedOrigins:
    """Those of the commits that an origin on this machine holds; it is noted in the unit then."""
    answer = AskedOrigins()
    if not repository.unit.temp_root or not commits or len(commits) > _MOST_ASKED:
        return answer
    for path in _paths(repository):
        try:
            with _opened(repository.unit, path) as origin:
                reached = _reached(origin, commits)
        except (Unclear, OSError, ValueError) as error:
            why = "it is gone" if isinstance(error, FileNotFoundError) else error
            answer.not_asked.append(f"{path} does not count: {why}")
            continue
        if reached:
            answer.commits |= reached
            repository.unit.rests_on.append(path)
    return answer


def _paths(repository: Repository) -> list[str]:
    remotes = [each for each in repository.config.settings if each.section == "remote" and each.key == "url"]
    matched = [_PATH.fullmatch(each.value) for each in remotes]
    return list(dict.fromkeys(each[1] for each in matched if each))


@contextmanager
def _opened(unit: Unit, path: str) -> Iterator[Repository]:
    if Reach.now().frozen(path):
        raise Unclear("it lies on a mount that does not answer")
    real = os.path.realpath(path).removesuffix("/.git")
    temp = [os.path.realpath(root) for root in (unit.temp_root, *places.temp_roots())]
    if any(is_within(real, place) for place in (unit.was, os.path.realpath(unit.now(unit.was)))):
        raise Unclear("it would be removed with the clone")
    if any(is_within(real, root) for root in temp):
        raise Unclear("it is in a temp directory")
    parent, name = os.path.split(real)
    with closing(os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        with opened(Unit(fd, name, real)) as origin:
            if origin is None or origin.shape not in (Shape.CLONE, Shape.BARE):
                raise Unclear("it is not a repository of its own")
            if os.fstat(origin.own.fd).st_uid != os.geteuid():
                raise Unclear("it belongs to another user")
            if origin.own.says_something("info/grafts") or not origin.own.has_directory("objects/pack"):
                raise Unclear("parts of it lie elsewhere")
            if any(each.key in ("partialclone", "promisor", "partialclonefilter") for each in origin.config.settings):
                raise Unclear("it may lack objects")
            yield origin


def _reached(origin: Repository, commits: list[str]) -> set[str]:
    questions = "".join(f"{oid}\n" for oid in commits).encode()
    reachable = (
        origin.git.output("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=questions)
        .decode()
        .splitlines()
    )
    if len(reachable) != len(commits):
        raise Unclear("git did not speak of every commit")
    there = [line.split()[0] for line in reachable if line.endswith(" commit")]
    if not there:
        return set()
    questions_ = "".join(f"{oid}\n" for oid in there).encode()
    unreached = (
        origin.git.output("rev-list", "--stdin", "--not", "--branches", "--tags", stdin=questions_).decode().split()
    )
    return set(there) & set(commits) - set(unreached)
