"""When an entry was made: statx's birth time, which Python's stat does not tell on Linux."""

from __future__ import annotations

import os
import sys

from ...later import ctypes, struct

_NO_FOLLOW, _BTIME = 0x100, 0x800
_MASK_AT, _BTIME_AT, _SIZE = 0, 80, 256


def born_ns(dir_fd: int, name: str) -> int | None:
    """Nanoseconds since the epoch; None where the file system does not write it down, or the entry is gone."""
    if sys.platform != "linux":
        status = os.lstat(name, dir_fd=dir_fd)
        seconds = getattr(status, "st_birthtime", None)
        return None if seconds is None else int(seconds * 10**9)
    buffer = ctypes.create_string_buffer(_SIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "statx") or libc.statx(dir_fd, os.fsencode(name), _NO_FOLLOW, _BTIME, buffer) != 0:
        return None
    (mask,) = struct.unpack_from("=I", buffer, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    return seconds * 10**9 + nanoseconds if mask & _BTIME else None
