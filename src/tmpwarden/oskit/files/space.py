"""How full a file system is: bytes, inodes and the user's quota."""

from __future__ import annotations

import os
import sys

from ...model.sweep import Space
from ...text import is_within
from ..proc import procs
from ..proc.mountinfo import parse_mounts
from .descriptors import closing

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
# These say among their mount options that they hold somebody to a quota: the question costs more than the rest here.
_TELL_OF_QUOTAS = frozenset({"ext3", "ext4", "tmpfs", "xfs"})
_GET_USER_QUOTA = 0x800007 << 8  # QCMD(Q_GETQUOTA, USRQUOTA)
_SYS_QUOTACTL_FD = 443  # the same number on every architecture Python runs on but alpha


def space_of(path: str) -> Space:
    """Raises OSError where `path` cannot be looked at."""
    room = os.statvfs(path)
    filesystem, source, has_quotas = _mount_of(path)
    quota = _quota(path, source) if has_quotas or filesystem not in _TELL_OF_QUOTAS else None
    return Space(
        path=path,
        filesystem=filesystem,
        bytes_total=room.f_blocks * room.f_frsize,
        bytes_free=room.f_bavail * room.f_frsize,
        inodes_total=room.f_files,
        inodes_free=room.f_favail,
        memory_backed=filesystem in _IN_MEMORY,
        quota_bytes=quota[0] if quota else None,
        quota_used=quota[1] if quota else None,
        quota_inodes=quota[2] if quota else None,
        quota_inodes_used=quota[3] if quota else None,
        bytes_reserved=max(0, room.f_bfree - room.f_bavail) * room.f_frsize,
        inodes_reserved=max(0, room.f_ffree - room.f_favail),
    )


def percent_used(space: Space) -> int:
    """The fullest of bytes, inodes and quota, each as df tells it."""
    return max(percent_of_bytes(space), percent_of_inodes(space), percent_of_quota(space) or 0)


def percent_of_bytes(space: Space) -> int:
    return _percent(space.bytes_used, space.bytes_used + space.bytes_free)


def percent_of_inodes(space: Space) -> int:
    return _percent(space.inodes_used, space.inodes_used + space.inodes_free)


def percent_of_quota(space: Space) -> int | None:
    """None where the user has no quota, or it cannot be asked."""
    pairs = ((space.quota_used, space.quota_bytes), (space.quota_inodes_used, space.quota_inodes))
    return max((_percent(used, limit) for used, limit in pairs if used is not None and limit), default=None)


def _percent(used: int, total: int) -> int:
    """Rounded up, as df does; what is reserved for root is no part of the whole."""
    if total <= 0:  # not counted by this file system, or without a limit
        return 0
    return min(100, max(0, -(-100 * used // total)))


def _mount_of(path: str) -> tuple[str, str, bool]:
    """Type and source of the file system that holds `path`, by its device, else by the nearest mount point; and
    whether its options speak of quotas."""
    device = os.stat(path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    real, best, found = os.path.realpath(path), -1, ("unknown", "", True)
    mounts = parse_mounts(os.fsdecode(procs.read_whole("/proc/self/mountinfo") or b""))
    for line_number, mount in enumerate(mounts):
        if mount.device == number:
            weight = (1 << 30) + line_number
        elif is_within(real, mount.point):
            weight = len(mount.point)
        else:
            continue
        if weight >= best:
            has_quotas = any("quota" in option for option in mount.options - {"noquota"})
            best, found = weight, (mount.filesystem, mount.source, has_quotas)
    return found


def _quota(path: str, source: str) -> tuple[int | None, int | None, int | None, int | None] | None:
    """(byte limit, bytes used, inode limit, inodes used) of the effective user, or None where it cannot be asked."""
    answer = _ask_kernel(path, source)
    if answer is None:
        return None
    block_hard, block_soft, used_bytes, inode_hard, inode_soft, used_inodes = answer
    blocks, inodes = block_hard or block_soft, inode_hard or inode_soft
    return (
        blocks * 1024 if blocks else None,
        used_bytes if blocks else None,
        inodes or None,
        used_inodes if inodes else None,
    )


def _ask_kernel(path: str, source: str) -> tuple[int, ...] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    answer = (ctypes.c_uint64 * 9)()  # struct if_dqblk: eight u64 and a u32
    try:
        with closing(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as fd:
            status = libc.syscall(_SYS_QUOTACTL_FD, fd, _GET_USER_QUOTA, os.geteuid(), ctypes.byref(answer))
    except (OSError, AttributeError):
        return None
    if status != 0 and source.startswith("/") and hasattr(libc, "quotactl"):
        status = libc.quotactl(_GET_USER_QUOTA, os.fsencode(source), os.geteuid(), ctypes.byref(answer))
    return tuple(answer[:6]) if status == 0 else None
