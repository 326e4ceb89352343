"""Sockets of a process, from /proc/PID/fd, and /proc/net/tcp and unix of its network namespace."""

from __future__ import annotations

import os

from ...proc.connections import Address, Socket

_LISTENING, _ESTABLISHED = b"0A", b"01"
_ACCEPTS = 0x10000  # __SO_ACCEPTCON, of a unix socket that listens


def sockets_of(pid: int) -> tuple[str, set[int]]:
    """(its network, the numbers of its sockets). Raises OSError: one of procs.ENDED, or why it could not be read."""
    namespace, folder = os.readlink(f"/proc/{pid}/ns/net"), f"/proc/{pid}/fd"
    targets = [_target(f"{folder}/{name}") for name in os.listdir(folder)]
    return namespace, {int(target[8:-1]) for target in targets if target.startswith("socket:[")}


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except (FileNotFoundError, ProcessLookupError):
        return ""  # closed meanwhile


def table(pid: int) -> list[Socket]:
    """All of its network's that listen or are connected. Raises OSError."""
    sockets = []
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{name}", "rb") as lines:
                next(lines, None)
                rows = [line.split() for line in lines]
        except FileNotFoundError:
            continue  # a kernel without IPv6
        for row in rows:
            if row[3] in (_LISTENING, _ESTABLISHED):
                sockets.append(Socket(int(row[9]), _address(row[1]), _address(row[2]), row[3] == _LISTENING))
    return sockets


def listening_locally(pid: int) -> set[int]:
    """The numbers of its network's unix sockets that listen. Raises OSError."""
    with open(f"/proc/{pid}/net/unix", "rb") as lines:
        next(lines, None)
        rows = [line.split(None, 7) for line in lines]
    return {int(row[6]) for row in rows if int(row[3], 16) & _ACCEPTS}


def _address(text: bytes) -> Address:
    address, _, port = text.partition(b":")
    return address, int(port, 16)
