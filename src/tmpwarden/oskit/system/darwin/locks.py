"""Who has locked what, and whether anybody listens on a socket.

macOS has no list of locks. A process that holds one has the file open, as a descriptor or a fileport, which is seen.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Collection, Iterator

from ....model.answers import Held, Nobody, NotMeasured, Users
from ...proc import forked
from ...proc.locks import Inodes
from . import layouts as at
from . import libproc, processes

_SAID = struct.Struct("=i")
_ANSWER_S = 2.0


def locked_inodes(except_pids: Collection[int] = ()) -> Inodes | NotMeasured:
    """None but those that a look at open files sees: a lock whose only descriptor is on its way through a socket is
    seen by nobody (docs/macos.md)."""
    if not libproc.is_there():
        return NotMeasured("this system does not tell who has locked a file")
    return frozenset()


def _unix_sockets() -> Iterator[tuple[int, int, bytes, bool]]:
    """(process, handle, path it was bound to, whether it listens), of this user's processes. Raises OSError."""
    for pid in libproc.pids():
        try:
            basics = processes.basics(pid)
            if basics is None or basics.has_ended or os.geteuid() not in (0, basics.uid):
                continue
            for number, kind in libproc.descriptors(pid):
                answer = libproc.of_descriptor(pid, number, at.FD_SOCKET) if kind == at.IS_SOCKET else None
                if answer and libproc.u32(answer, at.SOCKET_KIND) == at.IS_UNIX:
                    path = libproc.text(answer, at.SOCKET_PROTOCOL + at.UNIX_PATH, at.UNIX_PATH_SIZE + 1)
                    handle = libproc.u64(answer, at.SOCKET_HANDLE)
                    options = libproc.u16(answer, at.SOCKET_OPTIONS)
                    if path:
                        yield pid, handle, path, bool(options & at.ACCEPTS)
        except ProcessLookupError:
            continue


def bound_sockets() -> frozenset[bytes] | NotMeasured:
    """A mark for every socket of this user that is bound to a path; compare two looks."""
    try:
        return frozenset(b"%d %s" % (handle, path) for _, handle, path, _ in _unix_sockets())
    except OSError as error:
        return NotMeasured(f"sockets cannot be listed: {error.strerror}")


def listening_sockets() -> frozenset[str] | NotMeasured:
    """The absolute paths that somebody of this user listens on, as they were bound."""
    try:
        return frozenset(
            os.fsdecode(path) for _, _, path, listens in _unix_sockets() if listens and path.startswith(b"/")
        )
    except OSError as error:
        return NotMeasured(f"sockets cannot be listed: {error.strerror}")


def listeners(dir_fd: int, name: str) -> Users:
    """Whether any process has this socket bound. Only ECONNREFUSED is dead.

    Asked by a child of ours that works in the directory, because a path may be longer than an address has room for. As
    a datagram, so that no server of a stream ever sees us. A name that leads elsewhere meanwhile proves nothing.
    """
    try:
        before = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        if not stat.S_ISSOCK(before.st_mode):
            return NotMeasured("a socket in it became something else")
        number = _asked(dir_fd, name)
        after = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except OSError as error:
        return NotMeasured(f"a socket in it cannot be asked: {error.strerror}")
    if not os.path.samestat(before, after):
        return NotMeasured("a socket in it became something else")
    if number == errno.ECONNREFUSED:
        return Nobody()
    if number in (0, errno.EPROTOTYPE, errno.EAGAIN, errno.EPERM, errno.EISCONN):
        from ....model.sweep import Witness
        from ....model.terms import WitnessKind  # not for who only wants a flock

        return Held((Witness(WitnessKind.SOCKET, name),))
    return NotMeasured(f"a socket in it cannot be asked: {os.strerror(number)}")


def _asked(dir_fd: int, name: str) -> int:
    """What connecting to it says, as an error number. Raises OSError."""
    import select
    import socket

    reading, writing = os.pipe()

    def work() -> None:
        try:
            os.fchdir(dir_fd)
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
                probe.setblocking(False)
                number = probe.connect_ex(name)
        except OSError as error:
            number = error.errno or errno.EIO
        os.write(writing, _SAID.pack(number))

    try:
        child = forked.forked(work)
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    try:
        poll = select.poll()
        poll.register(reading, select.POLLIN | select.POLLHUP)
        answer = os.read(reading, _SAID.size) if poll.poll(_ANSWER_S * 1000) else b""
    finally:
        os.close(reading)
    if len(answer) != _SAID.size:
        raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    forked.reap(child)
    return int(_SAID.unpack(answer)[0])
