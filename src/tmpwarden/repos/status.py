"""What git says about a work tree in one call: where it stands, what changed, what it does not know or ignores.

Files whose content git-lfs keeps elsewhere are compared with their pointer in the index, without running git-lfs.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable

from ..lazy_dataclass import dataclass
from ..oskit import system
from ..text import is_within
from . import makers
from .git_program import Git
from .gitdir import Directory, Unclear, branch_in, head_in
from .repository import Repository

_BRINGS_NOTHING_NEW = frozenset(("clone", "checkout", "reset", "fetch", "branch", "pull"))  # in the log of HEAD

_LONGEST_POINTER = 1024
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[^\n]*\n)*oid sha256:([0-9a-f]{64})\nsize ([0-9]+)\n"
)


def is_what_lfs_points_to(git: Git, tree: Directory, blob: str, name: str) -> bool:
    """Whether the file is what the pointer in the index stands for. Our calls run no filter, so that git takes a
    file that was checked out in full for a modified one."""
    if int(git.output("cat-file", "-s", blob)) > _LONGEST_POINTER:
        return False
    pointer = _POINTER.fullmatch(git.output("cat-file", "blob", blob))
    return pointer is not None and _digest(tree, name, int(pointer[2])) == pointer[1].decode()


def lfs_objects_may_be_only_here(common: Directory) -> bool:
    """Whether objects lie here and commits were made here. A push takes commits along, and objects only if a hook of
    git-lfs runs, which `core.hooksPath` (husky) switches off; which of them the server has, no file tells."""
    if not common.names("lfs/objects"):
        return False
    if not common.has("logs/HEAD"):
        return True
    return any(_action(line) not in _BRINGS_NOTHING_NEW for line in common.read("logs/HEAD").splitlines())


def _action(line: bytes) -> str:
    """The first word of a line's message, `commit (amend): subject`; a pull that merged made a commit too."""
    message = line.partition(b"\t")[2].decode("utf-8", "replace")
    words = message.partition(":")[0].split()
    return "merge" if "Merge made by" in message else words[0] if words else ""


def _digest(tree: Directory, name: str, size: int) -> str | None:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=tree.fd)
    except OSError:
        return None
    with open(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            return None
        return hashlib.file_digest(file, "sha256").hexdigest()


_WORDS = ("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=normal", "--ignored=traditional",
          "--ignore-submodules=all", "--no-renames")  # fmt: skip


@dataclass(frozen=True, slots=True)
class TreeStatus:
    """`head` is "" before the first commit, `branch` "" where HEAD is detached. Names are relative to the tree."""

    head: str
    branch: str
    changed: tuple[str, ...]  # modified, added, deleted, in conflict
    untracked: tuple[str, ...]  # derived ones left out; "data/" is a whole directory
    ignored: tuple[str, ...]  # those that cannot be created again: the first such in each that git names
    others: tuple[str, ...] = ()  # all that is untracked or ignored, as git names it
    has_conflicts: bool = False
    hidden: tuple[str, ...] = ()  # all that git ignores, as it names it

    def is_hidden(self, name: str) -> bool:
        return any(is_within(name, each.rstrip("/")) for each in self.hidden)


IsHarmless = Callable[[str, bool], bool]  # (name relative to the tree, whether git ignores it)


def status_of(
    repository: Repository,
    also: frozenset[str] = makers.NO_NAMES,
    is_harmless: IsHarmless = lambda name, is_ignored: False,
) -> TreeStatus:
    """Raises Unclear as every question to git. Files that a private exclude file hides count as ignored.
    `also`: names of directories that a person calls derived. `is_harmless`: nothing is lost with that file."""
    repository.own.check_index()
    head, branch = "-", "-"
    changed: list[str] = []
    untracked: list[str] = []
    ignored: list[str] = []
    others: list[str] = []
    hidden: list[str] = []
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
            hidden += [rest] if kind == "!" else []
            names = (
                os.path.relpath(path, _path(repository, ""))
                for path in makers.unique(_path(repository, rest), also, with_repositories=True)
            )
            unique = next((name for name in names if not is_harmless(name, kind == "!")), None)
            if unique is not None and kind == "?":
                untracked.append(rest)
            elif unique is not None:
                ignored.append(unique)
    if (
        unfinished
        or head != head_in(repository.own.fd)
        or branch != branch_in(repository.own).removeprefix("refs/heads/")
    ):
        raise Unclear("git reports another HEAD than is on disk")
    return TreeStatus(
        head=head,
        branch=branch,
        changed=tuple(changed),
        untracked=tuple(untracked),
        ignored=tuple(ignored),
        others=tuple(others),
        has_conflicts=has_conflicts,
        hidden=tuple(hidden),
    )


def _is_checked_out_by_lfs(repository: Repository, kind: str, rest: str) -> bool:
    if kind != "1" or not rest.startswith(".M"):
        return False
    *_, blob, name = rest.split(" ", 7)
    return is_what_lfs_points_to(repository.git, repository.tree, blob, name)


def _path(repository: Repository, name: str) -> str:
    return f"{system.descriptors.way_to(repository.tree.fd)}/{name}".rstrip("/")
