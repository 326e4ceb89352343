"""Room for descriptors: a sweep holds units and their parents open, more than some systems let a program begin with."""

from __future__ import annotations

_WANTED = 1024  # as Linux gives everybody; macOS begins with 256, and so do some services
_SPARE = 256  # for walks and looks at all processes, while units and parents are held


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
