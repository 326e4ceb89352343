"""Every date of an entry and whose it is, in one question: Python's stat does not tell the birth time on Linux."""

from __future__ import annotations

import os
import stat

from .. import system
from .opening import closing, open_dir

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST = 100  # directories within each other: each is open while those below it are looked at


class Dated:
    """What the file system says of one entry at one moment."""

    __slots__ = ("born_ns", "changed_ns", "device", "inode", "links", "mode", "modified_ns", "uid")

    def __init__(
        self,
        device: int,
        inode: int,
        *,
        born_ns: int | None,
        modified_ns: int,
        changed_ns: int,
        links: int,
        mode: int,
        uid: int,
    ) -> None:
        self.device, self.inode = device, inode
        self.born_ns = born_ns  # None: this file system does not write it down
        self.modified_ns, self.changed_ns = modified_ns, changed_ns
        self.links, self.mode, self.uid = links, mode, uid

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_linked(self) -> bool:
        """A file that has another name, too: it may be somebody's there."""
        return self.links > 1 and not self.is_directory


def dated(name: str, dir_fd: int) -> Dated | None:
    """What is there now, no link followed; None where nothing is, or it cannot be looked at."""
    return system.entries.dated(name, dir_fd)


def dated_tree(path: str) -> Iterator[tuple[str, Dated | None]]:
    """An entry and all that lies in it, by their names below it ("" is the entry itself). None: it could not be looked
    at, or not into. Another file system inside is told and not entered."""
    parent, _, name = path.rpartition("/")
    try:
        fd = open_dir(parent or "/")
    except OSError:
        yield "", None
        return
    with closing(fd):
        top = dated(name, fd)
        yield "", top
        if top is not None and top.is_directory:
            yield from _below(name, fd, "", top.device, 1)


def _below(name: str, dir_fd: int, path: str, device: int, depth: int) -> Iterator[tuple[str, Dated | None]]:
    try:
        fd = open_dir(name, dir_fd)
    except OSError:
        yield path, None
        return
    with closing(fd):
        if depth > _DEEPEST:
            yield path, None
            return
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    here, dated_entry = f"{path}{entry.name}", dated(entry.name, fd)
                    yield here, dated_entry
                    if dated_entry is not None and dated_entry.is_directory and dated_entry.device == device:
                        yield from _below(entry.name, fd, f"{here}/", device, depth + 1)
        except OSError:
            yield path, None


def born_ns(dir_fd: int, name: str) -> int | None:
    """Nanoseconds since the epoch; None where the file system does not write it down, or the entry is gone."""
    return system.entries.born_ns(dir_fd, name)
