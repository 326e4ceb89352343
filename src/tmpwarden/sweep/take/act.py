"""Carry out Remove verdicts: the only step of a sweep that changes the world.

A batch is taken unit by unit; then one more look at all processes is made for the whole batch, at the new place, and
what somebody holds there goes back. Only then is anything purged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...model.answers import Held, Nobody, NotMeasured
from ...model.sweep import Finding, Keep, Outcome, Reason, Receipt, Remove, Worth
from ...oskit.files import take
from ...oskit.files.take import Taken
from ...oskit.race import race_window as _race_window
from ...rescue.nouns import Refused, Rescued
from ..find import scan
from ..store import quarantine
from ..store.journal import Journal
from ..store.quarantine import Quarantines
from ..weigh.weigher import Weigher
from . import doubt
from .lastlook import users_of
from .purger import Job, Purger
from .rescuing import Rescuer, must_be_saved
from .taking import (
    Deed,
    MayGo,
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
    rescuer: Rescuer | None = None  # saves git work and files before a unit goes
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
            result = take_unit(deed, self.journal, self._token(verdict))
        if result == Taken.TAKEN:
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
            return _kept(first)
        if first.doubt and doubt.may_only_wait(first.finding):
            return doubt.nowhere_to_wait(first)
        if not first.finding.members and (unclear := doubt.refusal(first, dir_fd)):
            return unclear
        return remove_in_place(first, dir_fd, self.journal, self._member_may_go(first, dir_fd))

    def _settle(self, deeds: list[Deed], jobs: list[Job]) -> Iterator[Receipt]:
        for deed in deeds:
            for used in self._put_back_used(deed):
                yield self._told(used)
            if not deed.names:
                continue
            saved = self._saved(deed)
            if isinstance(saved, Refused):
                yield self._told(_put_back(deed, *next(iter(deed.names.items())), Reason.GIT_WORK, saved.why))
                continue
            receipt = replace(self._told(_receipt(deed)), rescued=saved.id if saved else "")
            if receipt.outcome is Outcome.QUARANTINED:
                yield receipt
            else:
                measured = None if receipt.finding.members else deed.verdict.evidence.measure
                jobs.append(Job(deed.directory, tuple(deed.names), receipt, measured))

    def _put_back_used(self, deed: Deed) -> Iterator[Receipt]:
        """What somebody began to use between the judging and the take goes back where it was."""
        for token, name in list(deed.names.items()):
            used = self._used(deed, token)
            if used is None:
                continue
            reason, detail = used
            del deed.names[token]
            finding = deed.verdict.finding
            if finding.members:
                finding = replace(finding, name=name, members=())
            yield replace(_put_back(deed, token, name, reason, detail), finding=finding)

    def _saved(self, deed: Deed) -> Rescued | Refused | None:
        """Git work that would be lost is saved now, or the unit goes back."""
        if self.rescuer is None:
            return Refused("nobody is there to save it") if must_be_saved(deed.verdict) else None
        token = next(iter(deed.names))
        saved = self.rescuer.saved(deed.verdict, deed.quarantine_fd, token)
        if isinstance(saved, Rescued):
            self.journal.note("rescued", id=token, path=deed.verdict.finding.path, rescue=saved.id)
        return saved

    def _used(self, deed: Deed, token: str) -> tuple[Reason, str] | None:
        world = self.weigher.world
        match users_of(deed.verdict, world, deed.quarantine_fd, deed.directory, token):
            case Held(by):
                return Reason(by[0].kind.value), by[0].detail
            case NotMeasured(why):
                return Reason.NOT_MEASURED, why
            case Nobody() if token.endswith(quarantine.DOOMED) and world.is_in_doubt:
                # somebody hides since it was judged: the next run puts it where it can come back from
                if doubt.may_only_wait(deed.verdict.finding):
                    return Reason.NOT_MEASURED, "somebody who cannot be looked at came meanwhile"
                return None
            case Nobody():
                return None

    def _told(self, receipt: Receipt) -> Receipt:
        if receipt.id or receipt.outcome is Outcome.FAILED:
            self.journal.record(receipt)
        return receipt

    def _purged(self, receipt: Receipt) -> None:
        self.journal.note("purged", id=receipt.id, freed=receipt.freed_bytes, failed=receipt.detail)


def _put_back(deed: Deed, token: str, name: str, reason: Reason, detail: str) -> Receipt:
    finding = deed.verdict.finding
    if take.put_back(deed.quarantine_fd, token, deed.dir_fd, name):
        return Receipt(finding, Outcome.KEPT, reason, id=token, detail=detail)
    detail = f"its name was taken meanwhile; it is safe at {pin_for_good(deed, token)}"
    return Receipt(finding, Outcome.FAILED, Reason.CHANGED, id=token, detail=detail)


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
