"""The nouns of processes: a row that knows a program, whose a process is, what becomes of it; a file that grows while
somebody writes it."""

from __future__ import annotations

from enum import Enum

from ..lazy_dataclass import dataclass
from .terms import OwnerState


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A kind of program that agents start and leave: any of `programs` with, where there are some, any of `words`."""

    id: str
    kind: str  # what [orphans] end names: "mcp", "browser", "dev-server", "tail", "shell"
    programs: tuple[str, ...]  # globs for the program's name without its directory
    words: tuple[str, ...]  # globs; one argument has to match one of them. Empty: the program alone says it
    why: str
    seen: tuple[str, ...]
    matches: tuple[str, ...]
    spares: tuple[str, ...]
    part_of: str | None = None  # a kind: it carries no session of its own, but that of such a process above it


@dataclass(frozen=True, slots=True)
class Binding:
    """Whose a process is: the session it carries, and what became of that."""

    agent: str
    session: str | None  # None: only the agent is known
    by: str  # what binds it, in words
    state: OwnerState
    proof: str  # what the state was taken from
    own_cgroups: tuple[str, ...] = ()  # where the agent itself ran, where a lease says so


@dataclass(frozen=True, slots=True)
class Unheard:
    """A process to which nobody can ever speak again."""

    pid: int
    start: int
    input: str  # how the kernel names its closed standard input


class Fate(Enum):
    END = "end"  # a known kind of left-over, of a session proven dead or a tool server to which nobody can speak
    KEEP = "keep"  # may be ended by naming it
    NEVER = "never"  # refused even when it is named


@dataclass(frozen=True, slots=True)
class Orphan:
    """One process that carries a session, and what becomes of it."""

    pid: int
    start: int
    command: str
    age_s: float
    cpu_s: float
    memory_bytes: int
    ports: tuple[int, ...]
    held_bytes: int  # of files in temp roots that it has open, deleted ones too
    row: ProcessRow | None
    binding: Binding | None
    fate: Fate
    reason: str
    is_unheard: bool = False  # a tool server to which nobody can speak any more


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of one process that was to end."""

    pid: int
    command: str
    outcome: str  # "ended", "killed", "gone", "stayed"


@dataclass(frozen=True, slots=True)
class Writer:
    pid: int
    start: int
    command: str
    session: str | None  # None: it does not belong to any known session, and no limit is applied to it
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
