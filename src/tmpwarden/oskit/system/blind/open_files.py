"""Open files: not told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...proc.namespaces import MountTable
from ...proc.open_files import FileUser, MappedFiles, OpenFile
from .no_answer import no_answer


def open_files(pid: int, roots: Sequence[str], table: MountTable | None) -> Iterator[OpenFile]:
    """None: this tells of sizes and proves nothing."""
    return iter(())


def written_by(pid: int, table: MountTable) -> Iterator[str]:
    """Raises OSError."""
    raise no_answer()


def written_by_session(session: str) -> Iterator[tuple[str, int]]:
    """None: it proves nothing."""
    return iter(())


def users_of(fd: int) -> Iterator[FileUser]:
    """None: to tell people; it proves nothing."""
    return iter(())


def taken(pid: int, fd: int) -> int:
    """Raises OSError."""
    raise no_answer()


def flags_of(fd: int) -> int:
    """What an open file of ours was opened for."""
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_GETFL)


def read_maps() -> MappedFiles | None:
    """None: nobody could be asked."""
    return None
