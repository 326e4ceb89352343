"""What is measured once for a run and shared by all its units: processes, owners, locks, mounts."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

from ...catalogue.checks import Mappings
from ...lazy_dataclass import dataclass, field
from ...model.answers import Nobody, NotMeasured, Users
from ...model.sweep import Finding, Measure, Owner, Witness
from ...oskit.files import kernel_word
from ...oskit.files.roll import Roll
from ...oskit.proc import locks
from ...oskit.proc.namespaces import MountTable
from ...oskit.proc.reach import Reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...oskit.proc.holders import Holders

OwnerOf = Callable[[Finding, Measure | None], tuple[Owner, tuple[Witness, ...]]]


class _Tied:
    """Locked files and bound sockets of one moment; two moments are compared."""

    __slots__ = ("bound", "locked")

    def __init__(self) -> None:
        self.locked = locks.locked_inodes(except_pids=(os.getpid(),))
        self.bound = locks.bound_sockets()


_LOOKS = 4  # at all processes, between two of which nothing is collected


@dataclass(slots=True)
class World:
    """What is measured once per run (and again before units are taken), and shared by all units."""

    uid: int
    mounts: MountTable | None
    marks: Callable[[Finding], Callable[[str, str], bool] | None]
    look: Callable[[frozenset[int], bool], tuple[Holders, OwnerOf]]  # at all but these processes (closely?), at owners
    frozen: list[str] = field(default_factory=list)  # mounts inside units that do not answer
    gave_up: list[str] = field(default_factory=list)  # sentences about helpers of ours that had to be ended
    workers: frozenset[int] = frozenset()  # forks of ours: they inherit descriptors without using them
    walkers: frozenset[int] = frozenset()  # the same
    # parents from which this very run took something: their newest date before we touched them
    untouched_ns: dict[tuple[int, int], int] = field(default_factory=dict)
    newly_locked: locks.Inodes = frozenset()  # between the last two looks
    keeps_rolls: bool = False  # what is judged goes at once: the names that its walk saw are wanted again
    last_roll: tuple[str, Roll] = ("", [])
    mappings: Mappings = field(default_factory=Mappings)
    newly_bound: bool = False  # some socket, somewhere: its owner may have bound it by any name
    # the last look at all of these; the first one waits until there is something to ask
    _seen: tuple[Holders, OwnerOf] | None = None
    _tied: _Tied | None = None
    _looks: int = 0

    @property
    def holders(self) -> Holders:
        return self._looked()[0]

    def owner_of(self, finding: Finding, measure: Measure | None) -> tuple[Owner, tuple[Witness, ...]]:
        """Whose it is, and who claims it. `measure`: None where it has not been walked."""
        return self._looked()[1](finding, measure)

    def _looked(self) -> tuple[Holders, OwnerOf]:
        if self._seen is None:
            self._seen = self.look(self.workers | self.walkers, False)
        return self._seen

    @property
    def locked(self) -> locks.Inodes | NotMeasured:
        """What was locked before the first unit was walked, or at the last look since."""
        if self._tied is None:
            self._tied = _Tied()
        return self._tied.locked

    @property
    def reach(self) -> Reach:
        """Of this very moment: whatever was mounted since the last look is known before a unit is walked."""
        return Reach.now()

    def roll_of(self, path: str) -> Roll | None:
        """The names of a unit, if it was the last that was walked."""
        return self.last_roll[1] or None if self.last_roll[0] == path else None

    def counts_atime(self, directory: str) -> bool:
        return self.mounts is None or "noatime" not in self.mounts.options(directory)

    @property
    def seen_locks(self) -> locks.Inodes:
        """Those that a walk can recognize; what could not be measured is a doubt of `users_in`."""
        return frozenset() if isinstance(self.locked, NotMeasured) else self.locked

    def is_locked(self, status: os.stat_result) -> bool:
        return (status.st_dev, status.st_ino) in self.seen_locks

    def users_in(self, path: str, measure: Measure | None = None) -> Users:
        """Who uses `path` or something in it, by all that /proc tells. `measure`: what is known of it."""
        match self.holders.within(path, is_deep=measure is not None and measure.is_deep):
            case Nobody() if isinstance(self.locked, NotMeasured):
                return self.locked
            case answer:
                return answer

    def is_in_doubt(self, path: str, measure: Measure | None = None) -> bool:
        """Whether anybody may use `path` unseen."""
        return isinstance(self.users_in(path, measure), NotMeasured)

    def askable(self, doubt: NotMeasured, path: str, files: int) -> NotMeasured:
        """Whether the kernel's word could decide it, told before the deed has to ask."""
        if not doubt.askable:
            return doubt
        filesystem = self.mounts.filesystem(path) if self.mounts else None
        trouble = kernel_word.foreseen(filesystem, files)
        return doubt if trouble is None else NotMeasured(f"{doubt.why}, and {trouble}")

    def refresh(self) -> None:
        self._looks += 1
        if self._looks % _LOOKS == 0:
            gc.collect()  # a look that is over holds itself, 3 MB of it, and a command's collector seldom comes
        self._seen = self.look(self.workers | self.walkers, True)
        before, self._tied = self._tied, _Tied()
        self.newly_locked = locks.newly_locked(before.locked if before else frozenset(), self._tied.locked)
        self.newly_bound = before is None or locks.newly_bound(before.bound, self._tied.bound)
        self.mounts = MountTable.of()
