"""Copy a unit to another file system as it is: hard links, holes, fifos, sockets, modes, dates, attributes and ACLs.

Into a directory that only we can enter; the caller renames the whole of it into place, or purges it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator

from .. import system
from .opening import closing, open_dir, open_unread
from .same_mount import enter

_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_LEVELS = 400
_CHUNK_BYTES = 1 << 20


def copy(from_fd: int, name: str, to_fd: int, new_name: str) -> int:
    """Copy what lies at `name`; how many entries. Raises OSError where anything of it cannot be copied."""
    copier = _Copier(to_fd)
    copier.entry(from_fd, name, to_fd, new_name, ())
    return copier.entries


class _Copier:
    def __init__(self, top_fd: int) -> None:
        self.top_fd = top_fd
        self.entries = 0
        self.first_names: dict[tuple[int, int], str] = {}  # of inodes with several names, below `top_fd`

    def entry(self, from_fd: int, name: str, to_fd: int, new_name: str, above: tuple[str, ...]) -> None:
        status = os.stat(name, dir_fd=from_fd, follow_symlinks=False)
        self.entries += 1
        if stat.S_ISDIR(status.st_mode):
            self.directory(from_fd, name, to_fd, new_name, (*above, new_name))
            return
        if status.st_nlink > 1:
            first = self.first_names.setdefault((status.st_dev, status.st_ino), "/".join((*above, new_name)))
            if first != "/".join((*above, new_name)):
                os.link(first, new_name, src_dir_fd=self.top_fd, dst_dir_fd=to_fd, follow_symlinks=False)
                return
        if stat.S_ISREG(status.st_mode):
            _copy_file(from_fd, name, to_fd, new_name, status)
        else:
            _copy_special(from_fd, name, to_fd, new_name, status)

    def directory(self, from_fd: int, name: str, to_fd: int, new_name: str, above: tuple[str, ...]) -> None:
        if len(above) > _MOST_LEVELS:
            raise OSError(errno.ELOOP, f"it is more than {_MOST_LEVELS} levels deep")
        with closing(enter(name, from_fd)) as source_fd:
            os.mkdir(new_name, 0o700, dir_fd=to_fd)
            with closing(open_dir(new_name, to_fd)) as target_fd:
                for member in sorted(os.listdir(source_fd)):
                    self.entry(source_fd, member, target_fd, member, above)
                _copy_attributes(source_fd, target_fd)
                _copy_dates(source_fd, target_fd)


def _copy_file(from_fd: int, name: str, to_fd: int, new_name: str, status: os.stat_result) -> None:
    with closing(open_unread(name, from_fd)) as source:
        if not os.path.samestat(os.fstat(source), status):
            raise OSError(errno.ESTALE, "it changed while it was copied", name)
        with closing(os.open(new_name, _MAKE, 0o600, dir_fd=to_fd)) as target:
            for start, end in _data(source, status.st_size):
                _copy_bytes(source, target, start, end)
            os.ftruncate(target, status.st_size)
            _copy_attributes(source, target)
            _copy_dates(source, target)


def _data(fd: int, size: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that hold data; the rest are holes."""
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end
                return
            yield at, size  # a file system that knows no holes
            return
        at = os.lseek(fd, start, os.SEEK_HOLE)
        yield start, at


def _copy_bytes(source: int, target: int, at: int, end: int) -> None:
    while at < end:
        block = os.pread(source, min(_CHUNK_BYTES, end - at), at)
        if not block:
            raise OSError(errno.ESTALE, "it changed while it was copied")
        view = memoryview(block)
        while view:
            written = os.pwrite(target, view, at)
            view, at = view[written:], at + written


def _copy_special(from_fd: int, name: str, to_fd: int, new_name: str, status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(name, dir_fd=from_fd), new_name, dir_fd=to_fd)
    elif stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
        os.mknod(new_name, stat.S_IFMT(status.st_mode) | 0o600, dir_fd=to_fd)
        with closing(system.descriptors.pin(name, from_fd)) as source:
            with closing(system.descriptors.pin(new_name, to_fd)) as target:
                _copy_attributes(system.descriptors.way_to(source), system.descriptors.way_to(target))
    else:
        raise OSError(errno.ENODEV, "a device is not copied", name)
    os.utime(new_name, ns=(status.st_atime_ns, status.st_mtime_ns), dir_fd=to_fd, follow_symlinks=False)


def _copy_attributes(source: int | str, target: int | str) -> None:
    """Extended attributes, ACLs among them, and the mode last: an ACL changes it."""
    system.entries.copy_attributes(source, target)
    status = os.stat(source)
    if os.stat(target).st_gid != status.st_gid:
        try:
            os.chown(target, -1, status.st_gid)
        except PermissionError:
            pass  # a group that we have left
    os.chmod(target, stat.S_IMODE(status.st_mode))


def _copy_dates(source: int, target: int) -> None:
    status = os.fstat(source)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
