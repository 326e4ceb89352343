"""Hold on to one process: a pidfd names it whatever becomes of its number, and can be read when it ends."""

from __future__ import annotations

import os
import signal

from .hot import stat_fields

SURVIVES_FORK = True  # what holds a process holds it in a forked child of ours, too
CAN_FOLLOW = hasattr(os, "pidfd_open")  # a number alone may name another process by the time we end it


def hold(pid: int) -> int:
    """A descriptor that can be read once the process has ended. Raises OSError."""
    return os.pidfd_open(pid)


def send(fd: int, pid: int, number: int) -> None:
    """A signal, to that very process or nobody. Raises OSError."""
    signal.pidfd_send_signal(fd, number)


def reap(fd: int, pid: int) -> None:
    """Of a child of ours that has ended. Raises OSError."""
    os.waitid(os.P_PIDFD, fd, os.WEXITED)


def progress(pid: int) -> tuple[bool, tuple[bytes, ...]]:
    """Whether it is stopped, and what grows while it gets on; nothing where that cannot be read."""
    fields = stat_fields(pid)
    try:
        with open(f"/proc/{pid}/status", "rb", buffering=0) as file:
            switches = tuple(line for line in file.read().splitlines() if b"ctxt_switches" in line)
    except OSError:
        return False, ()
    if len(fields) <= 12 or not switches:
        return False, ()
    return fields[0] in (b"T", b"t"), (*fields[11:13], *switches)
