"""Empty a directory tree: no recursion, few descriptors, bounded memory, no link followed and no mount entered."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from .. import system
from ..race import race_window as _race_window
from .doomed import Doomed
from .same_mount import MOUNTED, enter, is_certain, mounts_below

_MOST_OPEN = 64  # levels that stay open; deeper directories are moved up to the top of their tree
_MOST_SHOWN = 100
MOVED_UP = "~"  # ends the name of a directory that came up from below


class Purged:
    """What `purge` did."""

    __slots__ = ("entries", "failed", "freed_bytes", "left", "place")

    def __init__(self, freed_bytes: int, entries: int, failed: tuple[tuple[str, str], ...], left: int) -> None:
        self.freed_bytes = freed_bytes  # of inodes whose last name went
        self.entries = entries  # names removed
        self.failed = failed  # (relative path, error) of the first hundred that would not go
        self.left = left  # how many would not go
        self.place = ""  # where they lie, in words, if the caller said so

    @property
    def trouble(self) -> str:
        """The first error, with where it was met below `place`."""
        return ": ".join(filter(None, self.failed[0])) if self.failed else ""

    def __repr__(self) -> str:
        return f"Purged({self.freed_bytes}, {self.entries}, {self.failed}, {self.left})"


class OpenDirectory:
    """A directory that is being emptied."""

    __slots__ = ("before", "blocks", "entries", "failures", "fd", "left", "name")

    def __init__(self, name: str, fd: int, blocks: int) -> None:
        self.name, self.fd, self.blocks = name, fd, blocks
        self.entries: Iterator[os.DirEntry[str]] = iter(())
        self.before = -1  # entries removed in all when we last began to read it
        self.left = self.failures = 0  # what could not go, in all, when we came here


class Emptier:
    """Empties one tree, deepest directories first, with a bounded number of open descriptors and no recursion."""

    def __init__(self, doomed: Doomed, *, counts: bool) -> None:
        assert doomed.dir_fd is not None
        self.doomed, self.dir_fd, self.name, self.counts = doomed, doomed.dir_fd, doomed.name, counts
        self.blocks = self.entries = self.left = 0
        self.failed: list[tuple[str, str]] = []
        self.levels: list[OpenDirectory] = []
        self.moved_up = False
        self.mounts = frozenset() if is_certain() else mounts_below(self.dir_fd, self.name)

    def purge(self) -> None:
        try:
            status = self.doomed.look()
            self.device = status.st_dev
            if stat.S_ISDIR(status.st_mode):
                self.tree()
                return
            os.unlink(self.name, dir_fd=self.dir_fd)
        except FileNotFoundError:
            return
        except OSError as error:
            self.fail("", error)
            return
        self.entries += 1
        self.blocks += status.st_blocks if status.st_nlink == 1 else 0

    def tree(self) -> None:
        self.enter(self.name, self.dir_fd)
        try:
            while self.levels:
                level = self.levels[-1]
                name = self.empty(level)
                if name is None:
                    self.leave(level)
                elif len(self.levels) < _MOST_OPEN:
                    self.enter(name, level.fd)
                else:
                    self.move_up(name, level)
        finally:
            for level in self.levels:
                os.close(level.fd)

    def enter(self, name: str, dir_fd: int) -> None:
        try:
            fd = self.open(name, dir_fd)
        except FileNotFoundError:
            return
        except OSError as error:
            self.fail(name, error)
            return
        level = OpenDirectory(name, fd, os.fstat(fd).st_blocks if self.counts else 0)
        level.left, level.failures = self.left, len(self.failed)
        self.levels.append(level)
        self.begin(level)

    def begin(self, level: OpenDirectory) -> None:
        level.before = self.entries
        try:
            level.entries = os.scandir(level.fd)
        except OSError as error:
            self.fail("", error)

    def leave(self, level: OpenDirectory) -> None:
        """Remove a directory that was emptied; read it again if more came to light while we emptied it."""
        try:
            self.remove(level)
        except FileNotFoundError:
            pass
        except OSError as error:
            is_full = error.errno in (errno.ENOTEMPTY, errno.EEXIST)
            if is_full and self.may_read_again(level):
                self.left = level.left
                del self.failed[level.failures :]
                self.begin(level)
                return
            if is_full and self.left > level.left:  # its members were told of
                self.left += 1
            else:
                self.fail("", error)
        os.close(level.fd)
        self.levels.pop()

    def remove(self, level: OpenDirectory) -> None:
        os.rmdir(level.name, dir_fd=self.levels[-2].fd if len(self.levels) > 1 else self.dir_fd)
        self.entries += 1
        self.blocks += level.blocks

    def may_read_again(self, level: OpenDirectory) -> bool:
        """After moves to the top, or where something went and nothing failed: some file systems skip names then."""
        if level is self.levels[0] and self.moved_up:
            self.moved_up = False
            return True
        return self.entries > level.before and self.left == level.left

    def empty(self, level: OpenDirectory) -> str | None:
        """Unlink entries up to the next directory and return its name; None at the end."""
        fd, counts, unlink = level.fd, self.counts, os.unlink
        removed = blocks = 0
        problem = None
        try:
            for entry in level.entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    problem = name
                    break
                try:
                    if counts:
                        status = entry.stat(follow_symlinks=False)
                        unlink(name, dir_fd=fd)
                        if status[3] == 1:
                            blocks += status.st_blocks
                    else:
                        unlink(name, dir_fd=fd)
                    removed += 1
                except FileNotFoundError:
                    continue
                except OSError as error:
                    self.fail(name, error)
        except OSError as error:
            self.fail("", error)
        self.entries += removed
        self.blocks += blocks
        return problem

    def open(self, name: str, dir_fd: int) -> int:
        """Open a directory of this tree for emptying, mending its mode through the descriptor if need be."""
        if self.mounts is None:
            raise OSError(errno.EBUSY, "it could not be checked whether a file system is mounted in it")
        if self.mounts and self.path(name) in self.mounts:
            raise OSError(errno.EBUSY, MOUNTED)
        try:
            fd = enter(name, dir_fd)
        except PermissionError:
            fd = self.open_shut(name, dir_fd)
        status = os.fstat(fd)
        try:
            if dir_fd == self.dir_fd and not self.doomed.is_same(status):
                raise OSError(errno.ESTALE, "another directory took its place")
            if status.st_dev != self.device:
                raise OSError(errno.EXDEV, MOUNTED)
            if status.st_mode & 0o700 != 0o700:
                os.fchmod(fd, stat.S_IMODE(status.st_mode) | 0o700)
        except OSError:
            os.close(fd)
            raise
        return fd

    def open_shut(self, name: str, dir_fd: int) -> int:
        """Open a directory without u+r. The pin makes sure that the mode changes on this very directory."""
        pinned = system.descriptors.pin(name, dir_fd)
        try:
            status = os.fstat(pinned)
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if status.st_uid != os.geteuid() or status.st_dev != self.device:
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            system.descriptors.set_mode(pinned, stat.S_IMODE(status.st_mode) | 0o700)
            _race_window("made readable, not yet opened")
            fd = enter(name, dir_fd)
            if not os.path.samestat(os.fstat(fd), status):
                os.close(fd)
                raise OSError(errno.ESTALE, "another directory took its place")
            return fd
        finally:
            os.close(pinned)

    def move_up(self, name: str, level: OpenDirectory) -> None:
        """Hang a directory that lies too deep below the top of its own tree; it is met there again."""
        try:
            os.close(self.open(name, level.fd))  # writable now, or it could not move
            new_name = os.urandom(8).hex() + MOVED_UP
            os.rename(name, new_name, src_dir_fd=level.fd, dst_dir_fd=self.levels[0].fd)
            self.moved_up = True
            if not is_certain():
                self.mounts = mounts_below(self.dir_fd, self.name)
        except FileNotFoundError:
            return
        except OSError as error:
            self.fail(name, error)

    def result(self) -> Purged:
        return Purged(self.blocks * 512, self.entries, tuple(self.failed), self.left)

    def fail(self, name: str, error: OSError) -> None:
        self.left += 1
        if len(self.failed) < _MOST_SHOWN:
            self.failed.append((self.path(name), error.strerror or str(error)))

    def path(self, name: str) -> str:
        """Where `name` lies, seen from the top of the tree."""
        return "/".join(filter(None, (*(level.name for level in self.levels[1:]), name if self.levels else "")))
