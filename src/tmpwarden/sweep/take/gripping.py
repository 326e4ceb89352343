"""Take units out of the shared directory into quarantine, several at a time: pins, then intents, then renames."""

from __future__ import annotations

import errno
import os
import time
from collections import deque
from collections.abc import Iterator

from ...lazy_dataclass import dataclass
from ...model.sweep import Finding, Receipt
from ...model.terms import Kind, Outcome, Reason, Worth
from ...oskit.files import opening, take
from ...oskit.files.dated import born_ns
from ...oskit.files.take import Taken
from ...oskit.proc import locks
from ...oskit.race import race_window as _race_window
from ..store import labels, quarantine
from ..store.journal import Intent, Journal
from .taking import NOT_THERE, Deed, intent_of, pin_for_good, unwritten


@dataclass(slots=True)
class GrippedUnit:
    """A unit that is about to be taken: held by a pin, a directory by its lock too."""

    deed: Deed
    token: str  # what it is to be called first in quarantine
    pinned: int
    lock_fd: int
    intent: Intent

    @property
    def is_last(self) -> bool:
        """Whether a next one would need descriptors that the walks of its judging need too."""
        return opening.are_few_after(max(self.pinned, self.lock_fd))

    def let_go(self) -> None:
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
        os.close(self.pinned)


def take_unit(deed: Deed, journal: Journal, id_: str, token: str) -> str | Receipt:
    """TAKEN, as `token`, with `deed.names` filled, or why not. `id_`: what journal and receipts call it."""
    gripped = grip(deed, id_, token)
    return next(take_all(deque([gripped]), journal))[1] if isinstance(gripped, GrippedUnit) else gripped


def grip(deed: Deed, id_: str, token: str) -> GrippedUnit | str | Receipt:
    """Hold the unit that was judged, and no other; else why not. Nothing is changed yet."""
    finding = deed.verdict.finding
    _race_window("judged, not yet pinned")
    try:
        pinned = take.pin(deed.dir_fd, finding.name)
    except OSError as error:
        return _not_held(finding, error)
    status = os.fstat(pinned)
    if (status.st_dev, status.st_ino) != (finding.device, finding.inode):
        os.close(pinned)
        return Taken.CHANGED
    _race_window("pinned, not yet locked")
    try:
        lock_fd = locks.flocked(pinned) if finding.kind is Kind.DIR else -1
    except OSError as error:
        os.close(pinned)
        return _not_held(finding, error)
    if finding.kind is Kind.DIR and lock_fd < 0:
        os.close(pinned)
        return Receipt(finding, Outcome.KEPT, Reason.LOCK, detail=finding.path)
    deed.token, deed.born_ns = id_, born_ns(deed.dir_fd, finding.name)
    return GrippedUnit(deed, token, pinned, lock_fd, intent_of(deed.verdict, id_, deed.directory, status))


def _not_held(finding: Finding, error: OSError) -> str | Receipt:
    """Only a name that is gone says that the unit is. Who locked a directory that lets nobody in is not measured."""
    if error.errno in NOT_THERE:
        return NOT_THERE[error.errno]
    if error.errno == errno.EACCES:
        detail = f"it cannot be opened to be locked: {error.strerror}"
        return Receipt(finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=detail)
    return Receipt(finding, Outcome.FAILED, Reason.NOT_MEASURED, detail=f"it cannot be opened: {error.strerror}")


def take_all(grips: deque[GrippedUnit], journal: Journal) -> Iterator[tuple[GrippedUnit, str | Receipt]]:
    """Every intent is written down before the first unit moves; then how each ended, one after the other."""
    try:
        _race_window("gripped, not yet written down")
        are_written = journal.intend_all([each.intent for each in grips])
        names_may_do = not all(are_written) and labels.is_out_of_room(journal.state)
        for number, (each, is_written) in enumerate(zip(grips, are_written, strict=True)):
            if each.intent.id.endswith(quarantine.KEPT) or (names_may_do and not is_written):
                each.deed.labels = labels.write(each.deed.quarantine_fd, label_of(each, journal.run))
            are_written[number] = is_written or (names_may_do and each.deed.labels != ())
        for is_written in are_written:
            result = _taken(grips[0], is_written)
            each = grips.popleft()
            each.let_go()
            yield each, result
    finally:
        for each in grips:
            each.let_go()


def _taken(grip: GrippedUnit, is_written: bool) -> str | Receipt:
    deed, token, finding = grip.deed, grip.token, grip.deed.verdict.finding
    if not is_written and finding.litter.worth is Worth.SOME:
        labels.remove(deed.quarantine_fd, deed.labels)
        return unwritten(deed.verdict)
    result = take.take(deed.dir_fd, finding.name, grip.pinned, quarantine_fd=deed.quarantine_fd, token=token)
    if result == Taken.TAKEN:
        deed.names[token] = finding.name
    elif result == Taken.STUCK:
        pin_for_good(deed, token)
    else:
        labels.remove(deed.quarantine_fd, deed.labels)
    return result


def label_of(grip: GrippedUnit, run: str) -> labels.Label:
    measure = grip.deed.verdict.evidence.measure
    return labels.Label(grip.intent, run, int(time.time()), measure.bytes if measure else 0)
