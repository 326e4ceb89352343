"""How full a file system is: bytes, inodes, and the tightest limit below them: a quota of the user, the group or the
project, or for files in memory what the cgroups of this process still allow."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import sys
from collections.abc import Iterable, Iterator

from ...lazy_dataclass import dataclass
from ...model.sweep import Space
from ...text import is_within, size
from ..proc import procs
from ..proc.namespaces import Mount, parse_mounts
from .opening import closing

_LITTLE_BYTES, _FEW_INODES = 64 << 10, 8  # less is no room
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
# These say among their mount options that they hold somebody to a quota: the question costs more than the rest here.
_TELL_OF_QUOTAS = frozenset({"ext3", "ext4", "tmpfs", "xfs"})


def space_of(path: str) -> Space:
    """Raises OSError where `path` cannot be looked at."""
    room = os.statvfs(path)
    mounts = parse_mounts(os.fsdecode(procs.read_whole("/proc/self/mountinfo") or b""))
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
        yield from limits(path)
        return
    has_quotas = any("quota" in option for option in mount.options - {"noquota"})
    if has_quotas or mount.filesystem not in _TELL_OF_QUOTAS:
        yield from limits(path, mount.source, mount.point)
    if mount.filesystem in _IN_MEMORY and (memory := memory_limit(mounts)):
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
    real, best, found = os.path.realpath(path), (-1, -1), None
    for mount in mounts:
        # btrfs gives each subvolume a device of its own; a bind mount shows one device at several places
        is_its_device, is_above = mount.device == number, is_within(real, mount.point)
        weight = (2 * is_its_device + is_above, len(mount.point) if is_above else 0)
        if (is_its_device or is_above) and weight >= best:
            best, found = weight, mount
    return found


_USER, _GROUP, _PROJECT = 0, 1, 2
_GET_QUOTA = 0x800007  # Q_GETQUOTA
_SYS_QUOTACTL_FD = 443  # the same number on every architecture Python runs on but alpha
_GET_ATTRIBUTES = 0x801C581F  # FS_IOC_FSGETXATTR
_ATTRIBUTES = struct.Struct("=IIIII8x")  # struct fsxattr: flags, two sizes, project, another size
_NEW_FILES_INHERIT = 0x200  # FS_XFLAG_PROJINHERIT


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


def limits(path: str, source: str = "", mount_point: str = "") -> Iterator[Limit]:
    """Those that a new file of ours in `path` would count for. What cannot be asked is left out."""
    if sys.platform != "linux":
        return
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with closing(fd):
        status = os.fstat(fd)
        group = status.st_gid if status.st_mode & stat.S_ISGID else os.getegid()
        asked = [(_USER, os.geteuid(), "your quota"), (_GROUP, group, f"the quota of group {_group_name(group)}")]
        for kind, number, words in asked:
            if found := _limit(_ask_kernel(fd, source, kind, number), words):
                yield found
        if project := project_of(fd):
            words = f"the quota of project {project}"
            if found := _limit(_ask_kernel(fd, source, _PROJECT, project), words) or _shown(fd, mount_point, words):
                yield found


def project_of(fd: int) -> int:
    """The project for which new files in an open directory count; 0: none, or it cannot be asked."""
    try:
        flags, _, _, project, _ = _ATTRIBUTES.unpack(fcntl.ioctl(fd, _GET_ATTRIBUTES, bytes(_ATTRIBUTES.size)))
    except OSError:
        return 0
    return project if flags & _NEW_FILES_INHERIT else 0


def _shown(fd: int, mount_point: str, words: str) -> Limit | None:
    """Only root may ask for a project's quota, but statvfs shows it to everybody as the size of its directory."""
    try:
        whole, here = os.statvfs(mount_point), os.fstatvfs(fd)
    except OSError:
        return None
    has_bytes, has_inodes = here.f_blocks < whole.f_blocks, here.f_files < whole.f_files
    if not (has_bytes or has_inodes):
        return None
    return Limit(
        words,
        here.f_blocks * here.f_frsize if has_bytes else None,
        (here.f_blocks - here.f_bfree) * here.f_frsize if has_bytes else None,
        here.f_files if has_inodes else None,
        here.f_files - here.f_ffree if has_inodes else None,
    )


