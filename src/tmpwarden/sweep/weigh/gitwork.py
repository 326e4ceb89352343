"""What would be lost with a clone or a worktree: work that exists nowhere else. The repository is untrusted content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from .gitconfig import is_harmless
from .gitrun import Git, Unclear

_LONGEST_CONFIG = 1 << 20
_MOST_BRANCHES_TOLD = 5
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
# Its presence means that other places hold a part of this repository, or that git would read settings we did not.
_REFUSED = ("commondir", "config.worktree", "objects/info/alternates", "objects/info/http-alternates", "modules")


def losses(dir_fd: int, relative: str) -> tuple[str, ...] | None:
    """Sentences about what exists only here; () if nothing does; None if it cannot be inspected, which keeps it.

    `relative` to `dir_fd` is the directory that holds the `.git`. Files that a .gitignore in the tree covers do not
    count: they are what builds and installs leave. What only a private exclude file hides does count.
    """
    try:
        fd = _open_below(dir_fd, relative)
    except OSError:
        return None
    try:
        return tuple(_Repository(fd).losses())
    except (Unclear, OSError, ValueError):
        return None
    finally:
        os.close(fd)


def _open_below(dir_fd: int, relative: str) -> int:
    """Component by component: no link on the way is followed."""
    fd = os.dup(dir_fd)
    for component in filter(None, relative.split("/")):
        try:
            deeper = os.open(component, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
        finally:
            os.close(fd)
        fd = deeper
    return fd


class _Repository:
    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.git = Git(fd)

    def losses(self) -> Iterator[str]:
        kind = os.stat(".git", dir_fd=self.fd, follow_symlinks=False).st_mode
        if stat.S_ISREG(kind):
            yield self._elsewhere()
            return
        if not stat.S_ISDIR(kind):
            raise Unclear
        if not self._names(".git"):
            return  # a placeholder, such as sandboxes make
        self._check()
        yield from self._unfinished()
        yield from self._uncommitted()
        yield from self._stashes()
        yield from self._unpublished()

    def _elsewhere(self) -> str:
        """A worktree or a submodule: its repository lies elsewhere and knows about it."""
        word, _, target = self._read(".git", 4096).decode("utf-8", "surrogateescape").strip().partition(" ")
        if word != "gitdir:" or not target:
            raise Unclear
        repository, found, _ = target.partition("/.git/worktrees/")
        if not found:
            raise Unclear
        return f"worktree of {repository}"

    def _check(self) -> None:
        """Raise unless git can be let near it."""
        for name in _REFUSED:
            if self._says_something(f".git/{name}"):
                raise Unclear
        for name in ("objects", "refs"):
            if not stat.S_ISDIR(self._mode(f".git/{name}") or 0):
                raise Unclear
        config = self._read(".git/config", _LONGEST_CONFIG)
        if len(config) == _LONGEST_CONFIG or not is_harmless(config.decode("utf-8", "surrogateescape")):
            raise Unclear

    def _unfinished(self) -> Iterator[str]:
        for name in sorted({work for mark, work in _UNFINISHED.items() if self._mode(f".git/{mark}")}):
            yield f"an unfinished {name}"
        if count := len(self._names(".git/worktrees")):
            yield f"{_counted(count, 'worktree')} elsewhere that need{'s' if count == 1 else ''} this repository"

    def _uncommitted(self) -> Iterator[str]:
        lines = self.git.output("status", "--porcelain=v2", "-z", "--ignore-submodules=all", "--no-renames").split(
            b"\0"
        )
        if changed := sum(line[:1] in (b"1", b"2", b"u") for line in lines):
            yield _counted(changed, "modified file")
        others = self.git.output("ls-files", "-z", "--others", "--exclude-per-directory=.gitignore", "--directory")
        if count := others.count(b"\0"):
            yield _counted(count, "untracked file")
        flags = {line[:1] for line in self.git.output("ls-files", "-v", "-z").split(b"\0") if line}
        if any(flag.islower() or flag == b"S" for flag in flags):
            raise Unclear  # assume-unchanged, skip-worktree: git was told not to look

    def _stashes(self) -> Iterator[str]:
        if self._mode(".git/logs/refs/stash"):
            count = self._read(".git/logs/refs/stash", 1 << 20).count(b"\n")
        else:
            count = int(self._mode(".git/refs/stash") is not None)
        if count:
            yield "1 stash" if count == 1 else f"{count} stashes"

    def _unpublished(self) -> Iterator[str]:
        """Commits that no remote-tracking ref reaches. The edge of a shallow clone was fetched: it is published."""
        known = ["--not", "--remotes", *self._shallow_commits()]
        if self._is_detached() and (count := self._commits("HEAD", *known, "--branches")):
            yield f"detached HEAD with {_counted(count, 'commit')} that no remote has"
        names = self.git.output("for-each-ref", "--format=%(refname)").decode("utf-8", "surrogateescape").split("\n")
        own = [name for name in names if name and not name.startswith(("refs/remotes/", "refs/stash"))]
        if not own or not self._commits(*own, *known):
            return
        told = [(name, count) for name in own[:200] if (count := self._commits(name, *known))]
        for name, count in told[:_MOST_BRANCHES_TOLD]:
            yield f"{_counted(count, 'commit')} on {_spoken(name)} that no remote has"
        if len(told) > _MOST_BRANCHES_TOLD:
            more = _counted(len(told) - _MOST_BRANCHES_TOLD, "more branch", "more branches")
            yield f"commits on {more} that no remote has"

    def _is_detached(self) -> bool:
        return self.git.succeeds("rev-parse", "-q", "--verify", "HEAD") and not self.git.succeeds(
            "symbolic-ref", "-q", "HEAD"
        )

    def _shallow_commits(self) -> list[str]:
        if self._mode(".git/shallow") is None:
            return []
        words = self._read(".git/shallow", 1 << 20).decode("ascii", "replace").split()
        if len(words) > 1000 or not all(set(word) <= set("0123456789abcdef") for word in words):
            raise Unclear
        return words

    def _commits(self, *revisions: str) -> int:
        return int(self.git.output("rev-list", "--count", *revisions, "--"))

    def _read(self, name: str, longest: int) -> bytes:
        fd = self._open(name, os.O_NONBLOCK)
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unclear
            return os.read(fd, longest)
        finally:
            os.close(fd)

    def _names(self, name: str) -> list[str]:
        try:
            fd = self._open(name, os.O_DIRECTORY)
        except FileNotFoundError:
            return []
        try:
            return os.listdir(fd)
        finally:
            os.close(fd)

    def _open(self, name: str, how: int) -> int:
        """Without making it younger, as far as we own it."""
        how |= os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(name, how | getattr(os, "O_NOATIME", 0), dir_fd=self.fd)
        except PermissionError:
            return os.open(name, how, dir_fd=self.fd)

    def _mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def _says_something(self, name: str) -> bool:
        """Whether there is anything but an empty file or an empty directory."""
        mode = self._mode(name)
        if mode is None:
            return False
        return bool(self._names(name)) if stat.S_ISDIR(mode) else not stat.S_ISREG(mode) or bool(self._read(name, 1))


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _spoken(ref: str) -> str:
    for prefix, word in (("refs/heads/", "branch "), ("refs/tags/", "tag ")):
        if ref.startswith(prefix):
            return word + ref.removeprefix(prefix)
    return ref
