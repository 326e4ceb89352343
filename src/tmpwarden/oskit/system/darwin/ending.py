"""Hold on to one process: a kqueue becomes readable when it ends, and a signal by token reaches it or nobody."""

from __future__ import annotations

import errno
import os
import struct

from . import layouts as at
from . import libproc, processes

CAN_FOLLOW = True
SURVIVES_FORK = False  # a kqueue stays with the process that made it

_EVENT = struct.Struct(at.EVENT_FORMAT)
_NOTHING_ELSE = 0, 0  # data, udata

_held: dict[int, int] = {}  # descriptor of a hold -> the unique id of its process


def hold(pid: int) -> int:
    """A descriptor that can be read once the process has ended. Raises OSError."""
    import ctypes

    system = libproc.library()
    before = _living(pid)
    ctypes.set_errno(0)
    queue: int = system.kqueue()
    if queue < 0:
        raise libproc.failed(pid)
    change = _EVENT.pack(pid, at.ABOUT_PROCESS, at.ADD_ONCE, at.ENDS, *_NOTHING_ELSE)
    try:
        if system.kevent(queue, change, 1, None, 0, None) != 0:
            raise libproc.failed(pid)
        os.set_inheritable(queue, False)
        if _living(pid).unique != before.unique:
            raise _no_such_process(pid)
    except OSError:
        os.close(queue)
        raise
    _held[queue] = before.unique
    return queue


def _living(pid: int) -> processes.Basics:
    basics = processes.basics(pid)
    if basics is None or basics.has_ended:
        raise _no_such_process(pid)
    return basics


def _no_such_process(pid: int) -> OSError:
    return ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH), f"process {pid}")


def send(fd: int, pid: int, number: int) -> None:
    """A signal, to that very process or nobody: the kernel compares the version of its number, which an exec and
    another process change. Raises OSError."""
    import ctypes

    basics = _living(pid)
    if basics.unique != _held.get(fd):
        raise _no_such_process(pid)
    call = getattr(libproc.library(), "proc_signal_with_audittoken", None)
    if call is None:
        os.kill(pid, number)  # of an older macOS, which has only this: the moment since the look is the risk
        return
    token = (ctypes.c_uint32 * at.TOKEN_WORDS)()
    token[at.TOKEN_PID], token[at.TOKEN_VERSION] = pid, basics.version
    refused = call(token, number)
    if refused:
        raise OSError(refused, os.strerror(refused), f"process {pid}")


def reap(fd: int, pid: int) -> None:
    """Of a child of ours that has ended. Raises OSError."""
    os.waitpid(pid, 0)


def progress(pid: int) -> tuple[bool, tuple[bytes, ...]]:
    """Whether it is stopped, and what grows while it gets on; nothing where that cannot be read."""
    try:
        basics = processes.basics(pid)
        task = libproc.info(pid, at.TASK)
    except OSError:
        return False, ()
    if basics is None:
        return False, ()
    spent = task[at.TASK_USER : at.TASK_USER + 16]
    return basics.status == at.STOPPED, (spent, task[at.TASK_SWITCHES : at.TASK_SWITCHES + 4])
