"""The other end of a pipe or terminal, asked by opening ours once more; of a socket pair, through sock_diag(7)."""

from __future__ import annotations

import errno
import os
import select
import socket
import struct

from ....model.answers import NotMeasured
from ...files.opening import closing
from ...proc.connections import FarEnd, NoFarEnd

_INPUT = 0
_NETLINK_SOCK_DIAG, _BY_FAMILY, _ERROR = 4, 20, 2
_REQUEST = 1  # NLM_F_REQUEST
_SHOW_PEER, _SHOW_QUEUE = 4, 16
_PEER, _QUEUE, _SHUTDOWN = 2, 4, 6  # attributes of the answer
_BOTH_WAYS = 3
_TERMINALS = "/dev/pts/"
_ANY = 0xFFFFFFFF
_HEADER, _ATTRIBUTES_AT = struct.calcsize("=IHHII"), 32


def far_end(pid: int, fd: int) -> NoFarEnd | FarEnd | NotMeasured:
    link = f"/proc/{pid}/fd/{fd}"
    try:
        target = os.readlink(link)
        if target.startswith("pipe:["):
            return _of_pipe(link, target, is_input=fd == _INPUT)
        if target.startswith("socket:["):
            return _of_socket(pid, target)
        if target.startswith(_TERMINALS):
            return _of_terminal(link, target)
    except OSError as error:
        return NotMeasured(f"{link} cannot be asked: {error.strerror}")
    except (ValueError, struct.error):
        return NotMeasured(f"the kernel tells of {link} in a way we do not know")
    return FarEnd(target)


def _of_pipe(link: str, target: str, *, is_input: bool) -> NoFarEnd | FarEnd | NotMeasured:
    """A pipe without a name (a fifo with one gets no HUP from a fresh descriptor, and may be opened again). For the
    moment of the question we are a second reader, or writer, who neither takes nor gives a byte."""
    flags = (os.O_RDONLY if is_input else os.O_WRONLY) | os.O_NONBLOCK | os.O_CLOEXEC
    with closing(os.open(link, flags)) as opened:
        if f"pipe:[{os.fstat(opened).st_ino}]" != target:
            return NotMeasured(f"{link} became another file")
        poll = select.poll()
        poll.register(opened, select.POLLIN if is_input else select.POLLOUT)
        events = next((events for _, events in poll.poll(0)), 0)
    if is_input:
        is_alone = bool(events & select.POLLHUP) and not events & select.POLLIN
    else:
        is_alone = bool(events & select.POLLERR)
    return NoFarEnd(target) if is_alone else FarEnd(target)


def _of_terminal(link: str, target: str) -> NoFarEnd | FarEnd:
    """A pseudo-terminal whose window or connection is closed answers EIO for ever; its number may be another's now."""
    try:
        os.close(os.open(link, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC))
    except OSError as error:
        if error.errno == errno.EIO:
            return NoFarEnd(target)
        raise
    return FarEnd(target)


def _of_socket(pid: int, target: str) -> NoFarEnd | FarEnd | NotMeasured:
    """Closed at the other end, nothing left to read. A socket that was never connected has no peer at all."""
    if os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net"):
        return NotMeasured(f"{target} belongs to another network namespace")
    inode = int(target.removeprefix("socket:[").removesuffix("]"))
    attributes = _ask(inode)
    if attributes is None:
        return NotMeasured(f"the kernel cannot be asked about {target}")
    peer, shutdown, queue = attributes.get(_PEER), attributes.get(_SHUTDOWN), attributes.get(_QUEUE)
    if peer is None or shutdown is None or queue is None:
        return FarEnd(target)
    is_closed = struct.unpack("=I", peer) == (0,) and shutdown[0] == _BOTH_WAYS
    return NoFarEnd(target) if is_closed and struct.unpack_from("=I", queue) == (0,) else FarEnd(target)


def _ask(inode: int) -> dict[int, bytes] | None:
    """The attributes of this one unix socket, or None where the kernel knows none of that number, or does not tell."""
    request = struct.pack("=BBHII", socket.AF_UNIX, 0, 0, _ANY, inode)
    request += struct.pack("=III", _SHOW_PEER | _SHOW_QUEUE, _ANY, _ANY)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        header = struct.pack("=IHHII", _HEADER + len(request), _BY_FAMILY, _REQUEST, 1, 0)
        kernel.send(header + request)
        answer = kernel.recv(8192)
    length, kind = struct.unpack_from("=IH", answer)
    if kind == _ERROR:
        return None
    family, inode_of_answer = answer[_HEADER], struct.unpack_from("=I", answer, _HEADER + 4)[0]
    if family != socket.AF_UNIX or inode_of_answer != inode or length > len(answer):
        return None
    attributes, at = {}, _ATTRIBUTES_AT
    while at + 4 <= length:
        size, name = struct.unpack_from("=HH", answer, at)
        if size < 4:
            return None
        attributes[name] = answer[at + 4 : at + size]
        at += (size + 3) & ~3
    return attributes
