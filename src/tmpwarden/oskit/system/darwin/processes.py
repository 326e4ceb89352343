"""One process, as libproc tells of it."""

from __future__ import annotations

import errno
import os

from ...proc.procs import ENDED, Process
from . import layouts as at
from . import libproc

_TRIES = 3


class Basics:
    """What is told of everybody's process, without any permission."""

    __slots__ = ("flags", "name", "parent", "pid", "status", "uid", "unique", "unique_parent", "version")

    def __init__(self, pid: int, short: bytes, unique: bytes) -> None:
        self.pid = pid
        self.parent = libproc.u32(short, at.SHORT_PARENT)
        self.status = libproc.u32(short, at.SHORT_STATUS)
        self.name = os.fsdecode(libproc.text(short, at.SHORT_COMMAND, at.COMMAND_SIZE))
        self.flags = libproc.u32(short, at.SHORT_FLAGS)
        self.uid = libproc.u32(short, at.SHORT_UID)
        self.unique = libproc.u64(unique, at.UNIQUE_ID)
        self.unique_parent = libproc.u64(unique, at.UNIQUE_PARENT)
        self.version = libproc.u32(unique, at.UNIQUE_VERSION)

    @property
    def has_ended(self) -> bool:
        return self.status == at.ZOMBIE

    @property
    def is_exiting(self) -> bool:
        return bool(self.flags & at.IS_EXITING)


def basics(pid: int) -> Basics | None:
    """None: there is no such process. Raises OSError."""
    for _ in range(_TRIES):
        try:
            before = libproc.info(pid, at.UNIQUE, 1)  # 1: also of one that has ended and not been waited for
            short = libproc.info(pid, at.SHORT, 1)
            if libproc.info(pid, at.UNIQUE, 1) == before:
                return Basics(pid, short, before)
        except ENDED:
            return None
        # an exec changes the program's UUID in there; a number used again changes everything
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN), f"process {pid}")


def living(pid: int) -> Process | None:
    """That process now, or None if it has ended (as a zombie has: it holds nothing). Raises OSError: not measured."""
    process = basics(pid)
    return None if process is None or process.has_ended else as_process(process)


def as_process(process: Basics) -> Process:
    """The unique id is its identity: the kernel gives each process another one, and an exec does not change it."""
    return Process(process.pid, process.parent, process.unique, process.name, is_exiting=process.is_exiting)


def other_threads(pid: int) -> list[int]:
    """None that could hold anything of its own: all threads of a process share one table of open files."""
    return []


def pids() -> list[int]:
    """Every process number. Raises OSError: not measured."""
    return libproc.pids()


def owner_of(pid: int) -> int | None:
    """The effective uid, None if it has ended. Raises OSError: not measured."""
    process = basics(pid)
    return None if process is None else process.uid


def numbers_below(pid: int) -> tuple[int, ...] | None:
    """There are no pid namespaces: none. None if it has ended. Raises OSError: not measured."""
    return None if living(pid) is None else ()


def words(pid: int) -> tuple[tuple[bytes, ...], bytes | None]:
    """(arguments, variables or None: they are hidden). One of ENDED where it has ended; OSError: not measured."""
    try:
        return libproc.words(pid)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EIO, errno.ESRCH):
            raise
    process = living(pid)
    if process is None or process.is_exiting:
        raise ProcessLookupError(errno.ESRCH, "it ends")
    if owner_of(pid) not in (os.geteuid(), None) and os.geteuid() != 0:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    raise OSError(errno.EAGAIN, "macOS does not tell its arguments")  # as while its program is being loaded


def arguments(pid: int) -> tuple[bytes, ...]:
    """Its command line; of another user's process macOS tells which program it runs, and no more. Raises OSError."""
    try:
        return words(pid)[0]
    except PermissionError:
        if owner_of(pid) in (os.geteuid(), None):
            raise
        return (os.fsencode(program(pid)),)


def environment(thread: int) -> bytes:
    """What it was started with. Raises one of ENDED where it has ended; PermissionError where macOS hides it."""
    variables = words(thread)[1]
    if variables is None:
        raise PermissionError(errno.EPERM, "macOS hides its environment")
    return variables


def program(pid: int) -> str:
    """The file that it runs. Raises OSError."""
    return libproc.program(pid)


def cgroup(pid: int) -> str | None:
    """There is no such thing."""
    return None


def boot_time_s() -> float | None:
    """When this kernel started, by the clock of now."""
    return libproc.boot_time_s()


def started_s(pid: int, start: int) -> float | None:
    """When it was forked, by the clock of that moment; only its own user is told."""
    try:
        answer = libproc.info(pid, at.BSD)
        process = basics(pid)
    except OSError:
        return None
    if process is None or process.unique != start:
        return None
    return libproc.u64(answer, at.BSD_START_S) + libproc.u64(answer, at.BSD_START_US) / 1e6
