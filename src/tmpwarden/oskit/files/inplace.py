"""Remove a tree where it lies, for the day when no quarantine can be made: every name is looked at before it goes."""

from __future__ import annotations

import errno
import os

from ..race import race_window as _race_window
from . import take
from .doomed import Doomed
from .emptier import MOVED_UP, Emptier, OpenDirectory, Purged
from .opening import closing
from .walk import Walk

# Our unlink of one name moves the ctime of the inode behind the others. The next run cannot tell that from somebody's
# change, unless it was written down before: which inode it is, how big, and when it was last written.
MOST_LINKS = 15_000  # of 12 letters each: one line of the journal, which must fit into its reserve
_MARK_LETTERS = 12


def purge_in_place(doomed: Doomed, *, newest_ns: int, links: str = "") -> Purged:
    """Remove the doomed tree while it holds nothing newer than `newest_ns`, its newest when judged.

    Whatever was written, made, renamed or linked since has a later ctime than any member had then. Stops at the
    first oddity and tells it in `failed`. One that is resumed goes on from there: our own removals have made
    directories younger, so only their members are held against `newest_ns` then, and of files with several names, which
    `links` tells (see link_marks), only when they were last written.
    """
    purger = _Careful(doomed, newest_ns)
    purger.ours = separate(links) if purger.resuming else frozenset()
    try:
        purger.purge()
    except _Oddity as oddity:
        purger.fail(oddity.name, OSError(errno.ESTALE, str(oddity)))
    return purger.result()


class _Oddity(Exception):
    """Something is not as it was judged."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


class _Careful(Emptier):
    """An Emptier in a directory that others can write to as well."""

    def __init__(self, doomed: Doomed, newest_ns: int) -> None:
        super().__init__(doomed, counts=True)
        self.newest_ns, self.resuming, self.uid = newest_ns, doomed.by == "resumed", os.geteuid()
        self.device = doomed.bound.device
        self.dated: dict[int, int] = {}  # inodes of which we removed a name: the ctime that this gave them
        self.ours: frozenset[str] = frozenset()  # marks of those of which the run before us may have removed one

    def purge(self) -> None:
        _race_window("judged, not yet opened")
        self.tree()

    def open(self, name: str, dir_fd: int) -> int:
        before = os.stat(name, dir_fd=dir_fd, follow_symlinks=False) if self.levels else self.look(name)
        came_up = len(self.levels) == 1 and name.endswith(MOVED_UP)  # by our own rename, which dates it
        if self.levels and not self.resuming and not came_up:  # the top is pinned, and this run may have dated it
            self.check(name, before)
        _race_window("compared, not yet opened")
        try:
            fd = super().open(name, dir_fd)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _Oddity(name, error.strerror or str(error)) from None
        status = os.fstat(fd)
        if status.st_uid != self.uid or not os.path.samestat(status, before):
            os.close(fd)
            raise _Oddity(name, "it is not what was checked")
        return fd

    def look(self, name: str) -> os.stat_result:
        try:
            return self.doomed.look()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise _Oddity(name, error.strerror or str(error)) from None

    def empty(self, level: OpenDirectory) -> str | None:
        for entry in level.entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                return name
            _race_window("judged, not yet compared")
            try:
                status = os.stat(name, dir_fd=level.fd, follow_symlinks=False)
            except FileNotFoundError:
                continue
            self.check(name, status)
            try:
                self.unlink(name, level.fd, status)
            except OSError as error:
                raise _Oddity(name, error.strerror or str(error)) from None
            self.entries += 1
            self.blocks += status.st_blocks if status.st_nlink == 1 else 0
        return None

    def check(self, name: str, status: os.stat_result) -> None:
        if status.st_uid != self.uid or status.st_dev != self.device:
            raise _Oddity(name, "it is not what was checked")
        changed_ns = status.st_ctime_ns
        if self.dated.get(status.st_ino) == changed_ns:
            changed_ns = 0  # by our own removal of another name of it, and by nobody since
        if changed_ns > self.newest_ns and self.ours and mark(status) in self.ours:
            changed_ns = 0  # by a removal of ours that was cut short: it is what was judged, and was not written since
        if max(status.st_mtime_ns, changed_ns) > self.newest_ns:
            raise _Oddity(name, "it changed after it was checked")

    def unlink(self, name: str, dir_fd: int, status: os.stat_result) -> None:
        if status.st_nlink == 1:
            os.unlink(name, dir_fd=dir_fd)
            return
        with closing(take.pin(dir_fd, name)) as pinned:
            if os.fstat(pinned).st_ctime_ns != status.st_ctime_ns or os.fstat(pinned).st_ino != status.st_ino:
                raise _Oddity(name, "it changed after it was checked")
            os.unlink(name, dir_fd=dir_fd)
            self.dated[status.st_ino] = os.fstat(pinned).st_ctime_ns

    def remove(self, level: OpenDirectory) -> None:
        dir_fd = self.levels[-2].fd if len(self.levels) > 1 else self.dir_fd
        _race_window("emptied, not yet removed")
        if not os.path.samestat(os.stat(level.name, dir_fd=dir_fd, follow_symlinks=False), os.fstat(level.fd)):
            raise OSError(errno.ESTALE, "another directory took its place")
        super().remove(level)


def mark(status: os.stat_result) -> str:
    """What stays the same when one of several names goes, and not when the content changes or another file comes."""
    from hashlib import blake2b  # only where a tree has to go in place

    text = f"{status.st_ino}:{status.st_mtime_ns}:{status.st_size}"
    return blake2b(text.encode(), digest_size=_MARK_LETTERS // 2).hexdigest()


def marks_in(dir_fd: int, name: str) -> str | None:
    """The marks of what has two names or more inside the tree at `name`, joined; None if they are too many to write
    down, or if part of the tree could not be read."""
    walk = _Links(os.stat(name, dir_fd=dir_fd, follow_symlinks=False))
    fd = walk.open(name, dir_fd)
    if fd is not None:
        walk.tree(fd)
    return None if walk.unreadable or len(walk.marks) > MOST_LINKS else "".join(sorted(walk.marks))


def separate(marks: str) -> frozenset[str]:
    return frozenset(marks[at : at + _MARK_LETTERS] for at in range(0, len(marks), _MARK_LETTERS))


class _Links(Walk):
    """Looks at nothing but files with more than one name. Those whose other names lie outside are left aside."""

    def __init__(self, status: os.stat_result) -> None:
        super().__init__(
            status=status,
            uid=os.geteuid(),
            count_atime=False,
            locked=frozenset(),
            is_marked=None,
            limit=None,
            was_moved=0,
        )
        self.marks: set[str] = set()

    def add_link(self, status: os.stat_result) -> None:
        if status.st_ino in self.seen_links:
            self.marks.add(mark(status))
        self.seen_links.add(status.st_ino)
