"""A file that a process uses, as macOS tells it: which one it is, and by what path it was reached last."""

from __future__ import annotations

from . import layouts as at
from . import libproc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class Vnode:
    """Device and file number say which file it is. The path is a hint: it may be an older one, or one of several."""

    __slots__ = ("blocks", "device", "file", "kind", "links", "mode", "path", "size_bytes")

    def __init__(self, answer: bytes, start: int) -> None:
        self.device = libproc.u32(answer, start + at.VNODE_DEVICE)
        self.mode = libproc.u16(answer, start + at.VNODE_MODE)
        self.links = libproc.u16(answer, start + at.VNODE_LINKS)
        self.file = libproc.u64(answer, start + at.VNODE_FILE)
        self.size_bytes = libproc.i64(answer, start + at.VNODE_BYTES)
        self.blocks = libproc.i64(answer, start + at.VNODE_BLOCKS)
        self.kind = libproc.u32(answer, start + at.VNODE_TYPE)
        self.path = libproc.text(answer, start + at.PATH_IN_VNODE, at.LONGEST_PATH)

    @property
    def is_there(self) -> bool:
        """A process that was never put into another root has none of its own."""
        return bool(self.kind or self.file)


class OpenVnode:
    """A descriptor of a process, or a file port."""

    __slots__ = ("flags", "number", "position", "vnode")

    def __init__(self, number: int, answer: bytes) -> None:
        self.number = number
        self.flags = libproc.u32(answer, at.FILE_FLAGS)
        self.position = libproc.i64(answer, at.FILE_OFFSET)
        self.vnode = Vnode(answer, at.VNODE_IN_FD)

    @property
    def is_written(self) -> bool:
        return bool(self.flags & at.OPEN_WRITE)

    @property
    def is_open_to_look(self) -> bool:
        """As a process of ours opens things: a directory, or neither for reading nor for writing."""
        return self.vnode.kind == at.IS_DIRECTORY or bool(self.flags & at.OPEN_TO_LOOK)


def opened(pid: int) -> Iterator[OpenVnode]:
    """Its files; what was closed meanwhile is left out. Raises OSError."""
    for number, kind in libproc.descriptors(pid):
        if kind == at.IS_VNODE and (answer := libproc.of_descriptor(pid, number, at.FD_VNODE)):
            yield OpenVnode(number, answer)
    for port, kind in libproc.fileports(pid):
        if kind == at.IS_VNODE and (answer := libproc.of_descriptor(pid, port, at.FD_VNODE, is_port=True)):
            yield OpenVnode(-1, answer)


def places(pid: int, *, has_thread_places: bool) -> tuple[list[Vnode], Vnode | None]:
    """(working directories of it and its threads, its root where that is another). Raises OSError."""
    answer = libproc.info(pid, at.PLACES)
    working, root = [Vnode(answer, 0)], Vnode(answer, at.ROOT_IN_PLACES)
    if has_thread_places:
        for handle in libproc.threads(pid):
            try:
                working.append(Vnode(libproc.info(pid, at.THREAD_PLACE, handle), at.VNODE_IN_THREAD))
            except ProcessLookupError:
                continue  # this thread has ended
    return [one for one in working if one.is_there], root if root.is_there else None


class Mapped:
    """A part of a file in the memory of a process."""

    __slots__ = ("is_written", "vnode")

    def __init__(self, answer: bytes) -> None:
        protection, share = libproc.u32(answer, at.REGION_PROTECTION), libproc.u32(answer, at.REGION_SHARE)
        self.is_written = bool(protection & at.MAY_WRITE) and share not in at.IS_PRIVATE
        self.vnode = Vnode(answer, at.VNODE_IN_REGION)


def mapped(pid: int, *, closely: bool = False) -> Iterator[Mapped]:
    """Raises OSError."""
    for answer in libproc.regions(pid, closely=closely):
        yield Mapped(answer)
