"""Enter a directory below another one, on the same mount: what is mounted there is not entered, and not even asked.

openat2 with RESOLVE_NO_XDEV, so that the kernel itself sees to it in the very call: a file system that comes at the
last moment and hangs keeps nobody waiting, and a bind mount, which has the device of what lies around it, loses
nothing. Where there is no such call (Linux before 5.6, some sandboxes, other systems), it is an ordinary open.
"""

from __future__ import annotations

import errno
import os

from .. import system
from .opening import closing, open_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    SystemCall = Callable[[bytes, int, int], tuple[int, int]]  # (name, directory, flags) -> (descriptor, error)

MOUNTED = "a file system is mounted here"
_FLAGS = 0
for _flag in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK"):
    _FLAGS |= getattr(os, _flag, 0)


_UNSEEN = _FLAGS | getattr(os, "O_NOATIME", 0)
_call: SystemCall | None = None
_is_known = False


def enter(name: str, dir_fd: int) -> int:
    """Open it for reading: no link followed, no trace left. Raises OSError; EXDEV where something is mounted there."""
    call = _call if _is_known else _loaded()
    if call is None:
        return open_dir(name, dir_fd)
    raw, flags = os.fsencode(name), _UNSEEN
    while True:
        fd, error = call(raw, dir_fd, flags)
        if not error:
            return fd
        if error == errno.EPERM and flags != _FLAGS:
            flags = _FLAGS  # O_NOATIME is for the owner only
        elif error != errno.EINTR:
            raise OSError(error, MOUNTED if error == errno.EXDEV else os.strerror(error), name)


def is_certain() -> bool:
    """Whether the kernel sees to it. Else the code that deletes must look into the mount table."""
    return (_call if _is_known else _loaded()) is not None


def mounts_below(dir_fd: int, name: str) -> frozenset[str] | None:
    """Mount points inside the tree, relative to it; None where that cannot be told. st_dev does not tell a bind mount
    of the same file system, which only Linux has."""
    try:
        top = os.path.join(system.descriptors.path_of(dir_fd), name)
        mounts = system.mounting.mounts()  # anew each time: a rename moves mounts, and nobody is told
    except OSError:
        return None if system.mounting.BINDS else frozenset()
    points = (mount.point for mount in mounts)
    return frozenset(point[len(top) + 1 :] for point in points if f"{point}/".startswith(f"{top}/"))


def _loaded() -> SystemCall | None:
    global _call, _is_known
    _is_known, _call = True, system.entries.entering()
    return _call


def mount_id(path: str) -> int | None:
    """The kernel's number for the mount; None where it cannot be told."""
    try:
        with closing(os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)) as fd:
            return mount_id_of(fd)
    except OSError:
        return None


def mount_id_of(fd: int) -> int | None:
    """The same of what is open already."""
    return system.mounting.mount_id_of(fd)


def highest_own_directory(path: str) -> str | None:
    """The directory farthest above `path`, or itself, that is ours and on the same mount; None if `path` is not."""
    mount, highest = mount_id(path), None
    while mount is not None and _is_ours(path) and mount_id(path) == mount:
        highest = path
        if path == "/":
            break
        path = os.path.dirname(path)
    return highest


def _is_ours(path: str) -> bool:
    try:
        return os.stat(path).st_uid == os.geteuid() and os.access(path, os.W_OK | os.X_OK)
    except OSError:
        return False
