"""The nouns of a file that grows while somebody writes it."""

from __future__ import annotations

from ..lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Writer:
    pid: int
    start: int
    command: str
    session: str | None  # None: nothing binds it to a session, and no limit is applied to it
    spared: str | None  # why it may not be stopped or ended unasked


@dataclass(frozen=True, slots=True)
class Sampled:
    """One open file at one moment."""

    path: str
    is_deleted: bool
    device: int
    inode: int
    allocated_bytes: int
    writers: tuple[Writer, ...]

    @property
    def identity(self) -> tuple[int, int]:
        return self.device, self.inode


@dataclass(frozen=True, slots=True)
class GrowingFile:
    """The same file at two moments."""

    file: Sampled
    bytes_per_s: float
    seconds_to_full: float | None  # at this rate; None: it does not grow, or the root has no end in sight
    root: str

    @property
    def is_growing(self) -> bool:
        return self.bytes_per_s > 0


@dataclass(frozen=True, slots=True)
class Limits:
    max_file_bytes: int | None = None
    max_session_bytes: int | None = None
    min_free_percent: int | None = None
    action: str = "warn"  # "stop", "end"


@dataclass(frozen=True, slots=True)
class Breach:
    """A limit that a file went over, and who is to be stopped for it."""

    growing: GrowingFile
    limit: str  # in words: "max_file 20.0 GB"
    writers: tuple[Writer, ...]


@dataclass(frozen=True, slots=True)
class Hole:
    """The verdict on an open file: all but its end may go, if its only user is who can do nothing but append to it."""

    fd: int  # the writer's own open file
    device: int
    inode: int
