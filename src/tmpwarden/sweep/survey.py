"""What a scan sees: every unit with its verdict, and then an account of whole roots (law 13)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from ..catalogue.matcher import Place
from ..lazy_dataclass import dataclass, field, replace
from ..model.sweep import Account, Space, Unmatched, Verdict
from ..oskit.files import places
from .find.scan import Finder
from .find.strangers import Strangers, measure_below
from .prepared import Prepared

LEAST_BUDGET = 100_000  # entries of strangers that are looked at, or as many as litter has: a scan at most doubles


@dataclass(slots=True)
class Survey:
    """What `scan` saw. Iterate it once, for the verdicts; then ask for what was not recognised.

    Example:

        import tmpwarden

        survey = tmpwarden.scan(tmpwarden.Request(agents=("claude",)))
        removable = [verdict.finding.path for verdict in survey if isinstance(verdict, tmpwarden.Remove)]
        for space in survey.roots:
            print(f"{space.path}: {space.bytes_free} bytes free, {len(removable)} items removable")
        print(survey.warnings)
    """

    _prepared: Prepared
    _strangers: Strangers | None = None
    _matched: dict[str, int] = field(default_factory=dict)  # root -> bytes
    _partly: set[str] = field(default_factory=set)  # roots in which something could not be measured in full
    _entries: int = 0
    _rooms: tuple[Space, ...] | None = None
    _forks: bool = True  # False in a program with threads: a second process is not started to walk along

    def __iter__(self) -> Iterator[Verdict]:
        if not (self._prepared.request.agents or self._prepared.request.rows):  # else most of a root is not looked at
            self._strangers = Strangers(self._prepared.roots, places.uid())
            self._prepared.finder.stranger = self._strangers.see
        for verdict in self._prepared.surveyed() if self._forks else self._prepared.verdicts():
            root, measure = verdict.finding.root, verdict.evidence.measure
            if measure is None or measure.at_least:
                self._partly.add(root)
            if measure is not None:
                self._matched[root] = self._matched.get(root, 0) + measure.bytes
                self._entries += measure.entries
            yield verdict
        self._prepared.finder.stranger = None

    def expected(self, *, within_s: float) -> int | None:
        """How many items there are at most, by names alone, for a progress bar. None if counting takes longer."""
        watch, count = _Watch(time.monotonic() + within_s), 0
        try:
            for finding in replace(self._prepared.finder, stranger=None).find():
                watch.look()
                count += len(finding.members) or 1
        except _OutOfTime:
            return None
        return count

    @property
    def roots(self) -> tuple[Space, ...]:
        """How full each temp root is, measured once."""
        if self._rooms is None:
            self._rooms = self._prepared.spaces()
        return self._rooms

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be looked at, in sentences."""
        unreadable = [f"{path} could not be read" for path in self._prepared.finder.unreadable]
        frozen = [f"the file system mounted at {path} does not respond: skipped" for path in self._prepared.frozen]
        return (*self._prepared.warnings, *unreadable, *frozen, *self._prepared.weigher.world.gave_up)

    def unmatched(self, *, in_full: bool = False) -> tuple[Unmatched, ...]:
        """Your files that were not recognised, largest group first. `in_full`: measure all of them, without a limit."""
        if self._strangers is None:
            return ()
        self._strangers.measure(None if in_full else max(LEAST_BUDGET, self._entries))
        return self._strangers.unmatched()

    def accounts(self, unmatched: tuple[Unmatched, ...]) -> tuple[Account, ...]:
        """Whose the bytes in each temp root are: agents', not recognised, other users', in quarantine."""
        return tuple(self._account(room, unmatched) for room in self.roots) if self._strangers is not None else ()

    def _account(self, room: Space, unmatched: tuple[Unmatched, ...]) -> Account:
        assert self._strangers is not None
        here = [group for group in unmatched if group.root == room.path]
        others_bytes, others_count = self._strangers.others(room.path)
        quarantine = measure_below(room.path, f"tmpwarden-{places.uid()}/q", places.uid())
        matched_bytes, unmatched_bytes = self._matched.get(room.path, 0), sum(group.bytes for group in here)
        quarantined_bytes = quarantine.bytes if quarantine and quarantine.entries > 1 else 0
        known_bytes = matched_bytes + unmatched_bytes + others_bytes + quarantined_bytes
        is_alone = os.path.ismount(room.path)  # else other directories of the file system are used as well
        return Account(
            room.path,
            matched_bytes=matched_bytes,
            unmatched_bytes=unmatched_bytes,
            others_bytes=others_bytes,
            quarantined_bytes=quarantined_bytes,
            other_bytes=max(0, room.bytes_used - known_bytes) if is_alone else None,
            unmatched_count=sum(group.count for group in here),
            others_count=others_count,
            at_least=room.path in self._partly or any(group.at_least for group in here),
        )


@dataclass(frozen=True, slots=True)
class Glance:
    """What lies in a root, counted by names alone: no directory is entered that no row speaks of."""

    root: str
    matched_count: int
    unmatched: tuple[Unmatched, ...]  # without what directories hold
    others_count: int
    saw_all: bool


def glance(finder: Finder, roots: tuple[str, ...], *, within_s: float) -> tuple[Glance, ...]:
    """As far as one comes in that time; a status must be quick."""
    strangers = Strangers(roots, places.uid())
    counts: dict[str, int] = {}
    watch, saw_all = _Watch(time.monotonic() + within_s), True

    def see(place: Place, name: str, status: os.stat_result) -> None:
        watch.look()
        strangers.see(place, name, status)

    try:
        for finding in replace(finder, stranger=see).find():
            watch.look()
            counts[finding.root] = counts.get(finding.root, 0) + (len(finding.members) or 1)
    except _OutOfTime:
        saw_all = False
    groups = sorted(strangers.unmatched(), key=lambda each: -each.count)
    return tuple(
        Glance(
            root,
            counts.get(root, 0),
            tuple(each for each in groups if each.root == root),
            strangers.others(root)[1],
            saw_all,
        )
        for root in roots
    )


class _OutOfTime(Exception):
    pass


@dataclass(slots=True)
class _Watch:
    """Looks at the clock now and then: a million names pass by."""

    until: float
    count: int = 0

    def look(self) -> None:
        self.count += 1
        if self.count % 512 == 0 and time.monotonic() > self.until:
            raise _OutOfTime
