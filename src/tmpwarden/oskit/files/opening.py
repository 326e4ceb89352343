"""Open something to look into it: no link followed, no waiting at a fifo, no trace left, and always closed again."""

from __future__ import annotations

import errno
import os

_WANTED = 1024  # as Linux gives everybody; macOS begins with 256, and so do some services
_SPARE = 256  # for walks and looks at all processes, while units and parents are held


class closing:  # noqa: N801 - as contextlib has it for what has a method `close`
    """`with closing(os.open(...)) as fd:`."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


def make_room() -> None:
    """Raise our own limit as far as that is ours to do; never above what every program has to expect."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if 0 <= soft < _WANTED:
            most = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    except (ImportError, OSError, ValueError):
        return  # with the room that there is, what cannot be opened is told


def are_few_after(newest: int) -> bool:
    """Whether what is held should be let go first. `newest`: just opened; the kernel gives the lowest free number."""
    try:
        import resource
    except ImportError:
        return False
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 0 <= most <= newest + min(_SPARE, most // 2)


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
