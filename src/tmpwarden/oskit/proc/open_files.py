"""Regular files in temp roots that a process has open: how big they are, and whether and how it writes them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from ...lazy_dataclass import dataclass
from .namespaces import MountTable

_DELETED = " (deleted)"
_BLOCK = 512


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

    @property
    def is_in_sequence(self) -> bool:
        """It writes at the end, one write after the other. The size was read first: a writer may be past it by now."""
        return self.is_appended or self.position >= self.size_bytes


def open_files(pid: int, roots: Sequence[str], table: MountTable | None) -> Iterator[OpenFile]:
    """What `pid` holds below `roots`. What has been closed meanwhile, or cannot be read, is passed over: this tells of
    sizes and proves nothing. Nothing is looked at that lies on a file system which may hang."""
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        if (found := _open_file(pid, int(name), roots, table)) is not None:
            yield found


def _open_file(pid: int, fd: int, roots: Sequence[str], table: MountTable | None) -> OpenFile | None:
    link = f"/proc/{pid}/fd/{fd}"
    try:
        target = os.readlink(link)
        root = next((root for root in roots if target.startswith(root.rstrip("/") + "/")), None)
        if root is None or table is None or table.may_hang(target.removesuffix(_DELETED)):
            return None
        status = os.stat(link)
        flags, position = _how(pid, fd)
    except (OSError, ValueError, KeyError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return OpenFile(
        pid,
        fd,
        target.removesuffix(_DELETED) if status.st_nlink == 0 else target,
        status.st_nlink == 0,
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_blocks * _BLOCK,
        flags & os.O_ACCMODE != os.O_RDONLY,
        bool(flags & os.O_APPEND),
        position,
    )


def _how(pid: int, fd: int) -> tuple[int, int]:
    """(flags it was opened with, position) from fdinfo."""
    with open(f"/proc/{pid}/fdinfo/{fd}") as lines:
        said = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(said["flags"], 8), int(said["pos"])
