"""Read a small text file that a user or an administrator wrote. Never waits, never reads without end."""

from __future__ import annotations

import os
import stat

_LARGEST = 1 << 20


def read_text(path: str, largest: int = _LARGEST) -> str:
    """Raises OSError, UnicodeDecodeError, or ValueError with a sentence. /dev/null, the usual mask, reads as empty."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(fd)
        if stat.S_ISCHR(status.st_mode) and status.st_rdev == os.makedev(1, 3):
            return ""
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a file")
        if status.st_size > largest:
            raise ValueError(f"is larger than {largest >> 20} MB")
        return os.read(fd, largest).decode()
    finally:
        os.close(fd)
