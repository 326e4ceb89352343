"""Carry out Remove verdicts: the only step of a sweep that changes the world.

A batch is taken unit by unit; then one more look at all processes is made for the whole batch, at the new place, and
what somebody holds there goes back. Only then is anything purged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...lazy_dataclass import dataclass, field, replace
from ...model.sweep import Finding, Keep, Measure, Receipt, Remove, Verdict
from ...model.terms import Outcome, Reason, Worth
from ...oskit.files.take import Taken
from ...oskit.race import race_window as _race_window
from ...rescue.nouns import Refused, Rescued
from ..find import scan
from ..store import quarantine
from ..store.journal import Journal
from ..store.quarantine import Quarantines
from ..weigh.weigher import Weigher
from . import doubt, recheck
from .purger import Job, Purger
from .receipts import kept, receipt_of
from .rescuing import Rescuer, must_be_saved
from .taking import (
    Deed,
    MayGo,
    decide,
    given_back,
    is_empty_directory,
    refused,
    remove_in_place,
    take_members,
    take_unit,
    unwritten,
)


@dataclass(slots=True)
class Actor:
    """Takes units one by one; `last_look` ends a batch, `finish` waits for the last purge."""

    weigher: Weigher
    journal: Journal
    quarantines: Quarantines
    purger: Purger
    keep_for_undo: bool = True
    only_into_quarantine: bool = False  # undo was promised: what cannot be moved stays
    rescuer: Rescuer | None = None  # saves git work and files before a unit goes
    pending: list[Deed] = field(default_factory=list)

    def for_good(self) -> Actor:
        """One that keeps nothing for undo, in the same run."""
        return replace(self, keep_for_undo=False, pending=[])

    def take(self, verdict: Remove, *, is_fresh: bool = False) -> Iterator[Receipt]:
        """`is_fresh`: judged this very moment; else the unit is heard again before it is taken."""
        for outcome in self._begin(verdict, is_fresh):
            if isinstance(outcome, Deed):
                self.pending.append(outcome)
            else:
                yield self._told(outcome)

    def last_look(self) -> Iterator[Receipt]:
        """Look once more for users of anything in the batch, then finish or put back."""
        deeds, self.pending = self.pending, []
        if not deeds:
            return
        _race_window("taken, holders not yet looked for")
        jobs: list[Job] = []
        try:
            self.weigher.world.refresh()
            yield from self._finish(deeds, jobs)
        finally:
            for deed in deeds:
                os.close(deed.dir_fd)
        for receipt in self.purger.submit(jobs) if jobs else ():
            self._purged(receipt)
            yield receipt
        self.weigher.world.workers = self.purger.workers

    def finish(self) -> Iterator[Receipt]:
        yield from self.last_look()
        for receipt in self.purger.finish():
            self._purged(receipt)
            yield receipt

    def _begin(self, verdict: Remove, is_fresh: bool) -> Iterator[Deed | Receipt]:
        finding = verdict.finding
        try:
            dir_fd = scan.open_below(finding.root, finding.parent)
        except OSError:
            yield Receipt(finding, Outcome.VANISHED, verdict.reason)
            return
        try:
            self._remember_parent(dir_fd)
            heard = [verdict] if is_fresh else list(self._heard_again(verdict, dir_fd))
            if not heard:
                yield Receipt(finding, Outcome.VANISHED, verdict.reason)
            for part in heard:
                _race_window("walked, not yet taken")
                yield kept(part) if isinstance(part, Keep) else self._take(part, dir_fd)
        finally:
            os.close(dir_fd)

    def _heard_again(self, verdict: Remove, dir_fd: int) -> Iterator[Verdict]:
        """What is to be purged at once will be walked in quarantine: until then the walk of its judging must do."""
        known = None if self._token(verdict).endswith(quarantine.KEPT) else verdict.evidence.measure
        return self.weigher.again(verdict.finding, dir_fd, known)

    def _remember_parent(self, dir_fd: int) -> None:
        status = os.fstat(dir_fd)
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        self.weigher.world.untouched_ns.setdefault((status.st_dev, status.st_ino), newest)

    def _take(self, verdict: Remove, dir_fd: int) -> Deed | Receipt:
        finding = verdict.finding
        if not self.journal.open() and finding.litter.worth is Worth.SOME:
            return unwritten(verdict)
        if not finding.members and (unclear := doubt.refusal(verdict, dir_fd)):
            return unclear
        quarantine_fd = self.quarantines.open(finding.root)
        if quarantine_fd is None:
            squatted = self.quarantines.refusals.get(finding.root)
            if squatted and self.keep_for_undo and finding.litter.worth is Worth.SOME:
                return Receipt(finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=squatted)
            return self._remove_in_place(verdict, dir_fd)
        deed = Deed(verdict, os.dup(dir_fd), quarantine_fd, self.quarantines.directory(finding.root))
        if finding.members:
            result: str | Receipt = take_members(deed, self.journal, self._member_may_go(verdict, dir_fd))
        else:
            id_ = self._token(verdict)
            is_kept = id_.endswith(quarantine.KEPT)
            result = take_unit(deed, self.journal, id_, id_ if is_kept else quarantine.first_name(id_))
        if result == Taken.TAKEN:
            deed.roll = self.weigher.world.roll_of(finding.path)
            return deed
        os.close(deed.dir_fd)
        if result in (Taken.CROSS_DEVICE, Taken.NO_ROOM):
            return self._remove_in_place(verdict, dir_fd)
        return result if isinstance(result, Receipt) else refused(verdict, result, deed.token)

    def _token(self, verdict: Remove) -> str:
        finding = verdict.finding
        if verdict.doubt and doubt.may_only_wait(finding):
            return quarantine.kept()
        may_undo = self.keep_for_undo and not is_empty_directory(finding, verdict.evidence.measure)
        return quarantine.token(finding.litter.worth, quarantine=may_undo)

    def _member_may_go(self, verdict: Remove, dir_fd: int) -> MayGo:
        def may_go(finding: Finding, name: str, status: os.stat_result) -> bool:
            is_free = self.weigher.member_may_go(finding, name, status)
            return is_free and doubt.refusal(verdict, dir_fd, name) is None

        return may_go

    def _remove_in_place(self, verdict: Remove, dir_fd: int) -> Receipt:
        """There will be no last look, so everybody is looked at now, and the unit is heard once more."""
        if must_be_saved(verdict):
            return Receipt(verdict.finding, Outcome.KEPT, Reason.GIT_WORK, detail="it cannot be moved to be saved")
        if self.only_into_quarantine:
            detail = "it cannot be moved into quarantine, and nothing else can be undone"
            return Receipt(verdict.finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=detail)
        _race_window("judged, to be removed in place")
        self.weigher.world.refresh()
        heard = sorted(self.weigher.again(verdict.finding, dir_fd), key=lambda part: isinstance(part, Keep))
        if not heard:
            return Receipt(verdict.finding, Outcome.VANISHED, verdict.reason)
        first = heard[0]
        if isinstance(first, Keep):
            return kept(first)
        if first.doubt and doubt.may_only_wait(first.finding):
            return doubt.nowhere_to_wait(first)
        if not first.finding.members and (unclear := doubt.refusal(first, dir_fd)):
            return unclear
        return remove_in_place(first, dir_fd, self.journal, self._member_may_go(first, dir_fd))

    def _finish(self, deeds: list[Deed], jobs: list[Job]) -> Iterator[Receipt]:
        for deed in deeds:
            inside = self._walked_again(deed)
            for token in list(deed.names):
                if back := recheck.why_back(deed, token, self.weigher.world, inside):
                    yield self._told(given_back(deed, token, *back))
            if not deed.names:
                continue
            saved = self._saved(deed)
            if back := self._last_word(deed, saved):
                yield self._told(given_back(deed, next(iter(deed.names)), *back))
                continue
            receipt = self._told(receipt_of(deed))
            if isinstance(saved, Rescued):
                receipt = replace(receipt, rescued=saved.id)
            if receipt.outcome is Outcome.QUARANTINED:
                yield receipt
            else:
                jobs.append(Job(deed.directory, tuple(deed.names), receipt, inside, deed.roll))

    def _last_word(self, deed: Deed, saved: Rescued | Refused | None) -> tuple[Reason, str] | None:
        """None: it has the name now that says what becomes of it. Else why it has to go back."""
        if isinstance(saved, Refused):
            return Reason.GIT_WORK, saved.why
        token = next(iter(deed.names))
        trouble = decide(deed, token, deed.token) if token.endswith(quarantine.UNDECIDED) else None
        return (Reason.CHANGED, trouble) if trouble else None

    def _saved(self, deed: Deed) -> Rescued | Refused | None:
        """Git work that would be lost is saved now, or the unit goes back."""
        if self.rescuer is None:
            return Refused("nobody is there to save it") if must_be_saved(deed.verdict) else None
        saved = self.rescuer.saved(deed.verdict, deed.quarantine_fd, next(iter(deed.names)))
        if isinstance(saved, Rescued):
            self.journal.note("rescued", id=deed.token, path=deed.verdict.finding.path, rescue=saved.id)
        return saved

    def _walked_again(self, deed: Deed) -> Measure | None:
        """A unit that is to be purged at once is walked once more, where nobody finds it by its name any more."""
        if deed.verdict.finding.members or not next(iter(deed.names)).endswith(quarantine.UNDECIDED):
            return None
        _race_window("taken, not yet walked again")
        return recheck.measured_inside(self.weigher.world, deed.quarantine_fd, next(iter(deed.names)), deed.roll)

    def _told(self, receipt: Receipt) -> Receipt:
        if receipt.id or receipt.outcome is Outcome.FAILED:
            self.journal.record(receipt)
        return receipt

    def _purged(self, receipt: Receipt) -> None:
        self.journal.note("purged", id=receipt.id, freed=receipt.freed_bytes, failed=receipt.detail)
