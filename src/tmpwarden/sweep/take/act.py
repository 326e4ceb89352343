"""Carry out Remove verdicts: the only step of a sweep that changes the world.

A batch is taken group by group; then one more look at all processes is made for the whole batch, at the new place, and
what somebody holds there goes back. Only then is anything purged.
"""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Iterator

from ...lazy_dataclass import dataclass, field, replace
from ...model.sweep import Finding, Keep, Receipt, Remove, Verdict
from ...model.terms import Outcome, Reason, Worth
from ...oskit.files import space
from ...oskit.files.take import Taken
from ...oskit.race import race_window as _race_window
from ..find.scan import Parents
from ..store import labels, quarantine
from ..store.journal import Journal
from ..store.quarantine import Quarantines
from ..weigh.weigher import Weigher
from . import doubt
from .ending import Ending, Rescuer, must_be_saved, record
from .purger import Job, Purger
from .taking import Deed, GrippedUnit, MayGo, grip, is_empty_directory, refused, remove_in_place, take_all, take_members
from .without_room import WithoutRoom, is_certain, may_go_for_good, no_room

_NO_WAY = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)  # what led to the unit is not there any more
GROUP = 64  # units that a big sweep takes together; two descriptors each
_MOST_PARENTS = 128  # open descriptors of one batch
_GROUP_ENTRIES = 2048  # what was judged must not wait for the walks of too much else


