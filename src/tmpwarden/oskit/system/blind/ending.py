"""Hold on to a process: not possible, so nobody is ended by his number. Our own children we know."""

from __future__ import annotations

import os

from .no_answer import no_answer

SURVIVES_FORK = False  # a forked child of ours cannot wait for it
CAN_FOLLOW = False  # a number alone may name another process by the time we end it


def hold(pid: int) -> int:
    """Raises OSError."""
    raise no_answer()


def send(fd: int, pid: int, number: int) -> None:
    """Raises OSError."""
    raise no_answer()


def reap(fd: int, pid: int) -> None:
    """Of a child of ours that has ended. Raises OSError."""
    os.waitpid(pid, 0)


def progress(pid: int) -> tuple[bool, tuple[bytes, ...]]:
    """Nothing: not measured."""
    return False, ()
