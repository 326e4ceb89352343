"""Questions and deeds about one entry of a directory that only this kernel has, or has a call of its own for."""

from __future__ import annotations

import errno
import os
import struct
import sys

from ...files.dated import Dated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ctypes import CDLL

    SystemCall = Callable[[bytes, int, int], tuple[int, int]]  # (name, directory, flags) -> (descriptor, error)

_NO_FOLLOW, _EVERYTHING, _BTIME = 0x100, 0xFFF, 0x800
_MASK_AT, _BTIME_AT, _SIZE = 0, 80, 256
_RENAME_NOREPLACE = 1
_OPENAT2, _NO_XDEV = 437, 1
_AT_FDCWD = -100
_OPTIONAL = ("security.", "trusted.", "system.nfs4")  # labels of a machine, not of a file
_libc: CDLL | None = None  # loaded once: every unit that is destroyed is asked, and undo may move a hundred thousand


def _loaded() -> CDLL:
    import ctypes  # 3 ms, which few hooks pay

    global _libc
    _libc = _libc or ctypes.CDLL(None, use_errno=True)
    return _libc


def dated(name: str, dir_fd: int) -> Dated | None:
    """What is there now, no link followed; None where nothing is, or it cannot be looked at."""
    buffer = _statx(name, dir_fd, _EVERYTHING)
    if buffer is None:
        return None
    mask, links, uid, mode, inode = struct.unpack_from("=I12xII4xH2xQ", buffer)
    (born, changed, modified) = (s * 10**9 + ns for s, ns in struct.iter_unpack("=qI4x", buffer[80:128]))
    return Dated(
        os.makedev(*struct.unpack_from("=II", buffer, 136)),
        inode,
        born_ns=born if mask & _BTIME else None,
        modified_ns=modified,
        changed_ns=changed,
        links=links,
        mode=mode,
        uid=uid,
    )


def born_ns(dir_fd: int, name: str) -> int | None:
    """Nanoseconds since the epoch; None where the file system does not write it down, or the entry is gone."""
    buffer = _statx(name, dir_fd, _BTIME)
    if buffer is None:
        return None
    (mask,) = struct.unpack_from("=I", buffer, _MASK_AT)
    seconds, nanoseconds = struct.unpack_from("=qI", buffer, _BTIME_AT)
    return seconds * 10**9 + nanoseconds if mask & _BTIME else None


def _statx(name: str, dir_fd: int, wanted: int) -> bytes | None:
    """A struct statx."""
    import ctypes

    libc, buffer = _loaded(), ctypes.create_string_buffer(_SIZE)
    if not hasattr(libc, "statx") or libc.statx(dir_fd, os.fsencode(name), _NO_FOLLOW, wanted, buffer) != 0:
        return None
    return buffer.raw


is_held_back: Callable[[os.stat_result], bool] | None = None  # the kernel alone refuses, when the time comes


def rename_new(from_fd: int, old: str, to_fd: int, new: str) -> bool | None:
    """Rename, never over something else. False: it could not be done; None: this kernel or file system has no such
    call, and another way must be found."""
    import ctypes

    call = getattr(_loaded(), "renameat2", None)
    if call is None:
        return None
    if call(from_fd, os.fsencode(old), to_fd, os.fsencode(new), _RENAME_NOREPLACE) == 0:
        return True
    return None if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP) else False


def copy_attributes(source: int | str, target: int | str) -> None:
    """Extended attributes, ACLs among them. Raises OSError where one that belongs to the file cannot be copied."""
    for attribute in os.listxattr(source):
        try:
            os.setxattr(target, attribute, os.getxattr(source, attribute))
        except OSError:
            if not attribute.startswith(_OPTIONAL):
                raise


def entering() -> SystemCall | None:
    """openat2, which enters no mount: (name, directory, flags) -> (descriptor, error). None: not on this kernel.

    Through what ctypes is made of: the whole of it costs a command 3 ms to load."""
    try:
        return _system_call()
    except (ImportError, AttributeError, OSError, TypeError):
        return None


def _system_call() -> SystemCall | None:
    import _ctypes

    load: Callable[[None, int], int] = vars(_ctypes)["dlopen"]  # None: what is loaded already
    long = type("Long", (_ctypes._SimpleCData,), {"_type_": "l"})
    flags = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    function = type("Function", (_ctypes.CFuncPtr,), {"_flags_": flags, "_restype_": long})
    syscall, get_errno = function(_ctypes.dlsym(load(None, 0), "syscall")), _ctypes.get_errno

    def call(name: bytes, dir_fd: int, flags: int) -> tuple[int, int]:
        how = b"".join(number.to_bytes(8, sys.byteorder) for number in (flags, 0, _NO_XDEV))  # a struct open_how
        fd: int = syscall(_OPENAT2, dir_fd, name, how, len(how))
        return (fd, 0) if fd >= 0 else (fd, get_errno())

    fd, error = call(b"/", _AT_FDCWD, os.O_DIRECTORY | os.O_CLOEXEC)
    if error:
        return None
    os.close(fd)
    return call
