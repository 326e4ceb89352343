"""The kernel's word on whether anybody has a file open: a write lease is granted only if nobody has, anywhere.

It sees what /proc does not show: other namespaces, other users, descriptors in flight, processes that hide. Only a deed
asks, and last of all, because while we hold the lease somebody's open waits for us. It says nothing about working
directories, and where a grant proves nothing (overlay, FUSE, network) nothing was measured.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Witness
from ...model.terms import WitnessKind
from .same_mount import enter

try:
    import fcntl

    _SET_LEASE = fcntl.F_SETLEASE
except (ImportError, AttributeError):  # Windows; macOS has no leases
    fcntl = None  # type: ignore[assignment]

_MOST_LEVELS = 200
_BELIEVED = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs"))
_BELIEVED_MAGIC = frozenset((0xEF53, 0x58465342, 0x9123683E, 0xF2F52010, 0x01021994))  # the same, as statfs has it
_ASK = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_ASK |= getattr(os, "O_NOATIME", 0)


def foreseen(filesystem: str | None, files: int) -> str | None:
    """Why it will be no use to ask about so many entries on such a file system; None if it may be."""
    if fcntl is None:
        return "this system cannot tell who has a file open"
    if filesystem not in _BELIEVED:
        return f"on {filesystem or 'an unknown file system'} the kernel cannot tell who has a file open"
    if files == 0:
        return "there is no file in it to check it by"
    return None


def ask(dir_fd: int, name: str) -> Users:
    """Whether anybody has a file open at or below `name`. Never fork while this runs: a child would hold the lease."""
    if fcntl is None:
        return _open("this system cannot tell who has a file open")
    with asking() as question:
        return question.about(dir_fd, name)


@contextmanager
def asking() -> Iterator[KernelQuestion]:
    """To ask file by file on a way of one's own. Never fork while this runs."""
    with _deaf_to_sigio():
        yield KernelQuestion()


def can_ask() -> bool:
    return fcntl is not None


@contextmanager
def alone(fd: int) -> Iterator[Users]:
    """Whether this is the only open file of its file: then nobody else has it open or mapped, anywhere, and while the
    block runs that stays so, because a process that opens it waits. `fd` may have been taken from its process."""
    if fcntl is None:
        yield _open("this system cannot tell who has a file open")
        return
    with _deaf_to_sigio():
        answer = _leased(fd)
        try:
            yield answer
        finally:
            if isinstance(answer, Nobody):
                fcntl.fcntl(fd, _SET_LEASE, fcntl.F_UNLCK)


def _leased(fd: int) -> Users:
    try:
        if not _is_believed(fd):
            return _open("on its file system the kernel cannot tell who has a file open")
        if fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_UNLCK:
            return _open("a process holds a lease on it")  # ours would end it
        fcntl.fcntl(fd, _SET_LEASE, fcntl.F_WRLCK)
    except OSError as error:
        if error.errno == errno.EAGAIN:
            return Held((Witness(WitnessKind.OPEN_FILE, ""),))
        return _open(f"the kernel cannot tell who has it open: {error.strerror}")
    return Nobody()


def somebody_waits(fd: int) -> bool:
    """Whether somebody has begun to open what we are `alone` with."""
    return fcntl.fcntl(fd, fcntl.F_GETLEASE) != fcntl.F_WRLCK


def confirmed(seen: Users, dir_fd: int, name: str) -> Users:
    """What /proc has `seen` of the users of `name`, and the kernel's word on top: the last question before something is
    destroyed. Where the kernel cannot tell, /proc must have seen everybody."""
    match seen:
        case Held():
            return seen
        case NotMeasured() if not seen.askable:
            return seen
        case Nobody() | NotMeasured():
            users = ask(dir_fd, name)
    match users:
        case Held() | Nobody():
            return users
        case NotMeasured():
            return NotMeasured(f"{seen.why}, and {users.why}") if isinstance(seen, NotMeasured) else seen


