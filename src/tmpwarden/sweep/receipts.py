"""The receipts of one run and what they add up to, however many there are."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ..lazy_dataclass import dataclass, field
from ..model.sweep import Receipt
from ..model.terms import Outcome, OwnerRule
from .packed import Packed

Change = Callable[[Receipt], Receipt]
_WENT = (Outcome.REMOVED, Outcome.QUARANTINED)


@dataclass(slots=True)
class Sums:
    freed_bytes: int = 0
    removed_entries: int = 0
    quarantined_bytes: int = 0
    bytes_below: Counter[str] = field(default_factory=Counter)  # by root, of what went
    units: int = 0  # that went
    leased: list[str] = field(default_factory=list)  # those that a lease spoke for, by path

    def add(self, receipt: Receipt) -> None:
        self.freed_bytes += receipt.freed_bytes
        self.removed_entries += receipt.entries if receipt.outcome is Outcome.REMOVED else 0
        self.quarantined_bytes += receipt.bytes if receipt.outcome is Outcome.QUARANTINED else 0
        if receipt.outcome in _WENT:
            finding = receipt.finding
            self.bytes_below[finding.root] += receipt.bytes
            self.units += len(finding.members) or 1
            self.leased += (finding.path,) if finding.litter.owner is OwnerRule.LEASE else ()


class Receipts(Packed[Receipt]):
    """In the order in which things happened."""

    def __init__(self, receipts: Iterable[Receipt] = ()) -> None:
        self._sums: Sums | None = Sums()
        self._waiting = array("Q")  # what went into quarantine, by the digits of its id
        self._known: set[int] | None = None  # the same, from the first change on
        self._changes: dict[str, Change] = {}
        super().__init__(receipts, lambda receipt: receipt.outcome)

    @property
    def sums(self) -> Sums:
        if self._sums is None:
            self._sums = Sums()
            for receipt in self:
                self._sums.add(receipt)
        return self._sums

    def append(self, member: Receipt) -> None:
        super().append(member)
        if self._sums is not None:
            self._sums.add(member)
        if member.outcome is Outcome.QUARANTINED:
            self._waiting.append(_digits(member.id))
            if self._known is not None:
                self._known.add(_digits(member.id))

    def change(self, id_: str, outcome: Outcome, how: Change) -> bool:
        """Something happened since to what went into quarantine under this id, and it has this outcome now; False if no
        receipt tells of it."""
        if self._known is None:
            self._known = set(self._waiting)
        if _digits(id_) not in self._known:
            return False
        self._known.remove(_digits(id_))
        self._counts[Outcome.QUARANTINED] -= 1
        self._counts[outcome] += 1
        self._changes[id_], self._sums = how, None
        return True

    def __iter__(self) -> Iterator[Receipt]:
        return map(self._now, super().__iter__()) if self._changes else super().__iter__()

    def tagged(self, tags: frozenset[object]) -> Iterator[Receipt]:
        if not self._changes:
            return super().tagged(tags)
        return (receipt for receipt in self if receipt.outcome in tags)

    def _now(self, receipt: Receipt) -> Receipt:
        how = self._changes.get(receipt.id)
        return how(receipt) if how else receipt


def _digits(id_: str) -> int:
    return int(id_.partition(".")[0], 16)
