"""Where a session's scratch is, as its start wrote it down: one small file, so that the guard reads no leases."""

import posix

from .. import notebook
from . import Call


def scratch_of(call: Call) -> str | None:
    """The scratch of this session if it is there and ours; None where there is none."""
    path = remembered(call)
    if not path:
        return None
    try:
        status = posix.lstat(path)
    except OSError:
        return None
    return path if status.st_uid == posix.geteuid() and status.st_mode & 0o170000 == 0o040000 else None


def remembered(call: Call) -> str:
    try:
        fd = posix.open(_file(call), posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        return posix.read(fd, 4096).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        posix.close(fd)


def remember(call: Call, path: str) -> None:
    """Write down where it is; an empty path means that nothing of it was left to lose."""
    try:
        notebook.make(call.notes)
        flags = posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_CLOEXEC | posix.O_NOFOLLOW
        fd = posix.open(_file(call), flags, 0o600)
    except OSError:
        return
    try:
        posix.write(fd, path.encode("utf-8", "surrogateescape"))
    except OSError:
        pass
    finally:
        posix.close(fd)


def _file(call: Call) -> str:
    return f"{call.notes}/{notebook.session_key(call.session)}.scratch"
