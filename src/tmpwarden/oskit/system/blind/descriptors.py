"""From an open descriptor to what it leads to, with no more than POSIX has, and F_GETPATH where it is."""

from __future__ import annotations

import errno
import os
import stat

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_GET_PATH = getattr(fcntl, "F_GETPATH", None)  # macOS
_LONGEST = 1024  # MAXPATHLEN there
_TO_LOOK = getattr(os, "O_EVTONLY", 0)  # macOS: neither for reading nor for writing, and no mount is kept busy
_OF_LINK = getattr(os, "O_SYMLINK", 0)  # macOS: the link itself
_HELD = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"):
    _HELD |= getattr(os, _flag, 0)


def path_of(fd: int) -> str:
    """Where it is now, as far as that can be proven. Raises OSError."""
    if _GET_PATH is None:
        raise OSError(errno.ENOTSUP, "this system does not tell where an open file lies")
    answer: bytes = fcntl.fcntl(fd, _GET_PATH, bytes(_LONGEST))
    path = os.fsdecode(answer.partition(b"\0")[0])
    if not os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(fd)):
        raise OSError(errno.ESTALE, "it has been moved")
    return path


def way_to(fd: int) -> str:
    """A path that leads to what is open right now: a caller that goes there compares. Raises OSError."""
    return path_of(fd)


def reopened(fd: int, flags: int) -> int:
    """The same file opened once more, with flags of its own. Raises OSError."""
    opened = os.open(path_of(fd), flags | os.O_NOFOLLOW)
    if os.path.samestat(os.fstat(opened), os.fstat(fd)):
        return opened
    os.close(opened)
    raise OSError(errno.ESTALE, "it has been moved")


def pin(name: str | bytes, dir_fd: int | None) -> int:
    """Hold what lies behind a name: no link followed, no fifo given a reader. While it is held nothing else can get its
    inode number. Raises OSError: ENOTSUP where this system cannot hold such a thing."""
    seen = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    flags = _flags_for(seen.st_mode)
    if flags is None:
        raise OSError(errno.ENOTSUP, f"this system cannot hold {_kind(seen.st_mode)}", name)
    pinned = os.open(name, flags, dir_fd=dir_fd)
    if os.path.samestat(os.fstat(pinned), seen):
        return pinned
    os.close(pinned)
    raise OSError(errno.ESTALE, "it was exchanged for another one", name)


def _flags_for(mode: int) -> int | None:
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return _HELD | _TO_LOOK
    if stat.S_ISLNK(mode) and _OF_LINK:
        return os.O_RDONLY | os.O_CLOEXEC | _OF_LINK | _TO_LOOK
    return None


def _kind(mode: int) -> str:
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a fifo"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def set_mode(pinned: int, mode: int) -> None:
    """Of what is pinned. Raises OSError."""
    os.fchmod(pinned, mode)
