"""Open files, as libproc shows them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ...proc.namespaces import MountTable
from ...proc.open_files import FileUser, MappedFiles, OpenFile
from . import identities, libproc, processes, vnodes
from . import layouts as at

_BLOCK = 512


def open_files(pid: int, roots: Sequence[str], table: MountTable | None) -> Iterator[OpenFile]:
    """What `pid` holds below `roots`. What has been closed meanwhile, or cannot be read, is passed over: this tells of
    sizes and proves nothing."""
    places = {key: root for root in roots if (key := identities.locate(os.path.realpath(root)))}
    ways = identities.Ways()
    with suppress(OSError):
        for file in vnodes.opened(pid):
            one = file.vnode
            if not stat.S_ISREG(one.mode) or file.number < 0:
                continue
            root = next((places[key] for key in ways.to(one) or () if key in places), None)
            path = os.fsdecode(one.path)
            if root is not None and (table is None or not table.may_hang(path)):
                yield OpenFile(
                    pid=pid,
                    fd=file.number,
                    path=path,
                    is_deleted=one.links == 0,
                    device=one.device,
                    inode=one.file,
                    size_bytes=one.size_bytes,
                    allocated_bytes=one.blocks * _BLOCK,
                    is_written=file.is_written,
                    is_appended=bool(file.flags & at.OPEN_APPEND),
                    position=file.position,
                )


def written_by(pid: int, table: MountTable) -> Iterator[str]:
    """Every regular file that `pid` has open for writing or mapped to be written, by its name; one without a name
    (deleted) is nobody's any more. Raises OSError: not measured."""
    try:
        for file in vnodes.opened(pid):
            if file.is_written and stat.S_ISREG(file.vnode.mode) and file.vnode.links:
                yield os.fsdecode(file.vnode.path)
        for part in vnodes.mapped(pid, closely=True):
            if part.is_written and stat.S_ISREG(part.vnode.mode) and part.vnode.links:
                yield os.fsdecode(part.vnode.path)
    except ProcessLookupError:
        return


def written_by_session(session: str) -> Iterator[tuple[str, int]]:
    """(path, inode) of regular files that a process with this session's id in its environment can write through an
    open descriptor. What cannot be read is passed over: it proves nothing."""
    needle = f"={session}\0".encode("utf-8", "surrogateescape")
    with suppress(OSError):
        for pid in libproc.pids():
            with suppress(OSError):
                if needle not in processes.environment(pid):
                    continue
                for file in vnodes.opened(pid):
                    if file.is_written and stat.S_ISREG(file.vnode.mode) and file.vnode.links:
                        yield os.fsdecode(file.vnode.path), file.vnode.file


def taken(pid: int, fd: int) -> int:
    """Raises OSError: nobody can take an open file from another process."""
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


def flags_of(fd: int) -> int:
    """What an open file of ours was opened for."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL)


def users_of(fd: int) -> Iterator[FileUser]:
    """Who else has the file behind our `fd` open or mapped, under whatever name, as far as that is told to us. To tell
    people; it proves nothing."""
    status = os.fstat(fd)
    wanted = identities.key_of(status.st_dev, status.st_ino)
    with suppress(OSError):
        for pid in libproc.pids():
            with suppress(OSError):
                yield from _uses(pid, wanted, own_fd=fd)


def _uses(pid: int, wanted: identities.Key, *, own_fd: int) -> Iterator[FileUser]:
    for file in vnodes.opened(pid):
        is_ours = pid == os.getpid() and file.number == own_fd
        if identities.key_of(file.vnode.device, file.vnode.file) == wanted and not is_ours:
            yield FileUser(pid, _as_opened(file.flags))
    if any(identities.key_of(part.vnode.device, part.vnode.file) == wanted for part in vnodes.mapped(pid)):
        yield FileUser(pid, None)


def _as_opened(flags: int) -> int:
    """The kernel counts reading and writing as one bit each, open(2) does not."""
    how = {at.OPEN_READ: os.O_RDONLY, at.OPEN_WRITE: os.O_WRONLY}.get(flags & (at.OPEN_READ | at.OPEN_WRITE), os.O_RDWR)
    return how | (os.O_APPEND if flags & at.OPEN_APPEND else 0)


def read_maps() -> MappedFiles | None:
    """Which files processes run code from, of all that may be read; None where there is not one."""
    mapped: MappedFiles = {}
    read = 0
    try:
        pids = libproc.pids()
    except OSError:
        return None
    for pid in pids:
        try:
            parts = [part.vnode for part in vnodes.mapped(pid)]
        except OSError:
            continue
        read += 1
        for one in parts:
            base = os.fsdecode(one.path.rpartition(b"/")[2])
            mapped.setdefault(one.file, set()).add((f"{os.major(one.device):02x}:{os.minor(one.device):02x}", base))
    return mapped if read else None
