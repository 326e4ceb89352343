"""Add up what a walk sees of a tree: dates, bytes, and whatever is not simply a plain file of ours."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from .. import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.sweep import Measure

_MOST_LINKED = 200_000  # inodes with several names that are remembered; past that their bytes are not added
_NEVER_NS = 1 << 62
_NOT_MOVED, JUST_NOW, LONG_AGO = range(3)  # when we moved it: what our own rename, and time, did to its dates

IsMarked = Callable[[str, str], bool]


_last: tuple[object, frozenset[int]] = (None, frozenset())


def _inodes(locked: frozenset[tuple[int, int]]) -> frozenset[int]:
    """Worked out once for all walks that are handed the same locks."""
    global _last
    if _last[0] is not locked:
        _last = locked, frozenset(inode for _, inode in locked)
    return _last[1]


class TreeSums:
    """The running totals of one walk and the way to where it is."""

    def __init__(
        self,
        status: os.stat_result,
        uid: int,
        count_atime: bool,
        locked: frozenset[tuple[int, int]],
        is_marked: IsMarked | None,
        limit: int | None,
        was_moved: int,
    ) -> None:
        self.device, self.uid, self.count_atime = status.st_dev, uid, count_atime
        self.locked, self.locked_inodes = locked, _inodes(locked)
        self.is_marked = is_marked
        self.room = 1 << 62 if limit is None else limit  # entries that may still be counted
        self.at_top, self.was_moved = True, was_moved
        self.names: list[str] = []  # the directories between the unit and where we are
        self.newest_s, self.oldest_s = float("-inf"), float("inf")  # rounded as st_mtime is: cheap to compare
        self.newest_ns, self.oldest_ns = -_NEVER_NS, _NEVER_NS
        self.blocks = self.entries = self.directories = self.unreadable = 0
        self.foreign = self.sticky = self.devices = self.linked = 0
        self.stopped = self.crosses_device = self.is_deep = self.has_no_openers = False
        self.seen_links: set[int] = set()
        self.found_locked: list[str] = []
        self.sockets: list[str] = []
        self.git: list[str] = []
        self.marked: list[str] = []
        self.held_back: list[str] = []
        self.is_held_back = system.entries.is_held_back

    def add_entry(self, name: str, status: os.stat_result) -> None:
        self.entries += 1
        self.room -= 1
        self.blocks += status.st_blocks
        self.add_dates(status)
        self.add_oddity(name, status)

    def add_unopened(self, name: str, dir_fd: int) -> None:
        """A directory that cannot be read, or that is none any more."""
        try:
            status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        except OSError as error:
            self.unreadable += not isinstance(error, FileNotFoundError)
            return
        self.unreadable += stat.S_ISDIR(status.st_mode)
        self.add_entry(name, status)

    def add_dates(self, status: os.stat_result) -> tuple[float, float]:
        """Take the dates of one member in; newest and oldest so far, in rounded seconds."""
        date_ns, date = max(status.st_mtime_ns, status.st_ctime_ns), max(status.st_mtime, status.st_ctime)
        is_named_elsewhere = self.was_moved == LONG_AGO and status.st_nlink > 1 and not stat.S_ISDIR(status.st_mode)
        if (self.at_top and self.was_moved) or is_named_elsewhere:
            date_ns, date = status.st_mtime_ns, status.st_mtime
        if self.count_atime:
            date_ns, date = max(date_ns, status.st_atime_ns), max(date, status.st_atime)
        if date_ns > self.newest_ns:
            self.newest_ns, self.newest_s = date_ns, date
        if date_ns < self.oldest_ns:
            self.oldest_ns, self.oldest_s = date_ns, date
        return self.newest_s, self.oldest_s

    def add_oddity(self, name: str, status: os.stat_result) -> None:
        """What is not simply a plain file of ours with one name."""
        kind = stat.S_IFMT(status.st_mode)
        self.foreign += status.st_uid != self.uid
        self.sticky += bool(status.st_mode & stat.S_ISVTX) and kind != stat.S_IFDIR
        self.devices += kind in (stat.S_IFBLK, stat.S_IFCHR)
        self.crosses_device |= status.st_dev != self.device
        if kind == stat.S_IFSOCK:
            self.sockets.append(self.path(name))
        if status.st_nlink > 1 and kind != stat.S_IFDIR:
            self.add_link(status)
        self.note_lock(name, status)
        if self.is_held_back is not None and self.is_held_back(status):
            self.held_back.append(self.path(name))

    def add_link(self, status: os.stat_result) -> None:
        """Count the bytes of an inode with several names once."""
        self.linked += 1
        if status.st_ino in self.seen_links:
            self.blocks -= status.st_blocks
        elif len(self.seen_links) < _MOST_LINKED:
            self.seen_links.add(status.st_ino)
        else:
            self.blocks -= status.st_blocks
            self.stopped = True

    def note_lock(self, name: str, status: os.stat_result) -> None:
        if (status.st_dev, status.st_ino) in self.locked:
            self.found_locked.append(self.path(name))

    def note_repository(self, name: str) -> None:
        """`.git`, or the HEAD of what may be a bare repository. Inside a `.git` both are its own."""
        if ".git" not in self.names:
            self.git.append("/".join(self.names))

    def path(self, name: str) -> str:
        return "" if self.at_top else "/".join((*self.names, name))

    def result(self) -> Measure | None:
        from ...model.sweep import Measure

        if not self.entries:
            return None
        return Measure(
            newest_ns=self.newest_ns,
            oldest_ns=self.oldest_ns,
            bytes=self.blocks * 512,
            entries=self.entries,
            directories=self.directories,
            at_least=self.stopped or self.unreadable > 0,
            unreadable=self.unreadable,
            foreign=self.foreign,
            sticky=self.sticky,
            devices=self.devices,
            crosses_device=self.crosses_device,
            is_deep=self.is_deep,
            locked=tuple(self.found_locked),
            sockets=tuple(self.sockets),
            git=tuple(dict.fromkeys(self.git)),
            marked=tuple(self.marked),
            held_back=tuple(self.held_back),
            linked=self.linked,
            has_no_openers=self.has_no_openers,
        )
