"""Walk on below the levels that stay open: each directory is read at once, and the way back leads through `..`."""

from __future__ import annotations

import os
from array import array

from .opening import open_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .walk import Walk

_CHUNK = 64


class NameList:
    """Names that wait for their turn, kept as joined text: a str object each would cost 60 bytes more."""

    __slots__ = ("chunks", "loose")

    def __init__(self) -> None:
        self.chunks: list[str] = []
        self.loose: list[str] = []

    def __bool__(self) -> bool:
        return bool(self.loose or self.chunks)

    def add(self, name: str) -> None:
        self.loose.append(name)
        if len(self.loose) == _CHUNK:
            self.chunks.append("/".join(self.loose))
            self.loose = []

    def pop(self) -> str:
        if not self.loose:
            self.loose = self.chunks.pop().split("/")
        return self.loose.pop()


def deep_tree(walk: Walk, top_fd: int) -> None:
    """Walk the directory behind `top_fd`, and close it."""
    here, todo = top_fd, _read_at_once(walk, top_fd)
    trail = array("Q")  # the inodes of the directories above, and
    left_above: dict[int, NameList] = {}  # what still waits in them, by depth: most of a chain waits for nothing
    depth = len(walk.names)
    try:
        while todo or trail:
            if not todo:
                inode = trail.pop()
                todo = left_above.pop(len(trail), todo)
                here = climb(walk, here, inode)
                walk.names.pop()
                continue
            name = todo.pop()
            child = walk.open(name, here)
            if child is None:
                continue
            walk.names.append(name)
            below = _read_at_once(walk, child)
            inode = os.fstat(here).st_ino
            if below and _leads_up(walk, child, inode):
                if todo:
                    left_above[len(trail)] = todo
                trail.append(inode)
                os.close(here)
                here, todo = child, below
            else:
                os.close(child)
                walk.names.pop()
    except _LostWay:
        walk.unreadable += 1
        del walk.names[depth:]
    finally:
        os.close(here)


def climb(walk: Walk, fd: int, inode: int) -> int:
    """From a directory to its parent, if that still is the one we came from."""
    try:
        parent = open_dir("..", fd)
    except OSError:
        raise _LostWay from None
    status = os.fstat(parent)
    if status.st_ino != inode or status.st_dev != walk.device:
        os.close(parent)
        raise _LostWay
    os.close(fd)
    return parent


def _leads_up(walk: Walk, fd: int, inode: int) -> bool:
    try:
        status = os.stat("..", dir_fd=fd)
        if status.st_ino == inode and status.st_dev == walk.device:
            return True
    except OSError:
        pass
    walk.unreadable += 1
    return False


def _read_at_once(walk: Walk, fd: int) -> NameList:
    names, entries, some = NameList(), walk.scan(fd), list[str]()
    while walk.read(entries, some):
        for name in some:
            names.add(name)
        some.clear()
    return names


class _LostWay(Exception):
    """`..` is not the directory we came from: the tree was moved under us."""
