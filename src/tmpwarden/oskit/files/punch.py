"""Give back the blocks of a file that is still written, all but its end. Its size stays, its writer goes on."""

from __future__ import annotations

import errno
import os

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_PAGE = 4096


class CannotPunch(Exception):
    """The file system has no holes; in words."""


def punch(fd: int, *, keep_last_bytes: int) -> int:
    """Free the blocks of `fd` (open for writing) before its last `keep_last_bytes`; how many bytes came back."""
    before = os.fstat(fd)
    length = max(0, before.st_size - keep_last_bytes) // _PAGE * _PAGE
    if length:
        _fallocate(fd, _PUNCH_HOLE | _KEEP_SIZE, 0, length)
    return max(0, (before.st_blocks - os.fstat(fd).st_blocks) * 512)


def _fallocate(fd: int, mode: int, offset: int, length: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "fallocate64", None) or libc.fallocate
    if call(fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length)) == 0:
        return
    code = ctypes.get_errno()
    if code in (errno.EOPNOTSUPP, errno.ENOSYS):
        raise CannotPunch("this file system cannot free a part of a file")
    raise OSError(code, os.strerror(code))
