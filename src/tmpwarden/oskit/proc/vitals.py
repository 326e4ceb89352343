"""What one process is and what it costs, as the system tells it. Only reads; a process that ends meanwhile is Gone."""

from __future__ import annotations

from ...lazy_dataclass import dataclass
from .. import system


@dataclass(frozen=True, slots=True)
class Vitals:
    pid: int
    parent: int
    start: int  # clock ticks after boot: with the pid, its identity within one boot
    uid: int
    name: str  # the kernel's 15 bytes
    arguments: tuple[str, ...]
    environ: bytes
    cwd: str  # as its own mount namespace names it
    cgroup: str
    has_terminal: bool
    ignores_hangup: bool
    cpu_s: float
    memory_bytes: int  # resident; shared pages counted whole

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.start


@dataclass(frozen=True, slots=True)
class ProcessGone:
    pid: int


@dataclass(frozen=True, slots=True)
class PartlyUnread:
    """It is there, and something that decides about it could not be read."""

    pid: int
    parent: int | None
    why: str


def look_at(pid: int) -> Vitals | ProcessGone | PartlyUnread:
    """Everything that decides about a process, or why it could not be read."""
    return system.vitals.look_at(pid)


def proportional_bytes(pid: int) -> int | None:
    """Its share of memory, each shared page divided among its users; None where that cannot be read."""
    return system.vitals.proportional_bytes(pid)
