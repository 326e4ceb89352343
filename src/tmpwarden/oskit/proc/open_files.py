"""Regular files that processes have open: those in temp roots, with how big they are and how they are written; and
who uses one given file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ...lazy_dataclass import dataclass
from .. import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .namespaces import MountTable

MappedFiles = dict[int, set[tuple[str, str]]]  # inode -> (device as the system writes it, last name)

_SHORTEST = 8  # of a session's id: a shorter word stands in many environments


@dataclass(frozen=True, slots=True)
class OpenFile:
    pid: int
    fd: int
    path: str  # without the kernel's " (deleted)"
    is_deleted: bool
    device: int
    inode: int
    size_bytes: int
    allocated_bytes: int
    is_written: bool
    is_appended: bool  # opened so that every write goes to the end
    position: int

    @property
    def identity(self) -> tuple[int, int]:
        return self.device, self.inode


@dataclass(frozen=True, slots=True)
class FileUser:
    """One who has the file in question open or mapped."""

    pid: int
    flags: int | None  # of his descriptor; None: mapped

    @property
    def may_read(self) -> bool:
        return self.flags is not None and self.flags & os.O_ACCMODE != os.O_WRONLY

    @property
    def may_write(self) -> bool:
        return self.flags is not None and self.flags & os.O_ACCMODE != os.O_RDONLY


def only_appends(flags: int) -> bool:
    """Whatever it seeks to, the kernel writes at the end."""
    return flags & os.O_ACCMODE == os.O_WRONLY and bool(flags & os.O_APPEND)


def open_files(pid: int, roots: Sequence[str], table: MountTable | None) -> Iterator[OpenFile]:
    """What `pid` holds below `roots`. What has been closed meanwhile, or cannot be read, is passed over: this tells of
    sizes and proves nothing. Nothing is looked at that lies on a file system which may hang."""
    return system.open_files.open_files(pid, roots, table)


def written_by(pid: int, table: MountTable) -> Iterator[str]:
    """Every regular file that `pid` has open for writing or mapped to be written, by its name; one without a name
    (deleted) is nobody's any more. What lies where nobody may answer counts. Raises OSError: not measured."""
    return system.open_files.written_by(pid, table)


def written_by_session(session: str) -> Iterator[tuple[str, int]]:
    """(path, inode) of regular files that a process with this session's id in its environment can write through an
    open descriptor. What cannot be read is passed over: it proves nothing."""
    return system.open_files.written_by_session(session) if len(session) >= _SHORTEST else iter(())


def taken(pid: int, fd: int) -> int:
    """That very open file, as if its process had passed it to us; opening it by name would make another one.

    Raises OSError: not for us (PermissionError), gone, or ENOSYS: this system cannot."""
    return system.open_files.taken(pid, fd)


def flags_of(fd: int) -> int:
    """What an open file of ours was opened for."""
    return system.open_files.flags_of(fd)


def users_of(fd: int) -> Iterator[FileUser]:
    """Who else has the file behind our `fd` open or mapped, under whatever name, as far as we are shown. To tell
    people; it proves nothing."""
    return system.open_files.users_of(fd)
