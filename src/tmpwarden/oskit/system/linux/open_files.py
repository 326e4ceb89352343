"""Open files, as /proc/PID/fd and fdinfo show them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...files.opening import closing, entry_names
from ...proc import procs
from ...proc.namespaces import MountTable, waits_for_others
from ...proc.open_files import FileUser, MappedFiles, OpenFile
from . import links
from .links import NO_FILES
from .reading import read

_DELETED = " (deleted)"
_BLOCK = 512
_PIDFD_GETFD = 438  # a system call that Python has no name for
_MACHINES = ("x86_64", "aarch64", "riscv64", "loongarch64", "ppc64le", "s390x")  # where that is its number


def open_files(pid: int, roots: Sequence[str], table: MountTable | None) -> Iterator[OpenFile]:
    """What `pid` holds below `roots`. What has been closed meanwhile, or cannot be read, is passed over: this tells of
    sizes and proves nothing. Nothing is looked at that lies on a file system which may hang."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        if (open_file := _open_file(pid, int(name), roots, table)) is not None:
            yield open_file


def _open_file(pid: int, fd: int, roots: Sequence[str], table: MountTable | None) -> OpenFile | None:
    link = f"/proc/{pid}/fd/{fd}"
    try:
        target = os.readlink(link)
        root = next((root for root in roots if target.startswith(root.rstrip("/") + "/")), None)
        if root is None or table is None or table.may_hang(target.removesuffix(_DELETED)):
            return None
        status = os.stat(link)
        flags, position = _how(pid, fd)
    except (OSError, ValueError, KeyError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return OpenFile(
        pid=pid,
        fd=fd,
        path=target.removesuffix(_DELETED) if status.st_nlink == 0 else target,
        is_deleted=status.st_nlink == 0,
        device=status.st_dev,
        inode=status.st_ino,
        size_bytes=status.st_size,
        allocated_bytes=status.st_blocks * _BLOCK,
        is_written=flags & os.O_ACCMODE != os.O_RDONLY,
        is_appended=bool(flags & os.O_APPEND),
        position=position,
    )


def _how(pid: int, fd: int) -> tuple[int, int]:
    """(flags it was opened with, position) from fdinfo."""
    info = _fdinfo(pid, fd)
    return int(info["flags"], 8), int(info["pos"])


def _fdinfo(thread: int, fd: int) -> dict[str, str]:
    """What the kernel tells of one descriptor. Raises OSError."""
    info: dict[str, str] = {}
    for line in read(f"/proc/{thread}/fdinfo/{fd}").decode("ascii", "replace").splitlines():
        key, _, value = line.partition(":")
        info.setdefault(key, value.strip())  # the kernel's own words come first
    return info


def written_by(pid: int, table: MountTable) -> Iterator[str]:
    """Every regular file that `pid` has open for writing or mapped to be written, by its name; one without a name
    (deleted) is nobody's any more. What lies where nobody may answer counts. Raises OSError: not measured."""
    try:
        for thread in (pid, *links.apart(pid)):
            for name in os.listdir(f"/proc/{thread}/fd"):
                with suppress(*procs.ENDED):  # closed meanwhile
                    target = os.readlink(f"/proc/{thread}/fd/{name}")
                    if _is_named_file(target) and _is_written(thread, name, target, table):
                        yield target
        for line in read(f"/proc/{pid}/maps").splitlines():
            words = line.split(None, 5)
            path = os.fsdecode(words[5]) if len(words) == 6 else ""
            if words[1][1:2] == b"w" and words[1][3:4] == b"s" and _is_named_file(path):
                yield path
    except procs.ENDED:
        return


def _is_named_file(target: str) -> bool:
    return target.startswith("/") and not target.startswith(NO_FILES) and not target.endswith(_DELETED)


def _is_written(thread: int, name: str, target: str, table: MountTable) -> bool:
    if int(_fdinfo(thread, int(name))["flags"], 8) & os.O_ACCMODE == os.O_RDONLY:
        return False
    return table.may_hang(target) or stat.S_ISREG(os.stat(f"/proc/{thread}/fd/{name}").st_mode)


def taken(pid: int, fd: int) -> int:
    """That very open file, as if its process had passed it to us; opening it by name would make another one.

    Raises OSError: not for us (PermissionError), gone, or ENOSYS: this kernel cannot."""
    if os.uname().machine not in _MACHINES or not hasattr(os, "pidfd_open"):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    import ctypes

    with closing(os.pidfd_open(pid)) as process:
        libc = ctypes.CDLL(None, use_errno=True)
        copy: int = libc.syscall(_PIDFD_GETFD, process, fd, 0)
        if copy < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return copy


def flags_of(fd: int) -> int:
    """What an open file of ours was opened for."""
    return _how(os.getpid(), fd)[0]


def users_of(fd: int) -> Iterator[FileUser]:
    """Who else has the file behind our `fd` open or mapped, under whatever name, as far as /proc shows them to us. To
    tell people; it proves nothing."""
    question = _Question(fd)
    with suppress(OSError):
        for pid in procs.pids():
            with suppress(OSError, KeyError, ValueError):
                yield from question.about(pid)


class _Question:
    """For one file."""

    def __init__(self, fd: int) -> None:
        self.ours = (os.getpid(), fd)
        status = os.fstat(fd)
        self.device, self.inode = status.st_dev, status.st_ino
        self.filesystems: dict[str, dict[str, str]] = {}  # mount namespace -> mount id -> type of its file system
        own = {str(mount.id): mount.device for mount in MountTable.read().mounts}.get(_fdinfo(*self.ours)["mnt_id"])
        major, _, minor = (own or "0:0").partition(":")
        numbers = {(os.major(self.device), os.minor(self.device)), (int(major), int(minor))}  # btrfs has two of them
        self.in_maps = {(b"%02x:%02x" % pair, b"%d" % self.inode) for pair in numbers}

    def about(self, pid: int) -> Iterator[FileUser]:
        for thread in (pid, *links.apart(pid)):
            for name in os.listdir(f"/proc/{thread}/fd"):
                with suppress(*procs.ENDED):  # closed meanwhile
                    info = _fdinfo(thread, int(name))
                    if (pid, int(name)) != self.ours and self.is_it(thread, name, info):
                        yield FileUser(pid, int(info["flags"], 8))
        maps = read(f"/proc/{pid}/maps")
        if any(tuple(line.split(None, 5)[3:5]) in self.in_maps for line in maps.splitlines()):
            yield FileUser(pid, None)

    def is_it(self, thread: int, name: str, info: dict[str, str]) -> bool:
        """One inode number is many files. Nothing is asked that a dead server would have to answer."""
        if int(info.get("ino", self.inode)) != self.inode:
            return False
        link = f"/proc/{thread}/fd/{name}"
        target = os.readlink(link)
        if not target.startswith("/") or target.startswith(NO_FILES):
            return False
        namespace = os.readlink(f"/proc/{thread}/ns/mnt")
        if namespace not in self.filesystems:
            known = MountTable.read(thread).mounts
            self.filesystems[namespace] = {str(one.id): one.filesystem for one in known}
        filesystem = self.filesystems[namespace].get(info["mnt_id"])
        if filesystem is None or waits_for_others(filesystem):
            return False
        status = os.stat(link)
        return (status.st_dev, status.st_ino) == (self.device, self.inode)


def written_by_session(session: str) -> Iterator[tuple[str, int]]:
    """(path, inode) of regular files that a process with this session's id in its environment can write through an
    open descriptor. What cannot be read is passed over: it proves nothing."""
    needle = f"={session}\0".encode("utf-8", "surrogateescape")
    try:
        pids, namespace = procs.pids(), os.readlink("/proc/self/ns/mnt")
    except OSError:
        return
    for pid in pids:
        try:
            if needle in procs.environment(pid) + b"\0" and os.readlink(f"/proc/{pid}/ns/mnt") == namespace:
                yield from _written(pid)
        except OSError:
            continue


def _written(pid: int) -> Iterator[tuple[str, int]]:
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            path = os.readlink(f"/proc/{pid}/fd/{number}")
            info = dict(line.split(b":", 1) for line in read(f"/proc/{pid}/fdinfo/{number}").splitlines())
        except (OSError, ValueError):
            continue
        flags, inode = info.get(b"flags", b"").strip(), info.get(b"ino", b"").strip()  # `ino` since Linux 5.14
        if path.startswith("/") and flags and inode.isdigit() and int(flags, 8) & os.O_ACCMODE != os.O_RDONLY:
            yield path, int(inode)


def read_maps() -> MappedFiles | None:
    """Which files processes run code from, of all that may be read; None where there is not one."""
    mapped: MappedFiles = {}
    read = 0
    for pid in filter(str.isdigit, entry_names("/proc")):
        try:
            with open(f"/proc/{pid}/maps", "rb") as maps:
                lines = maps.read().splitlines()
        except OSError:
            continue
        read += 1
        for line in lines:
            words = line.split(None, 5)
            if len(words) == 6 and words[4] != b"0":
                base = os.fsdecode(words[5].rpartition(b"/")[2])
                mapped.setdefault(int(words[4]), set()).add((words[3].decode(), base))
    return mapped if read else None
