"""Processes: nothing is told of any."""

from __future__ import annotations

from ...proc.procs import Process
from .no_answer import no_answer


def living(pid: int) -> Process | None:
    """Raises OSError: a number alone tells nobody from his successor."""
    raise no_answer()


def pids() -> list[int]:
    """Raises OSError."""
    raise no_answer()


def owner_of(pid: int) -> int | None:
    """Raises OSError."""
    raise no_answer()


def other_threads(pid: int) -> list[int]:
    """Raises OSError."""
    raise no_answer()


def numbers_below(pid: int) -> tuple[int, ...] | None:
    """Raises OSError."""
    raise no_answer()


def arguments(pid: int) -> tuple[bytes, ...]:
    """Raises OSError."""
    raise no_answer()


def environment(thread: int) -> bytes:
    """Raises OSError."""
    raise no_answer()


def program(pid: int) -> str:
    """Raises OSError."""
    raise no_answer()


def cgroup(pid: int) -> str | None:
    """None: not told."""
    return None


def boot_time_s() -> float | None:
    """None: not told."""
    return None


def started_s(pid: int, start: int) -> float | None:
    """None: not told."""
    return None
