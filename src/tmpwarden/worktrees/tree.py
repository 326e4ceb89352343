"""The noun of this package: one worktree or clone with all that is known about it, and what that comes to."""

from __future__ import annotations

from ..lazy_dataclass import dataclass
from ..model.sweep import Finding, Measure, Witness
from ..repos.merged import Merged
from .proof import ITEMS, Holds, Item

NOTHING_TO_LOSE = "nothing-to-lose"


@dataclass(frozen=True, slots=True)
class Tree:
    path: str
    maker: str | None  # the row of the catalogue that knows the place
    items: tuple[Item, ...]
    finding: Finding | None = None  # None: it vanished
    repository: str | None = None  # what to give to `git -C`; None: it could not be inspected
    is_linked: bool = True  # False: a clone, which is a repository of its own
    branch: str = ""  # "" where HEAD is detached
    head: str = ""
    forgotten: tuple[str, ...] = ()  # tips of commits that only the log of its HEAD has
    committed_s: int | None = None
    is_dirty: bool | None = None
    unpushed: int | None = None  # None: not measured, or there is no remote to push to
    merged: Merged | None = None
    held_by: tuple[Witness, ...] = ()
    measure: Measure | None = None
    derived: tuple[tuple[str, int], ...] = ()  # directories that can be made again, and their bytes

    @property
    def failing(self) -> Item | None:
        return next((item for item in self.items if item.holds is not Holds.YES), None)

    @property
    def is_proven(self) -> bool:
        return self.failing is None

    @property
    def reason(self) -> str:
        return ITEMS[self.failing.name][1] if self.failing else NOTHING_TO_LOSE

    @property
    def derived_bytes(self) -> int:
        return sum(size for _, size in self.derived)

    @property
    def lacks_only_a_name(self) -> bool:
        """Some of its commits have no branch and nothing else is wrong: references of ours make them safe."""
        failing = [item for item in self.items if item.holds is not Holds.YES]
        is_unreached = [item.name for item in failing] == ["reached"] and failing[0].holds is Holds.NO
        return self.is_linked and is_unreached and bool(self.head)
