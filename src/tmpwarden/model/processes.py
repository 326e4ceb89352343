"""The nouns of what outlives a session: a row that knows a program, whose a process is, what becomes of it."""

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


class Fate(Enum):
    END = "end"  # of a session proven dead, and a known kind of left-over
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


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of one process that was to end."""

    pid: int
    command: str
    outcome: str  # "ended", "killed", "gone", "stayed"
