"""Open something to look into it: no link followed, no waiting at a fifo, no trace left."""

from __future__ import annotations

import errno
import os

from .descriptors import closing

_READ = os.O_RDONLY  # the rest is not there on every system that only wants to load us
for _flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):
    _READ |= getattr(os, _flag, 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_UNSEEN = getattr(os, "O_NOATIME", 0)


def open_unread(name: str, dir_fd: int | None = None, flags: int = 0) -> int:
    """Open for reading without following a link, hanging on a fifo or making it look used."""
    try:
        return os.open(name, _READ | flags | _UNSEEN, dir_fd=dir_fd)
    except PermissionError as error:
        if error.errno != errno.EPERM:  # O_NOATIME is for the owner only
            raise
        return os.open(name, _READ | flags, dir_fd=dir_fd)


def open_dir(name: str, dir_fd: int | None = None) -> int:
    return open_unread(name, dir_fd, _DIRECTORY)


def descend(dir_fd: int, relative: str) -> int:
    """A directory below an open one, component by component: no link on the way is followed."""
    fd = os.dup(dir_fd)
    for component in filter(None, relative.split("/")):
        with closing(fd):
            fd = open_dir(component, fd)
    return fd


def entry_names(path: str) -> list[str]:
    """What a directory holds, in order; nothing where it cannot be read."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []
