"""A mount namespace of one's own, and mounts in it."""

from __future__ import annotations

import errno
import os

IS_THERE = True
BIND, RECURSIVE, PRIVATE, READ_ONLY, CHANGE = 4096, 16384, 1 << 18, 1, 32  # MS_BIND and so on
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MNT_DETACH = 2


def unshare() -> None:
    """A mount namespace; for those who may not, inside a user namespace that maps only themselves. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        try:
            _call("unshare", _CLONE_NEWNS)
            return
        except PermissionError:
            pass  # root of a container
    _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS)
    for name, content in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(content)


def mount(source: str, target: str, flags: int, *, kind: str | None = None, options: str | None = None) -> None:
    """Raises OSError."""
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _call("mount", words[0], words[1], words[2], flags, words[3])


def detach(target: str) -> None:
    """Take it away from everybody's sight. Raises OSError."""
    _call("umount2", os.fsencode(target), _MNT_DETACH)


def why_not(code: int) -> str:
    """What an error of the above says, in words."""
    if code == errno.ENOSPC:  # what unshare(2) says of its own limit
        return "/proc/sys/user/max_user_namespaces is reached"
    return os.strerror(code).lower()


def _call(name: str, *args: object) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*(ctypes.c_ulong(a) if isinstance(a, int) else a for a in args)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
