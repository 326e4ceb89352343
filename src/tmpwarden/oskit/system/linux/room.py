"""What limits how much may be written, below the size of a file system: quotas, and the memory of cgroups."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Iterable, Iterator

from ...files.opening import closing
from ...files.space import Limit, MemoryLimit
from ...proc.namespaces import Mount
from .reading import read_whole

_USER, _GROUP, _PROJECT = 0, 1, 2
_GET_QUOTA = 0x800007  # Q_GETQUOTA
_SYS_QUOTACTL_FD = 443  # the same number on every architecture Python runs on but alpha
_GET_ATTRIBUTES = 0x801C581F  # FS_IOC_FSGETXATTR
_ATTRIBUTES = struct.Struct("=IIIII8x")  # struct fsxattr: flags, two sizes, project, another size
_NEW_FILES_INHERIT = 0x200  # FS_XFLAG_PROJINHERIT


def limits(path: str, source: str = "", mount_point: str = "") -> Iterator[Limit]:
    """Those that a new file of ours in `path` would count for. What cannot be asked is left out."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with closing(fd):
        status = os.fstat(fd)
        group = status.st_gid if status.st_mode & stat.S_ISGID else os.getegid()
        sources = [(_USER, os.geteuid(), "your quota"), (_GROUP, group, f"the quota of group {_group_name(group)}")]
        for kind, number, words in sources:
            if limit := _limit(_ask_kernel(fd, source, kind, number), words):
                yield limit
        if project := project_of(fd):
            words = f"the quota of project {project}"
            if limit := _limit(_ask_kernel(fd, source, _PROJECT, project), words) or _shown(fd, mount_point, words):
                yield limit


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


def memory_limit(mounts: Iterable[Mount]) -> MemoryLimit | None:
    """The tightest of our cgroup and those above it; None where there is none, or it cannot be read."""
    return min(_memory_limits(mounts), key=lambda each: each.free, default=None)


def _memory_limits(mounts: Iterable[Mount]) -> Iterator[MemoryLimit]:
    ours = os.fsdecode(read_whole("/proc/self/cgroup") or b"")
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
            limit = _of_group(f"{mount.point}/{below}".rstrip("/"), *files)
            if limit is not None:
                yield limit
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
    sums = dict(_counts(read_whole(f"{directory}/memory.stat") or b""))
    if f"{prefix}shmem" not in sums:
        return None
    given_back = sum(sums.get(prefix + name, 0) for name in _RECLAIMED_WHEN_NEEDED)
    free = max(0, limit - used) + given_back + _swap(directory)
    return MemoryLimit(limit, free, sums[f"{prefix}shmem"])


def _swap(directory: str) -> int:
    """What could still be swapped out instead; for cgroup v1 as much as the machine has."""
    machine = dict(_counts((read_whole("/proc/meminfo") or b"").replace(b":", b""))).get("SwapFree", 0) << 10
    limit, used = _number(f"{directory}/memory.swap.max"), _number(f"{directory}/memory.swap.current")
    return machine if limit is None or used is None else min(machine, max(0, limit - used))


def _number(path: str) -> int | None:
    text = (read_whole(path) or b"").strip()
    return int(text) if text.isdigit() else None


def _counts(text: bytes) -> Iterator[tuple[str, int]]:
    for line in text.split(b"\n"):
        words = line.split()
        if len(words) >= 2 and words[1].isdigit():
            yield words[0].decode("ascii", "replace"), int(words[1])
