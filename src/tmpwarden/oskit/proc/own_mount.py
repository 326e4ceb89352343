"""Whether something that does not respond is mounted over a directory of ours. Hot path: one read, and no import."""

try:
    import posix  # what `os` is made of, without what that costs a hook
except ImportError:  # Windows
    import os as posix  # type: ignore[no-redef]

from .slow_mounts import mounts, stuck_mounts


def frozen(path: str) -> str | None:
    """The mount on the way to `path`, which is ours or lies in what is, that keeps everybody waiting; None: there is
    none. Our names hold our number: where no mount point does, nothing has to be asked."""
    ending = f"-{posix.geteuid()}"
    names = [part.encode("utf-8", "surrogateescape") for part in path.split("/") if part.endswith(ending)]
    seen = mounts() or b""
    if not any(name in seen for name in names):
        return None
    from .reach import Reach

    return Reach.now().frozen(path)


def frozen_way(path: str) -> str | None:
    """The same for any path, links followed: a file of an agent's, which may lie on a server's disk."""
    if not stuck_mounts():
        return None
    from .reach import Reach

    return Reach.now().frozen(path)
