"""A hold on one process that no reused number can loosen: taken first, and compared with its start then.

The only module that sends signals to processes that are not our own children."""

from __future__ import annotations

import os
import select
import signal
import time

from .. import system
from ..race import race_window as _race_window
from . import procs

STOPPED_S = 5.0  # somebody may stop a process for a moment
STILL_S = 60.0  # one sleep for one answer of a disk
_LOOK_S = 0.25
_END_S = 2.0


def can_follow() -> bool:
    """Whether this system lets us hold on to a process at all."""
    return system.ending.CAN_FOLLOW


class Grip:
    """Signals through this reach that very process or nobody."""

    __slots__ = ("_fd", "pid")

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self._fd = fd

    def send(self, number: int) -> bool:
        """False if it has ended, or is no longer ours to signal."""
        try:
            system.ending.send(self._fd, self.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def has_ended(self, *, within_s: float = 0.0) -> bool:
        """What holds it becomes readable when its process ends, and stays so."""
        return bool(select.select([self._fd], [], [], within_s)[0])

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Grip:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def take_hold(pid: int, start: int) -> Grip | None:
    """A grip on the process that had this number and this start; None if it has ended.

    The order decides: while what we hold says that its process lives, nobody else can have the number, so the start
    that is read in between is that process's."""
    _race_window("judged, not yet gripped")
    try:
        grip = Grip(pid, system.ending.hold(pid))
    except (ProcessLookupError, PermissionError):
        return None
    _race_window("gripped, not yet compared")
    if procs.start_ticks(pid) == start and not grip.has_ended():
        return grip
    grip.close()
    return None


class Followed:
    """A forked child of ours that is waited for only while it gets on: one that was stopped, or hangs, is ended.

    Progress is what the kernel counts of it (time on a processor, times it slept and woke), so that a child at work on
    a big tree or a slow disk has as long as it needs. Only time in which somebody really waited counts: who was stopped
    together with it (Ctrl-Z) or slept with the whole machine has not waited. Raises OSError where it cannot be
    followed."""

    __slots__ = ("_counted", "_fd", "_still_s", "is_stopped", "pid")

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.is_stopped = False  # at the last look
        self._fd = system.ending.hold(pid)
        self._counted: tuple[bytes, ...] = ()
        self._still_s = 0.0

    def speaks(self, pipe: int) -> bool:
        """Wait until there is something to read of it, or its end; False: it does not get on."""
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        while True:
            began_s = time.monotonic()
            if poll.poll(_LOOK_S * 1000):
                self._still_s = 0.0
                return True
            if self.is_stuck(time.monotonic() - began_s):
                return False

    def is_stuck(self, waited_s: float) -> bool:
        """After another look, `waited_s` since the last one."""
        self.is_stopped, counted = system.ending.progress(self.pid)
        if counted != self._counted or not counted:  # not measured: nobody is ended for that
            self._counted, self._still_s = counted, 0.0
            return False
        self._still_s += min(waited_s, 2 * _LOOK_S)
        return self._still_s >= (STOPPED_S if self.is_stopped else STILL_S)

    def end(self) -> bool:
        """Kill and reap it. False where it cannot be killed: the kernel keeps one waiting that asked a dead disk."""
        try:
            system.ending.send(self._fd, self.pid, signal.SIGKILL)
            poll = select.poll()
            poll.register(self._fd, select.POLLIN)
            if not poll.poll(_END_S * 1000):
                return False
            system.ending.reap(self._fd, self.pid)
        except (ProcessLookupError, ChildProcessError):
            pass  # a host may reap everybody's children
        return True

    def close(self) -> None:
        os.close(self._fd)