@dataclass(slots=True)
class Actor:
    """Takes units; `last_look` ends a batch, `finish` waits for the last purge."""

    weigher: Weigher
    journal: Journal
    quarantines: Quarantines
    purger: Purger
    keep_for_undo: bool = True
    only_into_quarantine: bool = False  # undo was promised: what cannot be moved stays
    rescuer: Rescuer | None = None  # saves git work and files before a unit goes
    # what stayed for want of room or of a quarantine, and what is told of it if no other try helps
    stranded: list[tuple[Remove, Receipt]] = field(default_factory=list)
    group: int = 1  # units that are taken together: one write of all their intents, then the renames
    pending: list[Deed] = field(default_factory=list)
    _room: WithoutRoom | None = None
    _grips: deque[GrippedUnit] = field(default_factory=deque)
    _gripped_entries: int = 0
    _parents: Parents = field(default_factory=lambda: Parents(_MOST_PARENTS))

    @property
    def count(self) -> int:
        """Units of the batch."""
        return len(self.pending) + len(self._grips)

    @property
    def is_full(self) -> bool:
        """Whether the next unit could need a descriptor too many."""
        return self._parents.are_many

    def for_good(self) -> Actor:
        """One that keeps nothing for undo, in the same run."""
        return replace(self, keep_for_undo=False, pending=[], _grips=deque(), _parents=Parents(_MOST_PARENTS))

    def take(self, verdict: Remove, *, is_fresh: bool = False) -> Iterator[Receipt]:
        """`is_fresh`: judged this very moment; else the unit is heard again before it is taken."""
        if self.is_full and (verdict.finding.root, verdict.finding.parent) not in self._parents:
            yield from self.last_look()
        for outcome in self._begin(verdict, is_fresh):
            if isinstance(outcome, Deed):
                self.pending.append(outcome)
            elif isinstance(outcome, GrippedUnit):
                self._grips.append(outcome)
                self._gripped_entries += outcome.intent.entries
            elif outcome is not None:
                yield self._record(outcome)
        if self._is_group_full:
            yield from self._take_gripped()

    @property
    def _is_group_full(self) -> bool:
        is_big = len(self._grips) >= self.group or self._gripped_entries >= _GROUP_ENTRIES
        return is_big or (bool(self._grips) and self._grips[-1].is_last)

    def _take_gripped(self) -> Iterator[Receipt]:
        grips, self._grips, self._gripped_entries = self._grips, deque(), 0
        for each, result in take_all(grips, self.journal) if grips else ():
            if result == Taken.TAKEN:
                self.pending.append(each.deed)
            elif isinstance(result, Receipt) and result.reason is Reason.NO_JOURNAL:
                yield from filter(None, (self._without_room(each.deed.verdict, each.deed.dir_fd),))
            else:
                yield from map(self._record, filter(None, (self._refused(each.deed, result),)))

    def remaining(self) -> Iterator[Receipt]:
        """Of what stayed for want of room, when the run is over."""
        for _, receipt in self.stranded:
            yield self._record(receipt)
        self.stranded.clear()

    def last_look(self) -> Iterator[Receipt]:
        """Look once more for users of anything in the batch, then finish or put back."""
        yield from self._take_gripped()
        deeds, self.pending = self.pending, []
        if not deeds:
            self._parents.close()
            return
        _race_window("taken, holders not yet looked for")
        jobs: list[Job] = []
        try:
            self.weigher.world.refresh()
            ending = Ending(self.weigher.world, self.journal, self.rescuer)
            with self.journal.together():
                for end in ending.of_all(deeds):
                    if isinstance(end, Job):
                        jobs.append(end)
                    else:
                        yield end
        finally:
            self._parents.close()
        if jobs:
            yield from self._purged(self.purger.submit(jobs))
        self.weigher.world.workers = self.purger.workers

    def finish(self) -> Iterator[Receipt]:
        yield from self.last_look()
        yield from self._purged(self.purger.finish())
        if self._room:
            self._room.finish()

    def _begin(self, verdict: Remove, is_fresh: bool) -> Iterator[GrippedUnit | Deed | Receipt | None]:
        finding = verdict.finding
        is_known = (finding.root, finding.parent) in self._parents
        try:
            dir_fd = self._parents.open(finding.root, finding.parent)
        except OSError as error:
            yield _unreachable(verdict, error)
            return
        if not is_known:
            self._remember_parent(dir_fd)
        verdicts = [verdict] if is_fresh else list(self._judge_again(verdict, dir_fd))
        if not verdicts:
            yield Receipt(finding, Outcome.VANISHED, verdict.reason)
        for part in verdicts:
            _race_window("walked, not yet taken")
            taken = _kept(part) if isinstance(part, Keep) else self._take(part, dir_fd)
            yield taken
            # a small directory of a full xfs holds seven tokens
            if isinstance(taken, Deed) and taken.crowded:
                rest = replace(taken.verdict.finding, members=tuple(taken.crowded))
                yield self._remove_in_place(replace(taken.verdict, finding=rest), dir_fd, is_for_room=True)

    def _judge_again(self, verdict: Remove, dir_fd: int) -> Iterator[Verdict]:
        """What is to be purged at once will be walked in quarantine: until then the walk of its judging must do."""
        known = None if self._token(verdict).endswith(quarantine.KEPT) else verdict.evidence.measure
        return self.weigher.again(verdict.finding, dir_fd, known)

    def _remember_parent(self, dir_fd: int) -> None:
        status = os.fstat(dir_fd)
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        self.weigher.world.untouched_ns.setdefault((status.st_dev, status.st_ino), newest)

    def _take(self, verdict: Remove, dir_fd: int) -> GrippedUnit | Deed | Receipt | None:
        """None where it has to wait for room."""
        finding = verdict.finding
        if not finding.members and (unclear := doubt.refusal(verdict, dir_fd)):
            return unclear
        quarantine_fd = self.quarantines.open(finding.root)
        if quarantine_fd is None:
            return self._without_quarantine(verdict, dir_fd)
        deed = Deed(verdict, dir_fd, quarantine_fd, self.quarantines.directory(finding.root))
        if finding.members:
            result: str | Receipt = take_members(deed, self.journal, self._member_may_go(verdict, dir_fd))
            return deed if result == Taken.TAKEN else self._refused(deed, result)
        id_ = self._token(verdict)
        is_kept = id_.endswith(quarantine.KEPT)
        deed.roll = self.weigher.world.roll_of(finding.path)
        unit = grip(deed, id_, id_ if is_kept else quarantine.first_name(id_))
        return unit if isinstance(unit, GrippedUnit) else self._refused(deed, unit)

    def _without_quarantine(self, verdict: Remove, dir_fd: int) -> Receipt | None:
        """What is worth something stays where a quarantine is refused and its own disk has room: that the journal
        cannot be written on another one is no reason to do without undo."""
        finding, is_worth_it = verdict.finding, verdict.finding.litter.worth is Worth.SOME
        refusal = self.quarantines.refusals.get(finding.root) if is_worth_it and self.keep_for_undo else None
        if is_worth_it and not self.journal.open() and not (refusal and self._is_only_home_full(finding.root)):
            return self._without_room(verdict, dir_fd)
        if refusal:
            receipt = Receipt(finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=refusal)
            self.stranded.append((verdict, receipt))
            return None
        return self._remove_in_place(verdict, dir_fd, is_for_room=True)

    def _is_only_home_full(self, root: str) -> bool:
        return labels.is_out_of_room(self.journal.state) and not space.has_no_room(root)

    def _without_room(self, verdict: Remove, dir_fd: int) -> Receipt | None:
        is_allowed = is_certain(verdict) if not self.keep_for_undo else may_go_for_good(verdict)
        self._room = self._room or WithoutRoom(self.journal, self.weigher.world, self.rescuer)
        if is_allowed and not self.only_into_quarantine and (receipt := self._room.take(verdict, dir_fd)):
            return receipt
        self._strand(verdict)
        return None

    def _strand(self, verdict: Remove) -> None:
        if not self.keep_for_undo and any(each.finding == verdict.finding for each, _ in self.stranded):
            return  # a second try
        is_doubted = doubt.frees_nothing(verdict)
        sentence = doubt.nowhere_to_wait(verdict) if is_doubted else no_room(verdict, self.journal.state)
        self.stranded.append((verdict, sentence))

    def _refused(self, deed: Deed, result: str | Receipt) -> Receipt | None:
        if result in (Taken.CROSS_DEVICE, Taken.NO_ROOM):
            return self._remove_in_place(deed.verdict, deed.dir_fd, is_for_room=result == Taken.NO_ROOM)
        return result if isinstance(result, Receipt) else refused(deed.verdict, result, deed.token)

    def _token(self, verdict: Remove) -> str:
        finding = verdict.finding
        if doubt.must_wait(verdict):
            return quarantine.kept()
        may_undo = self.keep_for_undo and not is_empty_directory(finding, verdict.evidence.measure)
        return quarantine.token(finding.litter.worth, quarantine=may_undo)

    def _member_may_go(self, verdict: Remove, dir_fd: int) -> MayGo:
        def may_go(finding: Finding, name: str, status: os.stat_result) -> bool:
            is_free = self.weigher.member_may_go(finding, name, status)
            return is_free and doubt.refusal(verdict, dir_fd, name) is None

        return may_go

    def _remove_in_place(self, verdict: Remove, dir_fd: int, *, is_for_room: bool) -> Receipt | None:
        """There will be no last look, so everybody is looked at now, and the unit is heard once more. None: what
        may not go without a person's word waits for the room that others make."""
        is_worth_it = is_for_room and self.keep_for_undo and verdict.finding.litter.worth is Worth.SOME
        if is_worth_it and not may_go_for_good(verdict):
            self._strand(verdict)
            return None
        if must_be_saved(verdict):
            return Receipt(verdict.finding, Outcome.KEPT, Reason.GIT_WORK, detail="it cannot be moved to be saved")
        if verdict.evidence.git_origins:
            detail = f"its commits lie in {verdict.evidence.git_origins[0]}, and it cannot wait in quarantine"
            return Receipt(verdict.finding, Outcome.KEPT, Reason.GIT_WORK, detail=detail)
        if self.only_into_quarantine:
            detail = "it cannot be moved into quarantine, so it could not be undone"
            return Receipt(verdict.finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=detail)
        _race_window("judged, to be removed in place")
        self.weigher.world.refresh()
        verdicts = sorted(self.weigher.again(verdict.finding, dir_fd), key=lambda part: isinstance(part, Keep))
        if not verdicts:
            return Receipt(verdict.finding, Outcome.VANISHED, verdict.reason)
        first = verdicts[0]
        if isinstance(first, Keep):
            return _kept(first)
        if first.doubt and doubt.may_only_wait(first.finding):
            return doubt.nowhere_to_wait(first)
        if not first.finding.members and (unclear := doubt.refusal(first, dir_fd, in_place=True)):
            return unclear
        may_go = self._member_may_go(first, dir_fd)
        receipt = remove_in_place(first, dir_fd, self.journal, may_go, doubt.users_by_kernel(first))
        return self._without_room(first, dir_fd) if receipt.reason is Reason.NO_JOURNAL else receipt

    def _record(self, receipt: Receipt) -> Receipt:
        return record(receipt, self.journal)

    def _purged(self, receipts: Iterator[Receipt]) -> Iterator[Receipt]:
        with self.journal.together():
            for receipt in receipts:
                self.journal.note("purged", id=receipt.id, freed=receipt.freed_bytes, failed=receipt.detail)
                yield receipt
        self.weigher.world.gave_up += self.purger.gave_up
        self.purger.gave_up.clear()


def _kept(verdict: Keep) -> Receipt:
    return Receipt(verdict.finding, Outcome.KEPT, verdict.reason, detail=verdict.detail)


def _unreachable(verdict: Remove, error: OSError) -> Receipt:
    if error.errno in _NO_WAY:
        return Receipt(verdict.finding, Outcome.VANISHED, verdict.reason)
    detail = f"its directory cannot be opened: {error.strerror}"
    return Receipt(verdict.finding, Outcome.FAILED, Reason.NOT_MEASURED, detail=detail)
