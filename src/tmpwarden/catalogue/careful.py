"""Looking into an entry that others may change: no link followed, nothing waited for, nothing made younger."""

from __future__ import annotations

import os
import stat

MOST_NAMES = 64
_CAREFUL = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def open_at(dir_fd: int, name: str, flags: int = 0) -> int | None:
    """O_NOATIME so that looking does not make the entry younger; it is refused for files of others."""
    for noatime in (os.O_NOATIME if hasattr(os, "O_NOATIME") else 0, 0):
        try:
            return os.open(name, _CAREFUL | flags | noatime, dir_fd=dir_fd)
        except PermissionError:
            continue
        except OSError:
            return None
    return None


def head(dir_fd: int, name: str, count: int) -> bytes | None:
    """The first bytes of a regular file."""
    fd = open_at(dir_fd, name)
    if fd is None:
        return None
    try:
        return os.read(fd, count) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(fd)


def names(dir_fd: int, name: str) -> tuple[str, ...] | None:
    """Up to a handful of names in a directory."""
    fd = open_at(dir_fd, name, os.O_DIRECTORY)
    if fd is None:
        return None
    try:
        with os.scandir(fd) as entries:
            return tuple(entry.name for entry, _ in zip(entries, range(MOST_NAMES), strict=False))
    except OSError:
        return None
    finally:
        os.close(fd)
