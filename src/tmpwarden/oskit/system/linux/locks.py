"""Who has locked what, from /proc/locks, and whether anybody listens on a socket, from /proc/net/unix and by asking."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection

from ....model.answers import Held, Nobody, NotMeasured, Users
from ...files.opening import closing
from ...proc import namespaces
from ...proc.locks import Inodes, LockedInodes
from .reading import read

# The kernel names these by a device number that stat does not show, so there the inode number alone is compared.
_DEVICE_DIFFERS = frozenset(("btrfs", "overlay", "bcachefs", "fuse.fuse-overlayfs"))

_ACCEPTS = 0x10000  # __SO_ACCEPTCON, of a socket that listens


def locked_inodes(except_pids: Collection[int] = ()) -> Inodes | NotMeasured:
    """Every file with a flock, POSIX or OFD lock or a lease on it, or somebody waiting for one.

    `except_pids`: whose flocks and POSIX locks do not count, such as our own. A process that locks a file has it open,
    so where this cannot be measured the kernel can be asked.
    """
    if not namespaces.in_initial_pid_namespace():
        return NotMeasured("locks from outside this PID namespace are not visible", askable=True)
    try:
        text = read("/proc/locks")
    except OSError as error:
        return NotMeasured(f"/proc/locks cannot be read: {error.strerror}", askable=True)
    return _for_stat(parse_locks(text.decode("ascii", "replace"), except_pids))


def bound_sockets() -> frozenset[bytes] | NotMeasured:
    """A mark for every socket of this network namespace that is bound to a path; compare two looks."""
    try:
        lines = read("/proc/net/unix").split(b"\n")[1:]
    except OSError as error:
        return NotMeasured(f"/proc/net/unix cannot be read: {error.strerror}")
    return frozenset(b" ".join(words[6:]) for line in lines if len(words := line.split()) > 7 and words[7][:1] != b"@")


def listening_sockets() -> frozenset[str] | NotMeasured:
    """The absolute paths of this network namespace that somebody listens on, as they were bound."""
    try:
        lines = read("/proc/net/unix").split(b"\n")[1:]
    except OSError as error:
        return NotMeasured(f"/proc/net/unix cannot be read: {error.strerror}")
    rows = (line.split(None, 7) for line in lines)  # a path may hold spaces
    return frozenset(
        os.fsdecode(words[7])
        for words in rows
        if len(words) == 8 and words[7].startswith(b"/") and int(words[3], 16) & _ACCEPTS
    )


def listeners(dir_fd: int, name: str) -> Users:
    """Whether any process has this socket bound. Only ECONNREFUSED is dead.

    A datagram connect to a stream socket fails with EPROTOTYPE as long as somebody has it bound, so that no server ever
    sees us; and through a pinned descriptor the path always fits into sun_path and nobody can swap the name.
    """
    if not hasattr(os, "O_PATH"):
        return NotMeasured("this system cannot tell whether a process listens on a socket")
    try:
        pinned = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    except OSError as error:
        return NotMeasured(f"a socket in it could not be checked: {error.strerror}")
    with closing(pinned):
        if not stat.S_ISSOCK(os.fstat(pinned).st_mode):
            return NotMeasured("a socket in it was replaced")
        number = _connected(f"/proc/self/fd/{pinned}")
    if number == errno.ECONNREFUSED:
        return Nobody()
    if number in (0, errno.EPROTOTYPE, errno.EAGAIN, errno.EPERM, errno.EISCONN):
        from ....model.sweep import Witness
        from ....model.terms import WitnessKind  # not for who only wants a flock

        return Held((Witness(WitnessKind.SOCKET, name),))
    return NotMeasured(f"a socket in it could not be checked: {os.strerror(number)}")


def _connected(path: str) -> int:
    import socket  # most sweeps meet none

    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC) as probe:
        return probe.connect_ex(path)


def parse_locks(text: str, except_pids: Collection[int] = ()) -> frozenset[tuple[int, int]]:
    """The (device, inode) pairs of /proc/locks; a line that is no lock is passed over."""
    locks = set()
    for line in text.splitlines():
        fields = line.replace("-> ", "").split()
        try:
            major, minor, inode = fields[5].split(":")
            pid = int(fields[4])
            if pid not in except_pids:
                locks.add((os.makedev(int(major, 16), int(minor, 16)), int(inode)))
        except (IndexError, ValueError):
            continue
    return frozenset(locks)


def _for_stat(locks: frozenset[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    table = namespaces.MountTable.of()
    plain = frozenset(
        _device_number(mount.device)
        for mount in (table.mounts if table else ())
        if mount.filesystem not in _DEVICE_DIFFERS
    )
    unclear = frozenset(inode for device, inode in locks if device not in plain)
    if not unclear:
        return locks
    loose = LockedInodes(locks)
    loose.numbers, loose.plain_devices = unclear, plain
    return loose


def _device_number(device: str) -> int:
    major, _, minor = device.partition(":")
    return os.makedev(int(major), int(minor))
