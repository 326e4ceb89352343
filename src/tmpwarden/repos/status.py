"""What git says about a work tree in one call: where it stands, what changed, what it does not know or ignores."""

from __future__ import annotations

import os

from ..lazy_dataclass import dataclass
from . import derived, lfs
from .gitdir import Unclear
from .on_disk import branch_in, head_in
from .repository import Repository

_WORDS = ("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=normal", "--ignored=traditional",
          "--ignore-submodules=all", "--no-renames")  # fmt: skip


@dataclass(frozen=True, slots=True)
class TreeStatus:
    """`head` is "" before the first commit, `branch` "" where HEAD is detached. Names are relative to the tree."""

    head: str
    branch: str
    changed: tuple[str, ...]  # modified, added, deleted, in conflict
    untracked: tuple[str, ...]  # derived ones left out; "data/" is a whole directory
    ignored: tuple[str, ...]  # those that cannot be made again: the first such in each that git names
    others: tuple[str, ...] = ()  # all that is untracked or ignored, as git names it
    has_conflicts: bool = False


def status_of(repository: Repository, also: frozenset[str] = derived.NO_NAMES) -> TreeStatus:
    """Raises Unclear as every question to git. Files that a private exclude file hides count as ignored.
    `also`: names of directories that a person calls derived."""
    repository.own.check_index()
    head, branch = "-", "-"
    changed: list[str] = []
    untracked: list[str] = []
    ignored: list[str] = []
    others: list[str] = []
    has_conflicts = False
    *lines, unfinished = os.fsdecode(repository.git.output(*_WORDS)).split("\0")
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "#":
            key, _, value = rest.partition(" ")
            head = value.replace("(initial)", "") if key == "branch.oid" else head
            branch = value.replace("(detached)", "") if key == "branch.head" else branch
        elif kind in ("1", "u") and not _is_checked_out_by_lfs(repository, kind, rest):
            changed.append(rest.split(" ", 7 if kind == "1" else 9)[-1])
            has_conflicts |= kind == "u"
        elif kind in ("?", "!"):
            others.append(rest)
            unique = derived.first_unique(_path(repository, rest), also)
            if unique is not None and kind == "?":
                untracked.append(rest)
            elif unique is not None:
                ignored.append(os.path.relpath(unique, _path(repository, "")))
    if (
        unfinished
        or head != head_in(repository.own.fd)
        or branch != branch_in(repository.own).removeprefix("refs/heads/")
    ):
        raise Unclear("git does not say of HEAD what lies on the disk")
    return TreeStatus(head, branch, tuple(changed), tuple(untracked), tuple(ignored), tuple(others), has_conflicts)


def _is_checked_out_by_lfs(repository: Repository, kind: str, rest: str) -> bool:
    if kind != "1" or not rest.startswith(".M"):
        return False
    *_, blob, name = rest.split(" ", 7)
    return lfs.is_same(repository.git, repository.tree, blob, name)


def _path(repository: Repository, name: str) -> str:
    return f"/proc/self/fd/{repository.tree.fd}/{name}".rstrip("/")
