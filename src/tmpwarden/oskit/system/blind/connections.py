"""Sockets: not told."""

from __future__ import annotations

from ...proc.connections import Socket
from .untold import untold


def sockets_of(pid: int) -> tuple[str, set[int]]:
    """Raises OSError."""
    raise untold()


def table(pid: int) -> list[Socket]:
    """Raises OSError."""
    raise untold()


def listening_locally(pid: int) -> set[int]:
    """Raises OSError."""
    raise untold()
