"""Whether anybody holds the other end of a pipe, socket pair or pseudo-terminal that a process has open."""

from __future__ import annotations

from ...lazy_dataclass import dataclass
from ...model.answers import NotMeasured
from .. import system


@dataclass(frozen=True, slots=True)
class NoFarEnd:
    """Nobody can ever write to it, or read from it, again; nothing that was written before waits in it."""

    identity: str  # as the kernel names it: "pipe:[4711]", "/dev/pts/3 (deleted)"

    @property
    def is_terminal(self) -> bool:
        return self.identity.startswith("/dev/")


@dataclass(frozen=True, slots=True)
class FarEnd:
    """Somebody may, or it is no pipe at all."""

    what: str  # in words


def far_end(pid: int, fd: int) -> NoFarEnd | FarEnd | NotMeasured:
    """Of standard input (0): whether anybody can write to it. Of standard output (1): whether anybody reads it."""
    return system.far_ends.far_end(pid, fd)
