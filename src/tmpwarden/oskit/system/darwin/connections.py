"""TCP sockets, process by process: macOS has no table of all that tells whose they are."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...proc.connections import Socket
from . import layouts as at
from . import libproc, processes

_NETWORK = "net"  # there is one


def sockets_of(pid: int) -> tuple[str, set[int]]:
    """(its network, the numbers of its sockets). Raises OSError: one of procs.ENDED, or why it could not be read."""
    return _NETWORK, {libproc.u64(answer, at.SOCKET_HANDLE) for answer in _answers(pid)}


def listening_locally(pid: int) -> set[int]:
    """The numbers of its unix sockets that listen. Raises OSError."""
    return {
        libproc.u64(answer, at.SOCKET_HANDLE)
        for answer in _answers(pid)
        if libproc.u32(answer, at.SOCKET_KIND) == at.IS_UNIX and libproc.u16(answer, at.SOCKET_OPTIONS) & at.ACCEPTS
    }


def _answers(pid: int) -> Iterator[bytes]:
    for number, kind in libproc.descriptors(pid):
        answer = libproc.of_descriptor(pid, number, at.FD_SOCKET) if kind == at.IS_SOCKET else None
        if answer is not None:
            yield answer


def table(pid: int) -> list[Socket]:
    """All that processes of this user listen on or are connected by. Raises OSError."""
    sockets: dict[int, Socket] = {}
    for other in libproc.pids():
        try:
            basics = processes.basics(other)
            if basics and not basics.has_ended and os.geteuid() in (0, basics.uid):
                sockets.update((one.inode, one) for one in _sockets(other))
        except OSError:
            if other == pid:
                raise
    return list(sockets.values())


def _sockets(pid: int) -> list[Socket]:
    sockets = []
    for answer in _answers(pid):
        if libproc.u32(answer, at.SOCKET_KIND) != at.IS_TCP:
            continue
        start = at.SOCKET_PROTOCOL
        state = libproc.u32(answer, start + at.TCP_STATE)
        if state not in (at.TCP_LISTENING, at.TCP_ESTABLISHED):
            continue
        foreign = libproc.u32(answer, start + at.TCP_FOREIGN_PORT)
        local = libproc.u32(answer, start + at.TCP_LOCAL_PORT)
        is_four = answer[start + at.TCP_VERSION] & at.IS_IPV4
        ends = [answer[start + where : start + where + 16] for where in (at.TCP_LOCAL, at.TCP_FOREIGN)]
        near, far = (end[12:] if is_four else end for end in ends)
        handle = libproc.u64(answer, at.SOCKET_HANDLE)
        listens = state == at.TCP_LISTENING
        sockets.append(Socket(handle, (near, _port(local)), (far, _port(foreign)), listens))
    return sockets


def _port(number: int) -> int:
    """The two bytes are in the order of the network."""
    return (number >> 8 | number << 8) & 0xFFFF
