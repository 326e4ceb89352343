"""Who has locked what, and whether anybody listens on a socket."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection

from ...model.answers import NotMeasured, Users
from .. import system
from ..files.opening import open_dir

try:
    import fcntl
except ImportError:  # Windows: nothing is measured
    fcntl = None  # type: ignore[assignment]


class LockedInodes(frozenset[tuple[int, int]]):
    """(st_dev, inode) of locked files. Where a file system reports another device than stat, a number that may be
    a locked file's counts as one: that errs towards keeping."""

    numbers: frozenset[int]
    plain_devices: frozenset[int]

    def __contains__(self, item: object) -> bool:
        if super().__contains__(item):
            return True
        return isinstance(item, tuple) and item[1] in self.numbers and item[0] not in self.plain_devices


Inodes = frozenset[tuple[int, int]]  # (st_dev, inode)


def locked_inodes(except_pids: Collection[int] = ()) -> Inodes | NotMeasured:
    """Every file with a flock, POSIX or OFD lock or a lease on it, or somebody waiting for one.

    `except_pids`: whose flocks and POSIX locks do not count, such as our own. A process that locks a file has it open,
    so where this cannot be measured the kernel can be asked.
    """
    return system.locks.locked_inodes(except_pids)


def bound_sockets() -> frozenset[bytes] | NotMeasured:
    """A mark for every socket of this network namespace that is bound to a path; compare two looks."""
    return system.locks.bound_sockets()


def listening_sockets() -> frozenset[str] | NotMeasured:
    """The absolute paths of this network namespace that somebody listens on, as they were bound."""
    return system.locks.listening_sockets()


def listeners(dir_fd: int, name: str) -> Users:
    """Whether any process has this socket bound. Only ECONNREFUSED is dead."""
    return system.locks.listeners(dir_fd, name)


def newly_locked(before: Inodes | NotMeasured, now: Inodes | NotMeasured) -> Inodes:
    """What has been locked between two looks; all that is locked now if the first was not measured."""
    if isinstance(now, NotMeasured):
        return frozenset()
    fresh = now if isinstance(before, NotMeasured) else frozenset(now) - frozenset(before)
    if not fresh or not isinstance(now, LockedInodes):
        return fresh
    loose = LockedInodes(fresh)
    loose.numbers, loose.plain_devices = now.numbers & {inode for _, inode in fresh}, now.plain_devices
    return loose


def newly_bound(before: frozenset[bytes] | NotMeasured, now: frozenset[bytes] | NotMeasured) -> bool:
    """Whether some socket may have been bound between two looks."""
    return isinstance(before, NotMeasured) or isinstance(now, NotMeasured) or not now <= before


def unlock(fd: int) -> None:
    """Let go for everybody who inherited `fd`: closing it alone would leave the lock with a forked child."""
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_UN)


def flocked(pinned: int) -> int:
    """A descriptor that holds the lock of a pinned directory, or -1 if somebody else does. Raises OSError where it
    cannot be opened: then nobody knows."""
    fd = open_dir(".", pinned)
    if try_flock(fd):
        return fd
    os.close(fd)
    return -1


def try_flock(fd: int) -> bool:
    """Take the exclusive flock of an open file or directory, without waiting. False: not got."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def flock(fd: int) -> None:
    """The same, but wait for a process that looks at it right now. The kernel lets go of it when its holder ends."""
    if fcntl is None:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError as error:  # a file system without locks: the lease alone has to do
        if error.errno not in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL):
            raise
