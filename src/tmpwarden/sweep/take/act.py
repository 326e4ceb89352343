"""Carry out Remove verdicts: the only step of a sweep that changes the world.

A batch is taken unit by unit; then one more look at all processes is made for the whole batch, at the new place, and
what somebody holds there goes back. Only then is anything purged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...model.sweep import Keep, Outcome, Reason, Receipt, Remove, Worth
from ...oskit.files import take
from ...oskit.files.take import Taken
from ...oskit.race import race_window as _race_window
from ..find import scan
from ..store import quarantine
from ..store.journal import Journal
from ..store.quarantine import Quarantines
from ..weigh.weigher import Weigher
from .lastlook import user_of
from .purger import Job, Purger
from .taking import (
    Deed,
    is_empty_directory,
    pin_for_good,
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
    pending: list[Deed] = field(default_factory=list)

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
            yield from self._settle(deeds, jobs)
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
            heard = [verdict] if is_fresh else list(self.weigher.again(finding, dir_fd))
            if not heard:
                yield Receipt(finding, Outcome.VANISHED, verdict.reason)
            for part in heard:
                yield _kept(part) if isinstance(part, Keep) else self._take(part, dir_fd)
        finally:
            os.close(dir_fd)

    def _remember_parent(self, dir_fd: int) -> None:
        status = os.fstat(dir_fd)
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        self.weigher.world.untouched_ns.setdefault((status.st_dev, status.st_ino), newest)

    def _take(self, verdict: Remove, dir_fd: int) -> Deed | Receipt:
        finding = verdict.finding
        if not self.journal.open() and finding.litter.worth is Worth.SOME:
            return unwritten(verdict)
        quarantine_fd = self.quarantines.open(finding.root)
        if quarantine_fd is None:
            squatted = self.quarantines.refusals.get(finding.root)
            if squatted and self.keep_for_undo and finding.litter.worth is Worth.SOME:
                return Receipt(finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=squatted)
            return self._remove_in_place(verdict, dir_fd)
        deed = Deed(verdict, os.dup(dir_fd), quarantine_fd, self.quarantines.directory(finding.root))
        if finding.members:
            result: str | Receipt = take_members(deed, self.journal, self.weigher.member_may_go)
        else:
            may_undo = self.keep_for_undo and not is_empty_directory(finding, verdict.evidence.measure)
            result = take_unit(deed, self.journal, quarantine.token(finding.litter.worth, quarantine=may_undo))
        if result == Taken.TAKEN:
            return deed
        os.close(deed.dir_fd)
        if result in (Taken.CROSS_DEVICE, Taken.NO_ROOM):
            return self._remove_in_place(verdict, dir_fd)
        return result if isinstance(result, Receipt) else refused(verdict, result, deed.token)

    def _remove_in_place(self, verdict: Remove, dir_fd: int) -> Receipt:
        """There will be no last look, so everybody is looked at now, and the unit is heard once more."""
        if self.only_into_quarantine:
            detail = "it cannot be moved into quarantine, and nothing else can be undone"
            return Receipt(verdict.finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=detail)
        _race_window("judged, to be removed in place")
        self.weigher.world.refresh()
        heard = sorted(self.weigher.again(verdict.finding, dir_fd), key=lambda part: isinstance(part, Keep))
        if not heard:
            return Receipt(verdict.finding, Outcome.VANISHED, verdict.reason)
        if isinstance(heard[0], Keep):
            return _kept(heard[0])
        return remove_in_place(heard[0], dir_fd, self.journal, self.weigher.member_may_go)

    def _settle(self, deeds: list[Deed], jobs: list[Job]) -> Iterator[Receipt]:
        for deed in deeds:
            for used in self._put_back_used(deed):
                yield self._told(used)
            if not deed.names:
                continue
            receipt = self._told(_receipt(deed))
            if receipt.outcome is Outcome.QUARANTINED:
                yield receipt
            else:
                measured = None if receipt.finding.members else deed.verdict.evidence.measure
                jobs.append(Job(deed.directory, tuple(deed.names), receipt, measured))

    def _put_back_used(self, deed: Deed) -> Iterator[Receipt]:
        """What somebody began to use between the judging and the take goes back where it was."""
        for token, name in list(deed.names.items()):
            user = user_of(deed.verdict, self.weigher.world, deed.quarantine_fd, deed.directory, token)
            if user is None:
                continue
            del deed.names[token]
            finding = deed.verdict.finding
            if finding.members:
                finding = replace(finding, name=name, members=())
            if take.put_back(deed.quarantine_fd, token, deed.dir_fd, name):
                yield Receipt(finding, Outcome.KEPT, Reason(user.kind.value), id=token, detail=user.detail)
            else:
                detail = f"in use, and its name was taken meanwhile; it is safe at {pin_for_good(deed, token)}"
                yield Receipt(finding, Outcome.FAILED, Reason.CHANGED, id=token, detail=detail)

    def _told(self, receipt: Receipt) -> Receipt:
        if receipt.id or receipt.outcome is Outcome.FAILED:
            self.journal.record(receipt)
        return receipt

    def _purged(self, receipt: Receipt) -> None:
        self.journal.note("purged", id=receipt.id, freed=receipt.freed_bytes, failed=receipt.detail)


def _kept(verdict: Keep) -> Receipt:
    return Receipt(verdict.finding, Outcome.KEPT, verdict.reason, detail=verdict.detail)


def _receipt(deed: Deed) -> Receipt:
    finding, measure = deed.verdict.finding, deed.verdict.evidence.measure
    size, entries = (measure.bytes, measure.entries) if measure else (0, 1)
    if finding.members:
        finding = replace(finding, members=tuple(deed.names.values()))
        size, entries = deed.member_bytes, len(deed.names)
    token = next(iter(deed.names))
    is_kept = token.endswith(quarantine.KEPT)
    outcome = Outcome.QUARANTINED if is_kept else Outcome.REMOVED
    receipt = Receipt(finding, outcome, deed.verdict.reason, id=token, bytes=size, entries=entries, undoable=is_kept)
    return replace(receipt, git_entries=deed.verdict.evidence.git_entries)
