"""Whether something that does not answer is mounted over a directory of ours. Hot path: one read, and no import."""

try:
    import posix  # what `os` is made of, without what that costs a hook
except ImportError:  # Windows
    import os as posix  # type: ignore[no-redef]

_MOST = 1 << 22


def frozen(path: str) -> str | None:
    """The mount on the way to `path`, which is ours or lies in what is, that keeps everybody waiting; None: there is
    none. Our names hold our number: where no mount point does, nothing has to be asked."""
    ending = f"-{posix.geteuid()}"
    names = [part.encode("utf-8", "surrogateescape") for part in path.split("/") if part.endswith(ending)]
    mounts = _mounts()
    if not any(name in mounts for name in names):
        return None
    from .reach import Reach

    return Reach.now().frozen(path)


def _mounts() -> bytes:
    try:
        fd = posix.open("/proc/self/mountinfo", posix.O_RDONLY | posix.O_CLOEXEC)
    except (OSError, AttributeError):
        return b""
    try:
        parts = []
        while part := posix.read(fd, _MOST):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        posix.close(fd)
