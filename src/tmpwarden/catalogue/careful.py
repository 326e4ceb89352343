"""Looking into an entry that others may change: no link followed, nothing waited for, nothing made younger."""

from __future__ import annotations

import os
import stat

from ..oskit.files.opening import closing, open_dir, open_unread

MOST_NAMES = 64


def directory(dir_fd: int, name: str) -> int | None:
    try:
        return open_dir(name, dir_fd)
    except OSError:
        return None


def head(dir_fd: int, name: str, count: int) -> bytes | None:
    """The first bytes of a regular file."""
    try:
        with closing(open_unread(name, dir_fd)) as fd:
            return os.read(fd, count) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    except OSError:
        return None


def names(dir_fd: int, name: str) -> tuple[str, ...] | None:
    """Up to a handful of names in a directory."""
    try:
        with closing(open_dir(name, dir_fd)) as fd, os.scandir(fd) as entries:
            return tuple(entry.name for entry, _ in zip(entries, range(MOST_NAMES), strict=False))
    except OSError:
        return None
