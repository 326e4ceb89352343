"""Limits below that of the file system, as the kernel tells them: quotas of the user, the group and the project."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import sys
from collections.abc import Iterator

from ...lazy_dataclass import dataclass
from .descriptors import closing

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
