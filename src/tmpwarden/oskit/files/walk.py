"""Look at a file or a tree without changing it: one pass, descriptors only, no link followed, no mount crossed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from .opening import closing, open_dir
from .roll import MOST, Roll
from .same_mount import enter
from .tree_sums import JUST_NOW, LONG_AGO, IsMarked, TreeSums

__all__ = ["JUST_NOW", "LONG_AGO", "Walk", "bytes_at", "measure", "open_dir"]
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.sweep import Measure

_MOST_OPEN = 64  # levels that stay open (two descriptors each); below them one directory at a time
_SHALLOW, _LONG = 4, 500  # levels, letters: from here on a path in it may be too long for /proc to tell (4,096 bytes)
_AT_ONCE = 64  # directories whose names wait while the first of them is walked
_KIND, _PLAIN_FILE = 0o170000 | stat.S_ISVTX, stat.S_IFREG


Level = tuple[int, Iterator[os.DirEntry[str]], list[str]]  # its descriptor, what was not read yet, what waits


def measure(
    dir_fd: int,
    name: str,
    *,
    uid: int,
    count_atime: bool,
    locked: frozenset[tuple[int, int]] = frozenset(),
    is_marked: IsMarked | None = None,
    limit: int | None = None,
    was_moved: int = 0,
    roll: Roll | None = None,
) -> Measure | None:
    """What lies at `name`, added up; None if it vanished. Nothing is changed, not even an atime.

    `roll`: gets every name; empty if they are too many.
    `was_moved`: by ourselves, which dates its root: of that one only the mtime counts. LONG_AGO: and of hard links.
    """
    fd = None
    try:
        fd = enter(name, dir_fd)  # most are directories
        status = os.fstat(fd)
    except FileNotFoundError:
        return None
    except OSError:
        try:
            status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
    walk = Walk(
        status=status,
        uid=uid,
        count_atime=count_atime,
        locked=locked,
        is_marked=is_marked,
        limit=limit,
        was_moved=was_moved,
    )
    walk.roll = roll
    if not stat.S_ISDIR(status.st_mode):
        walk.add_entry(name, status)
    elif (fd := walk.open(name, dir_fd) if fd is None else walk.entered(name, fd, status)) is not None:
        walk.tree(fd)
    if roll is not None and walk.roll is None:
        roll.clear()
    return walk.result()


def bytes_at(path: str) -> int | None:
    """What lies there, by its whole path; None where that cannot be looked at."""
    parent, name = os.path.split(path)
    try:
        with closing(open_dir(parent)) as fd:
            seen = measure(fd, name, uid=os.geteuid(), count_atime=False)
    except OSError:
        return None
    return seen.bytes if seen is not None else None


class Walk(TreeSums):
    """The way through one tree."""

    roll: Roll | None = None

    def tree(self, top_fd: int) -> None:
        """Walk the directory behind `top_fd`, and close it. A million entries need no more memory than ten."""
        self.at_top = False
        levels: list[Level] = [(top_fd, self.scan(top_fd), [])]
        try:
            while levels:
                fd, entries, todo = levels[-1]
                if not todo and not self.read(entries, todo):
                    levels.pop()
                    os.close(fd)
                    if self.roll is not None:
                        self.roll.append(None)
                    if levels:
                        self.names.pop()
                    continue
                name = todo.pop()
                if self.room <= 0:
                    self.stopped = True
                    todo.clear()
                    continue
                child = self.open(name, fd)
                if child is None:
                    continue
                self.names.append(name)
                if len(self.names) >= _SHALLOW and sum(map(len, self.names)) > _LONG:
                    self.is_deep = True
                if len(levels) < _MOST_OPEN:
                    levels.append((child, self.scan(child), []))
                else:
                    self.is_deep, self.roll = True, None
                    from .deep_walk import deep_tree  # few trees are that deep

                    deep_tree(self, child)
                    self.names.pop()
        finally:
            for fd, _, _ in levels:
                os.close(fd)

    def open(self, name: str, dir_fd: int) -> int | None:
        """Enter a directory and count it; None if it is not to be entered."""
        try:
            fd = enter(name, dir_fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.EXDEV:  # touching what is mounted there may take for ever
                self.entries, self.crosses_device = self.entries + 1, True
            else:
                self.add_unopened(name, dir_fd)
            return None
        return self.entered(name, fd, os.fstat(fd))

    def entered(self, name: str, fd: int, status: os.stat_result) -> int | None:
        self.entries += 1
        self.directories += 1
        self.room -= 1
        date, changed = status.st_mtime, status.st_ctime
        if changed > date:
            date = changed
        if self.count_atime and status.st_atime > date:
            date = status.st_atime
        if date > self.newest_s or date < self.oldest_s:
            self.add_dates(status)  # always for the root, which comes first
        if status.st_dev != self.device:
            self.crosses_device = True
            os.close(fd)
            return None
        self.blocks += status.st_blocks
        if self.is_held_back is not None and self.is_held_back(status):
            self.held_back.append(self.path(name))
            os.close(fd)
            return None
        if status.st_uid != self.uid:
            self.foreign += 1
        if status.st_ino in self.locked_inodes:
            self.note_lock(name, status)
        if self.roll is not None:
            self.roll.append((name, status.st_ctime_ns, status.st_mtime_ns))
        return fd

    def scan(self, fd: int) -> Iterator[os.DirEntry[str]]:
        try:
            return os.scandir(fd)
        except OSError:
            self.unreadable += 1
        return iter(())

    def read(self, entries: Iterator[os.DirEntry[str]], names: list[str]) -> list[str]:
        """Count entries up to the next few directories, whose names go into `found`; nothing at the end."""
        newest, oldest, uid, device, locked = self.newest_s, self.oldest_s, self.uid, self.device, self.locked_inodes
        count_atime, is_marked, room = self.count_atime, self.is_marked, self.room
        here = "" if is_marked is None else "/".join(self.names)
        roll, is_held_back = self.roll, self.is_held_back
        blocks = count = 0
        try:
            for entry in entries:
                name = entry.name
                if count >= room:
                    self.stopped = True
                    break
                if name == ".git" or name == "HEAD":
                    self.note_repository(name)
                if is_marked is not None and is_marked(here, name):
                    self.marked.append(self.path(name))
                if entry.is_dir(follow_symlinks=False):
                    names.append(name)
                    if len(names) == _AT_ONCE:
                        break
                    continue
                try:
                    s = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                count += 1
                if roll is not None:
                    roll.append(name)
                    if len(roll) > MOST:
                        self.roll = roll = None
                blocks += s.st_blocks
                date, changed = s.st_mtime, s.st_ctime
                if changed > date:
                    date = changed
                if count_atime and s.st_atime > date:
                    date = s.st_atime
                if date > newest or date < oldest:
                    newest, oldest = self.add_dates(s)
                mode, inode, where, links, owner = s[:5]  # unpacking a slice costs a third of five subscripts
                if mode & _KIND != _PLAIN_FILE or owner != uid or links != 1 or where != device or inode in locked:
                    self.add_oddity(name, s)
                elif is_held_back is not None and is_held_back(s):
                    self.held_back.append(self.path(name))
        except OSError:
            self.unreadable += 1
        self.blocks += blocks
        self.entries += count
        self.room -= count
        return names
