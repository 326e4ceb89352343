"""Sockets: not told."""

from __future__ import annotations

from ...proc.connections import Socket
from .no_answer import no_answer


def sockets_of(pid: int) -> tuple[str, set[int]]:
    """Raises OSError."""
    raise no_answer()


def table(pid: int) -> list[Socket]:
    """Raises OSError."""
    raise no_answer()


def listening_locally(pid: int) -> set[int]:
    """Raises OSError."""
    raise no_answer()
