"""From an open descriptor to what it leads to: a path for calls that take nothing else, a mode, the same file anew."""

from __future__ import annotations

import os

_PINNED = getattr(os, "O_PATH", 0)
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):  # a Windows that is played on Linux lacks them
    _PINNED |= getattr(os, _flag, 0)


def path_of(fd: int) -> str:
    """Where it is now, as the kernel tells it. Raises OSError."""
    return os.readlink(f"/proc/self/fd/{fd}")


def way_to(fd: int) -> str:
    """A path that leads to what is open as long as it is, whatever its name becomes. Raises OSError."""
    return f"/proc/self/fd/{fd}"


def reopened(fd: int, flags: int) -> int:
    """The same file opened once more, with flags of its own. Raises OSError."""
    return os.open(f"/proc/self/fd/{fd}", flags)


def pin(name: str | bytes, dir_fd: int | None) -> int:
    """Hold what lies behind a name without opening it: no link followed, no fifo given a reader. While it is held
    nothing else can get its inode number. Raises OSError: ENOTSUP where this system cannot hold such a thing."""
    return os.open(name, _PINNED, dir_fd=dir_fd)


def set_mode(pinned: int, mode: int) -> None:
    """Of what is pinned. fchmod refuses such a descriptor; its name in /proc cannot be swapped by anybody."""
    os.chmod(f"/proc/self/fd/{pinned}", mode)
