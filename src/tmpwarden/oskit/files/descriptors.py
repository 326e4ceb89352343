"""Descriptors: closed in any case, and room for as many as a sweep holds open, which some systems do not begin with."""

from __future__ import annotations

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
