"""The few things that are changed in a user's repository, each only because the user asked for that very worktree.

The repository was opened and found harmless right before; hooks, filters and helpers are off as in every call of ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..oskit.files.descriptors import closing
from ..repos import links
from ..repos.git_program import Git
from ..repos.gitdir import Unclear

REFERENCES = "refs/tmpwarden/worktrees"


@contextmanager
def _git(common: str) -> Iterator[Git]:
    with closing(os.open(common, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        yield Git(fd, directory=".", work_tree=None)


def give_reference(common: str, name: str, head: str) -> str:
    """A ref of ours that keeps a detached HEAD's commits; its name."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in name)
    ref = f"{REFERENCES}/{plain.strip('-') or 'worktree'}-{head[:12]}"
    with _git(common) as git:
        git.output("update-ref", "--no-deref", ref, head)
    return ref


def drop_reference(common: str, ref: str, head: str) -> None:
    """Take it away again, if it still is what we made it."""
    with _git(common) as git:
        if git.succeeds("show-ref", "--verify", "--quiet", ref):
            git.output("update-ref", "--no-deref", "-d", ref, head)


def delete_branch(common: str, branch: str, head: str) -> bool:
    """False if it has moved on, or another worktree has it checked out."""
    if any(_branch_of(path) == branch for path in (common, *links.entries(common))):
        return False
    with _git(common) as git:
        try:
            git.output("update-ref", "--no-deref", "-d", f"refs/heads/{branch}", head)
        except Unclear:
            return False
    return True


def bring_back_branch(common: str, branch: str, head: str) -> None:
    """Unless somebody has made it anew."""
    with _git(common) as git:
        if not git.succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{branch}"):
            git.output("update-ref", "--no-deref", f"refs/heads/{branch}", head, "")


def repair(common: str, path: str) -> None:
    """Let the entry and a worktree that came back to another place find each other again."""
    with _git(common) as git:
        git.output("worktree", "repair", path)


def _branch_of(directory: str) -> str:
    """What the HEAD in a git directory stands on."""
    try:
        return links.line_of(directory, "HEAD").removeprefix("ref: refs/heads/")
    except (OSError, Unclear):
        return ""
