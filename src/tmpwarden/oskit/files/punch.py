"""Give back the blocks of a file that is still written, all but its end. Its size stays, its writer was resumed."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Iterator
from contextlib import contextmanager

from .. import system
from .doomed import Doomed

_KEEP_SIZE, _PUNCH_HOLE = 1, 2
_PAGE = 4096
_IN_ACCESS, _IN_OPEN = 0x1, 0x20


class CannotPunch(Exception):
    """The file system has no holes; in words."""


def punch(doomed: Doomed, *, keep_last_bytes: int) -> int:
    """Free the blocks of that open file before its last `keep_last_bytes`; how many bytes came back."""
    fd = doomed.bound.fd
    before = os.fstat(fd)
    if not doomed.is_same(before):
        raise OSError(errno.ESTALE, "it is not what was checked")
    length = max(0, before.st_size - keep_last_bytes) // _PAGE * _PAGE
    if length:
        _fallocate(fd, _PUNCH_HOLE | _KEEP_SIZE, 0, length)
    return max(0, (before.st_blocks - os.fstat(fd).st_blocks) * 512)


class TouchWatch:
    """Tells of every opening and every reading of one file, by whomever and under whatever name (inotify)."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def was_touched(self, *, within_s: float = 0.0) -> bool:
        return bool(select.select([self._fd], [], [], within_s)[0])


@contextmanager
def watched(fd: int) -> Iterator[TouchWatch]:
    """From now on, for the file behind `fd`. Raises OSError where the kernel watches no more files for us."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
    if watch < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    try:
        if libc.inotify_add_watch(watch, os.fsencode(system.descriptors.way_to(fd)), _IN_ACCESS | _IN_OPEN) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        yield TouchWatch(watch)
    finally:
        os.close(watch)


def _fallocate(fd: int, mode: int, offset: int, length: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "fallocate64", None) or libc.fallocate
    if call(fd, mode, ctypes.c_int64(offset), ctypes.c_int64(length)) == 0:
        return
    code = ctypes.get_errno()
    if code in (errno.EOPNOTSUPP, errno.ENOSYS):
        raise CannotPunch("this file system cannot free part of a file")
    raise OSError(code, os.strerror(code))
