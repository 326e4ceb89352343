"""When an entry was made: statx's birth time, which Python's stat does not tell on Linux."""

from __future__ import annotations

import os
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ctypes import CDLL

_NO_FOLLOW, _BTIME = 0x100, 0x800
_MASK_AT, _BTIME_AT, _SIZE = 0, 80, 256
_libc: CDLL | None = None  # loaded once: every unit that is destroyed is asked


def born_ns(dir_fd: int, name: str) -> int | None:
    """Nanoseconds since the epoch; None where the file system does not write it down, or the entry is gone."""
    global _libc
    if sys.platform != "linux":
        status = os.lstat(name, dir_fd=dir_fd)
        seconds = getattr(status, "st_birthtime", None)
        return None if seconds is None else int(seconds * 10**9)
    import ctypes  # 3 ms, which no hook pays

    buffer = ctypes.create_string_buffer(_SIZE)
    _libc = _libc or ctypes.CDLL(None, use_errno=True)
    if not hasattr(_libc, "statx") or _libc.statx(dir_fd, os.fsencode(name), _NO_FOLLOW, _BTIME, buffer) != 0:
        return None
    (mask,) = struct.unpack_from("=I", buffer, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    return seconds * 10**9 + nanoseconds if mask & _BTIME else None
