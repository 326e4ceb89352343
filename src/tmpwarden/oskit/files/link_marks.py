"""Marks of files with several names in one tree: by them a removal in place that was cut short knows its own traces.

Our unlink of one name moves the ctime of the inode behind the others. The next run cannot tell that from somebody's
change, unless it was written down before: which inode it is, how big, and when it was last written.
"""

from __future__ import annotations

import os

from .walk import Walk

MOST = 15_000  # of 12 letters each: one line of the journal, which must fit into its reserve
_LENGTH = 12


def mark(status: os.stat_result) -> str:
    """What stays the same when one of several names goes, and not when the content changes or another file comes."""
    from hashlib import blake2b  # only where a tree has to go in place

    said = f"{status.st_ino}:{status.st_mtime_ns}:{status.st_size}"
    return blake2b(said.encode(), digest_size=_LENGTH // 2).hexdigest()


def marks_in(dir_fd: int, name: str) -> str | None:
    """The marks of what has two names or more inside the tree at `name`, joined; None if they are too many to write
    down, or if part of the tree could not be read."""
    walk = _Links(os.stat(name, dir_fd=dir_fd, follow_symlinks=False))
    fd = walk.open(name, dir_fd)
    if fd is not None:
        walk.tree(fd)
    return None if walk.unreadable or len(walk.marks) > MOST else "".join(sorted(walk.marks))


def separate(marks: str) -> frozenset[str]:
    return frozenset(marks[at : at + _LENGTH] for at in range(0, len(marks), _LENGTH))


class _Links(Walk):
    """Looks at nothing but files with more than one name. Those whose other names lie outside are left aside."""

    def __init__(self, status: os.stat_result) -> None:
        super().__init__(status, os.geteuid(), False, frozenset(), None, None, False)
        self.marks: set[str] = set()

    def add_link(self, status: os.stat_result) -> None:
        if status.st_ino in self.seen_links:
            self.marks.add(mark(status))
        self.seen_links.add(status.st_ino)