def _limit(answer: tuple[int, ...] | None, words: str) -> Limit | None:
    if answer is None:
        return None
    block_hard, block_soft, used_bytes, inode_hard, inode_soft, used_inodes = answer
    blocks, inodes = block_hard or block_soft, inode_hard or inode_soft
    if not (blocks or inodes):
        return None
    return Limit(
        words,
        blocks * 1024 if blocks else None,
        used_bytes if blocks else None,
        inodes or None,
        used_inodes if inodes else None,
    )


def _ask_kernel(fd: int, source: str, kind: int, number: int) -> tuple[int, ...] | None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    command = _GET_QUOTA << 8 | kind  # QCMD
    answer = (ctypes.c_uint64 * 9)()  # struct if_dqblk: eight u64 and a u32
    try:
        status = libc.syscall(_SYS_QUOTACTL_FD, fd, command, number, ctypes.byref(answer))
    except AttributeError:
        return None
    is_old = status != 0 and ctypes.get_errno() == errno.ENOSYS  # Linux before 5.14, or a filter that knows no more
    if is_old and source.startswith("/") and hasattr(libc, "quotactl"):
        status = libc.quotactl(command, os.fsencode(source), number, ctypes.byref(answer))
    return tuple(answer[:6]) if status == 0 else None


def _group_name(number: int) -> str:
    import grp

    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


_NO_LIMIT = 1 << 60  # cgroup v1 has a number for "max"
_RECLAIMED_WHEN_NEEDED = ("inactive_file", "active_file", "slab_reclaimable")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
_V2 = ("memory.max", "memory.current", "")


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    limit: int
    free: int  # what may still be written to a tmpfs before processes are killed for it
    in_memory_files: int  # what tmpfs files of this cgroup hold already


def memory_limit(mounts: Iterable[Mount]) -> MemoryLimit | None:
    """The tightest of our cgroup and those above it; None where there is none, or it cannot be read."""
    return min(_memory_limits(mounts), key=lambda each: each.free, default=None)


def _memory_limits(mounts: Iterable[Mount]) -> Iterator[MemoryLimit]:
    ours = os.fsdecode(procs.read_whole("/proc/self/cgroup") or b"")
    for mount in mounts:
        if mount.filesystem == "cgroup2":
            path, files = _path_in(ours, "0::"), _V2
        elif mount.filesystem == "cgroup" and "memory" in mount.options:
            path, files = _path_in(ours, ":memory:"), _V1
        else:
            continue
        if path is None:
            continue
        below = path.removeprefix(mount.root.rstrip("/")).strip("/")
        while True:
            found = _of_group(f"{mount.point}/{below}".rstrip("/"), *files)
            if found is not None:
                yield found
            if not below:
                break
            below = below.rpartition("/")[0]


def _path_in(cgroups: str, mark: str) -> str | None:
    """`0::/user.slice/...`, or `4:memory:/docker/...` where each controller has a tree of its own."""
    return next((line.partition(mark)[2] for line in cgroups.split("\n") if mark in line), None)


def _of_group(directory: str, limit_file: str, used_file: str, prefix: str) -> MemoryLimit | None:
    limit, used = _number(f"{directory}/{limit_file}"), _number(f"{directory}/{used_file}")
    if limit is None or used is None or limit >= _NO_LIMIT:
        return None
    sums = dict(_counts(procs.read_whole(f"{directory}/memory.stat") or b""))
    if f"{prefix}shmem" not in sums:
        return None
    given_back = sum(sums.get(prefix + name, 0) for name in _RECLAIMED_WHEN_NEEDED)
    free = max(0, limit - used) + given_back + _swap(directory)
    return MemoryLimit(limit, free, sums[f"{prefix}shmem"])


def _swap(directory: str) -> int:
    """What could still be swapped out instead; for cgroup v1 as much as the machine has."""
    machine = dict(_counts((procs.read_whole("/proc/meminfo") or b"").replace(b":", b""))).get("SwapFree", 0) << 10
    limit, used = _number(f"{directory}/memory.swap.max"), _number(f"{directory}/memory.swap.current")
    return machine if limit is None or used is None else min(machine, max(0, limit - used))


def _number(path: str) -> int | None:
    text = (procs.read_whole(path) or b"").strip()
    return int(text) if text.isdigit() else None


def _counts(text: bytes) -> Iterator[tuple[str, int]]:
    for line in text.split(b"\n"):
        words = line.split()
        if len(words) >= 2 and words[1].isdigit():
            yield words[0].decode("ascii", "replace"), int(words[1])
