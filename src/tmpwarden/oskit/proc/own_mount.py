"""Whether something that does not answer is mounted over a directory of ours. Hot path: one read, and no import."""

try:
    import posix  # what `os` is made of, without what that costs a hook
except ImportError:  # Windows
    import os as posix  # type: ignore[no-redef]

_PAGE = 1 << 12  # the kernel writes so much at a time, whatever it is asked for


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


def mounts() -> bytes | None:
    """/proc/self/mountinfo; None: not measured, and nowhere but on Linux."""
    try:
        fd = posix.open("/proc/self/mountinfo", posix.O_RDONLY | posix.O_CLOEXEC)
    except (OSError, AttributeError):
        return None
    try:
        parts = []
        while part := posix.read(fd, _PAGE):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        posix.close(fd)