class KernelQuestion:
    """One tree, file by file."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_believed = False  # a tree that goes lies on one file system: a walk has seen to it
        # closing a file gives its lease back, if no child of another thread has inherited the descriptor
        self.gives_back = threading.active_count() > 1

    def about(self, dir_fd: int, name: str) -> Users:
        try:
            status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                answer = self.tree(name, dir_fd)
            else:
                answer = self.entry(name, dir_fd, status.st_mode)
        except OSError as error:
            return _open(f"the kernel could not check all of it: {error.strerror}")
        if isinstance(answer, Nobody) and self.asked == 0:
            return _open("there is no file in it to check it by")
        return answer

    def tree(self, name: str, dir_fd: int) -> Users:
        levels: list[tuple[int, Iterator[os.DirEntry[str]]]] = []
        try:
            self.enter(levels, name, dir_fd)
            while levels:
                fd, entries = levels[-1]
                entry = next(entries, None)
                if entry is None:
                    os.close(fd)
                    levels.pop()
                elif entry.is_dir(follow_symlinks=False):
                    if len(levels) == _MOST_LEVELS:
                        return _open(f"it is more than {_MOST_LEVELS} levels deep")
                    self.enter(levels, entry.name, fd)
                else:  # the listing says what it is, and the descriptor that it still is: no look in between
                    is_file = entry.is_file(follow_symlinks=False)
                    mode = stat.S_IFREG if is_file else entry.stat(follow_symlinks=False).st_mode
                    match self.entry(entry.name, fd, mode):
                        case Nobody():
                            continue
                        case Held() | NotMeasured() as answer:
                            return answer
        finally:
            for fd, _ in levels:
                os.close(fd)
        return Nobody()

    def enter(self, levels: list[tuple[int, Iterator[os.DirEntry[str]]]], name: str, dir_fd: int) -> None:
        fd = enter(name, dir_fd)
        levels.append((fd, iter(())))
        levels[-1] = (fd, os.scandir(fd))

    def entry(self, name: str, dir_fd: int, mode: int) -> Users:
        """Nobody, too, where it is nothing that can be open (a link), or is asked otherwise (a socket)."""
        if stat.S_ISLNK(mode) or stat.S_ISSOCK(mode):
            return Nobody()
        if not stat.S_ISREG(mode):
            return _open("it contains something that the kernel cannot check")
        self.asked += 1
        try:
            fd = os.open(name, _ASK, dir_fd=dir_fd)
        except BlockingIOError:  # another process has it open, and a lease on it
            return Held((Witness(WitnessKind.OPEN_FILE, name),))
        try:
            fcntl.fcntl(fd, _SET_LEASE, fcntl.F_WRLCK)  # refused of anything but a file
            if self.gives_back:
                fcntl.fcntl(fd, _SET_LEASE, fcntl.F_UNLCK)
            if not self.is_believed:
                if not _is_believed(fd):
                    return _open("on its file system the kernel cannot tell who has a file open")
                self.is_believed = True
        except OSError as error:
            if error.errno == errno.EAGAIN:
                return Held((Witness(WitnessKind.OPEN_FILE, name),))
            return _open(f"the kernel cannot tell who has a file in it open: {error.strerror}")
        finally:
            os.close(fd)
        return Nobody()


def _open(why: str) -> NotMeasured:
    """The doubt that was there before stays."""
    return NotMeasured(why, askable=True)


def _is_believed(fd: int) -> bool:
    """By the magic number of its file system: mountinfo may have changed since it was read."""
    import ctypes  # only a deed in doubt asks

    answer = ctypes.create_string_buffer(512)
    if ctypes.CDLL(None, use_errno=True).fstatfs(fd, answer) != 0:
        return False
    width = ctypes.sizeof(ctypes.c_long)
    return int.from_bytes(answer.raw[:width], sys.byteorder) & 0xFFFFFFFF in _BELIEVED_MAGIC


@contextmanager
def _deaf_to_sigio() -> Iterator[None]:
    """When a leased file is opened, the kernel sends us SIGIO, which kills. Through libc, because Python lets only the
    main thread, and a server's own thread cleans too."""
    import ctypes
    import signal

    libc = ctypes.CDLL(None, use_errno=True)
    libc.signal.argtypes, libc.signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p
    before = ctypes.create_string_buffer(512)  # a struct sigaction, whatever is in it
    libc.sigaction(signal.SIGIO, None, before)
    libc.signal(signal.SIGIO, ctypes.c_void_p(1))  # SIG_IGN
    try:
        yield
    finally:
        libc.sigaction(signal.SIGIO, before, None)
