"""The lock that says "alive": the kernel lets go of it when its holder ends, however it ends."""

from __future__ import annotations

import errno

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def hold(fd: int) -> None:
    """Lock a directory for as long as its descriptor is open. Waits for a sweeper that is looking at it right now."""
    if fcntl is None:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    except OSError as error:  # a file system without locks: the lease alone has to do
        if error.errno not in (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL):
            raise


def is_free(fd: int) -> bool | None:
    """Whether nobody held the lock; then this descriptor does now. None: not measured."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
