"""A hold on one process that no reused number can loosen: a pidfd, opened first and compared with its start then.

The only module that sends signals to processes that are not our own children."""

from __future__ import annotations

import os
import select
import signal

from ..race import race_window as _race_window
from . import procs


class Grip:
    """Signals through this reach that very process or nobody."""

    __slots__ = ("_fd", "pid")

    def __init__(self, pid: int, fd: int) -> None:
        self.pid = pid
        self._fd = fd

    def send(self, number: int) -> bool:
        """False if it has ended, or is no longer ours to signal."""
        try:
            signal.pidfd_send_signal(self._fd, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def has_ended(self, *, within_s: float = 0.0) -> bool:
        """A pidfd becomes readable when its process ends, and stays so."""
        return bool(select.select([self._fd], [], [], within_s)[0])

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Grip:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def take_hold(pid: int, start: int) -> Grip | None:
    """A grip on the process that had this number and this start; None if it has ended.

    The order decides: while the pidfd says that its process lives, nobody else can have the number, so the start that
    is read in between is that process's."""
    _race_window("judged, not yet gripped")
    try:
        grip = Grip(pid, os.pidfd_open(pid))
    except (ProcessLookupError, PermissionError):
        return None
    _race_window("gripped, not yet compared")
    if procs.start_ticks(pid) == start and not grip.has_ended():
        return grip
    grip.close()
    return None
