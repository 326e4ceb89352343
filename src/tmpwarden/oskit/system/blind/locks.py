"""Locks and sockets: not told."""

from __future__ import annotations

from collections.abc import Collection

from ....model.answers import NotMeasured, Users
from ...proc.locks import Inodes


def locked_inodes(except_pids: Collection[int] = ()) -> Inodes | NotMeasured:
    """Not measured."""
    return NotMeasured("on this system locks cannot be seen")


def bound_sockets() -> frozenset[bytes] | NotMeasured:
    """Not measured."""
    return NotMeasured("on this system sockets cannot be seen")


def listening_sockets() -> frozenset[str] | NotMeasured:
    """Not measured."""
    return NotMeasured("on this system sockets cannot be seen")


def listeners(dir_fd: int, name: str) -> Users:
    """Not measured."""
    return NotMeasured("on this system a socket cannot be asked who listens")
