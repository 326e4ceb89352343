"""How full a file system is: bytes, inodes, and the tightest limit below them: a quota of the user, the group or the
project, or for files in memory what the cgroups of this process still allow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...lazy_dataclass import dataclass
from ...model.sweep import Space
from ...text import is_within, size
from .. import system
from ..proc.namespaces import Mount, MountTable
from .atomic import NO_ROOM
from .opening import closing

_LITTLE_BYTES, _FEW_INODES = 64 << 10, 8  # less is no room
_LITTLE_FOR_DIRECTORIES = 4 << 20
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
# These say among their mount options that they hold somebody to a quota: the question costs more than the rest here.
_TELL_OF_QUOTAS = frozenset({"ext3", "ext4", "tmpfs", "xfs"})


@dataclass(frozen=True, slots=True)
class Limit:
    """How much somebody may use, and does. None: there is no such limit."""

    of: str  # in words: "your quota"
    bytes: int | None
    bytes_used: int | None
    inodes: int | None
    inodes_used: int | None

    @property
    def share(self) -> float:
        """Of the tighter of the two."""
        pairs = ((self.bytes_used, self.bytes), (self.inodes_used, self.inodes))
        return max((used / limit for used, limit in pairs if used is not None and limit), default=0.0)


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    limit: int
    free: int  # what may still be written to a tmpfs before processes are killed for it
    in_memory_files: int  # what tmpfs files of this cgroup hold already


def space_of(path: str) -> Space:
    """Raises OSError where `path` cannot be looked at."""
    room = os.statvfs(path)
    table = MountTable.of()
    mounts = list(table.mounts) if table else []
    mount = _mount_of(path, mounts)
    filesystem = mount.filesystem if mount else "unknown"
    limit = max(_limits(path, room, mount, mounts), key=lambda each: each.share, default=None)
    return Space(
        path=path,
        filesystem=filesystem,
        bytes_total=room.f_blocks * room.f_frsize,
        bytes_free=room.f_bavail * room.f_frsize,
        inodes_total=room.f_files,
        inodes_free=room.f_favail,
        memory_backed=filesystem in _IN_MEMORY,
        quota_bytes=limit.bytes if limit else None,
        quota_used=limit.bytes_used if limit else None,
        quota_inodes=limit.inodes if limit else None,
        quota_inodes_used=limit.inodes_used if limit else None,
        bytes_reserved=max(0, room.f_bfree - room.f_bavail) * room.f_frsize,
        inodes_reserved=max(0, room.f_ffree - room.f_favail),
        quota_of=limit.of if limit else "",
        mount_point=mount.point if mount else "",
    )


def _limits(path: str, room: os.statvfs_result, mount: Mount | None, mounts: list[Mount]) -> Iterator[Limit]:
    if mount is None:
        yield from system.room.limits(path)
        return
    has_quotas = any("quota" in option for option in mount.options - {"noquota"})
    if has_quotas or mount.filesystem not in _TELL_OF_QUOTAS:
        yield from system.room.limits(path, mount.source, mount.point)
    if mount.filesystem in _IN_MEMORY and (memory := system.room.memory_limit(mounts)):
        used = min(memory.in_memory_files, (room.f_blocks - room.f_bfree) * room.f_frsize)
        yield Limit(f"the memory limit of {size(memory.limit)} for its processes", used + memory.free, used, None, None)


def is_out_of_room(path: str) -> bool:
    """Whether not even a few small files fit there, by what the file system and the quota say themselves: that one call
    was refused proves nothing."""
    try:
        room = space_of(path)
    except OSError:
        return False
    is_full = room.bytes_total > 0 and room.bytes_free < _LITTLE_BYTES
    has_no_inode = room.inodes_total > 0 and room.inodes_free < _FEW_INODES
    pairs = (
        (room.quota_used, room.quota_bytes, _LITTLE_BYTES),
        (room.quota_inodes_used, room.quota_inodes, _FEW_INODES),
    )
    return (
        is_full or has_no_inode or any(used is not None and limit and limit - used < few for used, limit, few in pairs)
    )


def has_no_room(path: str) -> bool:
    """Whether its numbers say so, or nothing new is let in there."""
    return is_out_of_room(path) or _lets_nothing_in(path) or _lets_no_directory_in(path)


def _lets_nothing_in(path: str) -> bool:
    """Whether a small file is refused there for want of room, as by a quota that cannot be asked. It has no name, so
    that nothing of it can stay. Where that cannot be tried, no."""
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | getattr(os, "O_TMPFILE", os.O_CREAT), 0o600)
        with closing(fd):
            os.write(fd, bytes(4096))
    except OSError as error:
        return error.errno in NO_ROOM
    return False


def _lets_no_directory_in(path: str) -> bool:
    """xfs makes no directory in its last 200 KB. Tried only where the numbers say that there is little."""
    try:
        room = os.statvfs(path)
        if room.f_bavail * room.f_frsize >= _LITTLE_FOR_DIRECTORIES:
            return False
        attempt = f"{path}/tmpwarden-{os.urandom(8).hex()}"
        os.mkdir(attempt, 0o700)
        os.rmdir(attempt)
    except OSError as error:
        return error.errno in NO_ROOM
    return False


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


def _mount_of(path: str, mounts: Iterable[Mount]) -> Mount | None:
    """The mount that holds `path`: by its device, else the nearest mount point."""
    device = os.stat(path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    real, best, best_mount = os.path.realpath(path), (-1, -1), None
    for mount in mounts:
        # btrfs gives each subvolume a device of its own; a bind mount shows one device at several places
        is_its_device, is_above = mount.device == number, is_within(real, mount.point)
        weight = (2 * is_its_device + is_above, len(mount.point) if is_above else 0)
        if (is_its_device or is_above) and weight >= best:
            best, best_mount = weight, mount
    return best_mount
