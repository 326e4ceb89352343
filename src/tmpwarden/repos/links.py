"""Which worktrees belong to which repository, read from the files that link them. Believes nobody: whoever acts on
what is found here opens it with `repository.opened`, which checks both directions."""

from __future__ import annotations

import os
import stat

from ..oskit.files.descriptors import closing
from ..oskit.files.opening import entry_names
from ..oskit.proc.reach import Reach
from .gitdir import Directory, Unclear

_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def is_checkout(path: str) -> bool:
    """Whether something is checked out here: there is a `.git` in it."""
    return stat.S_IFMT(_git_mode(path)) in (stat.S_IFREG, stat.S_IFDIR)


def is_linked(path: str) -> bool:
    """Whether it is a linked worktree (or a submodule), and no repository of its own."""
    return stat.S_ISREG(_git_mode(path))


def _git_mode(path: str) -> int:
    try:
        return os.lstat(f"{path}/.git").st_mode
    except OSError:
        return 0


def common_directory(path: str) -> str | None:
    """The git directory of the repository that `path` is a checkout of; None if there is none that can be read."""
    own = own_directory(path)
    if own is None or os.path.isdir(f"{path}/.git"):
        return own
    try:
        return os.path.realpath(os.path.join(own, line_of(own, "commondir")))
    except (OSError, Unclear, ValueError):
        return None


def linked_worktrees(common: str) -> list[str]:
    """Paths that a repository has entries for and where something is checked out now."""
    found, reach = [], Reach.now()
    for name in entry_names(f"{common}/worktrees"):
        try:
            path = os.path.dirname(
                os.path.join(common, "worktrees", name, line_of(f"{common}/worktrees/{name}", "gitdir"))
            )
        except (OSError, Unclear, ValueError):
            continue
        if reach.frozen(path):
            continue
        path = os.path.realpath(path)
        if is_linked(path) and common_directory(path) == common:
            found.append(path)
    return found


def own_directory(path: str) -> str | None:
    """The git directory of a checkout itself: for a linked worktree its entry in the repository."""
    try:
        if os.path.isdir(f"{path}/.git"):
            return os.path.realpath(f"{path}/.git")
        word, _, target = line_of(path, ".git").partition(" ")
        return os.path.realpath(os.path.join(path, target)) if word == "gitdir:" else None
    except (OSError, Unclear, ValueError):
        return None


def entries(common: str) -> list[str]:
    """The administrative directories of all worktrees that a repository knows."""
    return [f"{common}/worktrees/{name}" for name in entry_names(f"{common}/worktrees")]


def line_of(directory: str, name: str) -> str:
    with closing(os.open(directory, _DIRECTORY)) as fd:
        return Directory(fd).line(name)
