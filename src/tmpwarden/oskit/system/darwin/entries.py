"""Questions and deeds about one entry of a directory that only this kernel has, or has a call of its own for."""

from __future__ import annotations

import errno
import os

from ..blind import entries as posix_alone
from . import layouts as at
from . import libproc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ...files.dated import Dated

_ACCESS_LISTS_AND_ATTRIBUTES = 1 | 4  # copyfile.h: COPYFILE_ACL | COPYFILE_XATTR
_NO_LINKS = 1 << 18 | 1 << 19  # COPYFILE_NOFOLLOW


def dated(name: str, dir_fd: int) -> Dated | None:
    """What is there now, no link followed; None where nothing is, or it cannot be looked at."""
    return posix_alone.dated(name, dir_fd)


def born_ns(dir_fd: int, name: str) -> int | None:
    """Nanoseconds since the epoch; None where it is not told, or the entry is gone."""
    return posix_alone.born_ns(dir_fd, name)


def is_held_back(status: os.stat_result) -> bool:
    """Whether it is neither to be opened nor removed."""
    flags: int = getattr(status, "st_flags", 0)
    return bool(flags & at.HELD_BACK)


def rename_new(from_fd: int, old: str, to_fd: int, new: str) -> bool | None:
    """Rename, never over something else. False: it could not be done; None: this system or file system has no such
    call, and another way must be found."""
    import ctypes

    try:
        call = libproc.library().renameatx_np
    except (OSError, AttributeError):
        return None
    ctypes.set_errno(0)
    if call(from_fd, os.fsencode(old), to_fd, os.fsencode(new), ctypes.c_uint(at.NEVER_OVER)) == 0:
        return True
    return None if ctypes.get_errno() in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP) else False


def copy_attributes(source: int | str, target: int | str) -> None:
    """Extended attributes, ACLs among them. Raises OSError where one cannot be copied."""
    import ctypes

    system = libproc.library()
    try:
        of_paths, of_files = system.copyfile, system.fcopyfile
    except AttributeError:
        raise OSError(errno.ENOTSUP, "its extended attributes cannot be copied on this system") from None
    ctypes.set_errno(0)
    if isinstance(source, int) and isinstance(target, int):
        failed = of_files(source, target, None, ctypes.c_uint32(_ACCESS_LISTS_AND_ATTRIBUTES)) != 0
    elif isinstance(source, str) and isinstance(target, str):
        flags = ctypes.c_uint32(_ACCESS_LISTS_AND_ATTRIBUTES | _NO_LINKS)
        failed = of_paths(os.fsencode(source), os.fsencode(target), None, flags) != 0
    else:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if failed:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, os.strerror(number))


def entering() -> Callable[[bytes, int, int], tuple[int, int]] | None:
    """None: the code that deletes must look into the mount table."""
    return None
