"""What is mounted: not told."""

from __future__ import annotations

from ...proc.namespaces import Mount
from .no_answer import no_answer

BINDS = False  # no directory is mounted elsewhere with the device of what lies around it


def mounts(pid: int | str = "self") -> list[Mount]:
    """Raises OSError."""
    raise no_answer()


def mount_id_of(fd: int) -> int | None:
    """None: not told."""
    return None


class Watched:
    """Nobody tells of changes: the table is read each time."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen: object = None

    @classmethod
    def open(cls) -> Watched | None:
        """None: it cannot be watched."""
        return None

    def has_changed(self) -> bool:
        """As far as we know."""
        return True
