"""Take one unit, or the members of a swarm, out of the shared directory and into quarantine; or remove it in place."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections import deque
from collections.abc import Callable, Iterator

from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import NotMeasured, Users
from ...model.sweep import Finding, Measure, Receipt, Remove
from ...model.terms import Kind, Outcome, Reason, Worth
from ...oskit.files import inplace, opening, take
from ...oskit.files.atomic import NO_ROOM
from ...oskit.files.dated import born_ns
from ...oskit.files.doomed import Doomed, judged
from ...oskit.files.inplace import purge_in_place
from ...oskit.files.opening import closing
from ...oskit.files.purge import Purged, Unlinked, unlink_same
from ...oskit.files.roll import Roll
from ...oskit.files.take import Taken
from ...oskit.proc import locks
from ...oskit.race import race_window as _race_window
from ..store import labels, quarantine
from ..store.journal import Intent, Journal

MayGo = Callable[[Finding, str, os.stat_result], bool]  # one member of a swarm, looked at through its pin

_REFUSALS = {
    Taken.CHANGED: (Outcome.KEPT, Reason.CHANGED, "another file now has its name"),
    Taken.BUSY: (Outcome.KEPT, Reason.MOUNT, "it is a mount point"),
    Taken.VANISHED: (Outcome.VANISHED, Reason.CHANGED, ""),
    Taken.DENIED: (Outcome.FAILED, Reason.CHANGED, "permission denied"),
    Taken.NO_ROOM: (Outcome.FAILED, Reason.CHANGED, "the file system is too full even to rename it"),
    Taken.NOT_FULL: (Outcome.FAILED, Reason.CHANGED, "moving it failed with ENOSPC although there is space"),
    Taken.STUCK: (Outcome.FAILED, Reason.CHANGED, "could not be moved back; it is safe in quarantine"),
}


# of a name in a directory that is open: another kind of file is another file
NOT_THERE = {errno.ENOENT: Taken.VANISHED, errno.ENOTDIR: Taken.CHANGED, errno.ELOOP: Taken.CHANGED}
_TOO_MANY_LINKS = "it can only be removed in place, and has too many hard links for that: free some inodes first"


@dataclass(slots=True)
class Deed:
    """What lies in quarantine and waits for the last look."""

    verdict: Remove
    dir_fd: int  # the parent it came from
    quarantine_fd: int
    directory: str
    names: dict[str, str] = field(default_factory=dict)  # token in quarantine -> name it had
    member_bytes: int = 0
    token: str = ""  # what journal and receipts call it: the name it is to have in the end
    roll: Roll | None = None  # the names that its judging saw
    unheld: dict[str, str] = field(default_factory=dict)  # members that could not be taken, and why
    crowded: list[str] = field(default_factory=list)  # members for which the quarantine has no room now
    only_waits: bool = False  # nobody could tell who uses it, so that it may have to come back
    born_ns: int | None = None  # its birth, when it was taken
    users: Users = NotMeasured("not checked since it was taken")  # who uses it, by the last look
    labels: tuple[str, ...] = ()  # empty files beside it in quarantine, whose names say what it is
    label_name: str = ""  # where it carries its label itself: the name that it is to have in the end

    @property
    def entries(self) -> int:
        return self.verdict.evidence.measure.entries if self.verdict.evidence.measure else 1

    @property
    def is_doomed(self) -> bool:
        return self.token.endswith(quarantine.DOOMED)


def take_members(deed: Deed, journal: Journal, may_go: MayGo) -> str | Receipt:
    """Each member through its own pin. A swarm is worthless, so one intent stands for all of it."""
    finding = deed.verdict.finding
    token, result = quarantine.token(Worth.NONE, quarantine=False), Taken.VANISHED
    deed.token = token
    journal.intend(intent_of(deed.verdict, token, deed.directory, os.fstat(deed.dir_fd)))
    for name in finding.members:
        try:
            pinned = take.pin(deed.dir_fd, name)
        except OSError as error:
            if error.errno not in NOT_THERE:
                deed.unheld[name] = _unopened(error)
            continue
        with closing(pinned):
            status = os.fstat(pinned)
            if not may_go(finding, name, status):
                continue
            result = take.take(deed.dir_fd, name, pinned, quarantine_fd=deed.quarantine_fd, token=token)
        if result == Taken.TAKEN:
            deed.names[token] = name
            deed.member_bytes += status.st_blocks * 512
            token = quarantine.token(Worth.NONE, quarantine=False)
        elif result == Taken.CROSS_DEVICE:
            break
        elif result == Taken.NO_ROOM:
            deed.crowded.append(name)
        elif _REFUSALS[result][0] is Outcome.FAILED:
            deed.unheld[name] = _REFUSALS[result][2]
        if result == Taken.STUCK:
            pin_for_good(deed, token)  # somebody's file: no other may come in its place, and no purge may find it
            token = quarantine.token(Worth.NONE, quarantine=False)
    if deed.names:
        return Taken.TAKEN
    return unheld(deed) if deed.unheld and result not in (Taken.CROSS_DEVICE, Taken.NO_ROOM) else result


def unheld(deed: Deed) -> Receipt:
    """Of the members that could not be taken."""
    finding = replace(deed.verdict.finding, members=tuple(deed.unheld))
    return Receipt(finding, Outcome.FAILED, Reason.NOT_MEASURED, detail=next(iter(deed.unheld.values())))


def remove_in_place(verdict: Remove, dir_fd: int, journal: Journal, may_go: MayGo, users: Users) -> Receipt:
    """Where nothing can be renamed away: each name is compared with its pin right before its unlink. `users`: who uses
    it, by the look that was made for this."""
    finding = verdict.finding
    token = os.urandom(8).hex()
    intent = intent_of(verdict, token, "", os.fstat(dir_fd))
    if not finding.members:
        born = born_ns(dir_fd, finding.name) or 0
        intent = replace(intent, device=finding.device, inode=finding.inode, born_ns=born)
    if (links := _links_inside(verdict, dir_fd)) is None:
        return Receipt(finding, Outcome.FAILED, Reason.NO_QUARANTINE, detail=_TOO_MANY_LINKS)
    is_written = journal.intend(replace(intent, links=links))
    if not is_written and (links or finding.litter.worth is Worth.SOME):
        return unwritten(verdict)
    freed = entries = 0
    failed = ""
    for name in finding.members or (finding.name,):
        try:
            pinned = take.pin(dir_fd, name)
        except OSError as error:
            failed = failed if error.errno in NOT_THERE else _unopened(error)
            continue
        with closing(pinned):
            status = os.fstat(pinned)
            if finding.members and not may_go(finding, name, status):
                continue
            try:
                with judged(dir_fd, name, verdict, users) as doomed:
                    if not doomed.is_same(status):
                        return refused(verdict, Taken.CHANGED, token)
                    purged = _gone_in_place(verdict, doomed, status)
            except OSError as error:
                if error.errno == errno.ESTALE:
                    return refused(verdict, Taken.CHANGED, token)
                failed = failed if error.errno in NOT_THERE else _unopened(error)
                continue
        freed += purged.freed_bytes
        entries += purged.entries
        if purged.failed:
            failed = ": ".join(purged.failed[0])
    outcome = Outcome.FAILED if failed else Outcome.REMOVED if entries else Outcome.VANISHED
    return Receipt(
        finding, outcome, verdict.reason, id=token, bytes=freed, entries=entries, freed_bytes=freed, detail=failed
    )


def _unopened(error: OSError) -> str:
    return f"it cannot be opened: {error.strerror}"


def _links_inside(verdict: Remove, dir_fd: int) -> str | None:
    """What the next run must know if this one is cut short; None: it cannot be written down, and half might stay."""
    finding, measure = verdict.finding, verdict.evidence.measure
    if finding.kind is not Kind.DIR or measure is None or measure.linked < 2:
        return ""
    try:
        return inplace.marks_in(dir_fd, finding.name)
    except OSError:
        return None


def _gone_in_place(verdict: Remove, doomed: Doomed, status: os.stat_result) -> Purged:
    if not stat.S_ISDIR(status.st_mode):
        size = status.st_blocks * 512 if status.st_nlink == 1 else 0
        ending = unlink_same(doomed)
        if ending == Unlinked.REMOVED:
            return Purged(size, 1, (), 0)
        return Purged(0, 0, ((doomed.name, ending),) if ending == Unlinked.DENIED else (), 0)
    measure = verdict.evidence.measure
    assert measure is not None  # what was not measured is never judged for removal
    return purge_in_place(doomed, newest_ns=measure.newest_ns)


def given_back(deed: Deed, token: str, reason: Reason, detail: str) -> Receipt:
    """Put a unit, or one member of a swarm, back where it was, never over a successor."""
    finding, name = deed.verdict.finding, deed.names.pop(token)
    id_ = token if finding.members else deed.token
    if finding.members:
        finding = replace(finding, name=name, members=())
    if take.put_back(deed.quarantine_fd, token, deed.dir_fd, name):
        labels.remove(deed.quarantine_fd, deed.labels)
        return Receipt(finding, Outcome.KEPT, reason, id=id_, detail=detail)
    detail = f"{detail}; it could not be moved back, and is safe at {pin_for_good(deed, token)}"
    return Receipt(finding, Outcome.FAILED, Reason.CHANGED, id=id_, detail=detail)


def decide(deed: Deed, token: str, name: str) -> str | None:
    """The last word: the entry gets the name that says what becomes of it. What went wrong, if anything."""
    try:
        take.rename_within(deed.quarantine_fd, token, name)
    except OSError as error:
        if deed.label_name and error.errno in NO_ROOM and labels.mark_doomed(deed.quarantine_fd, token):
            return None
        return error.strerror or str(error)
    deed.names[name] = deed.names.pop(token)
    return None


def pin_for_good(deed: Deed, token: str) -> str:
    """What can neither stay nor go back keeps a name that never expires."""
    name = quarantine.renamed(token, quarantine.PINNED)
    try:
        take.rename_within(deed.quarantine_fd, token, name)
    except OSError:
        name = token  # an undecided one never expires either
    return f"{deed.directory}/{name}"


def refused(verdict: Remove, result: str, token: str = "") -> Receipt:
    outcome, reason, detail = _REFUSALS[result]
    return Receipt(verdict.finding, outcome, reason, id=token, detail=detail)


def is_empty_directory(finding: Finding, measure: Measure | None) -> bool:
    """There is nothing in it to bring back."""
    return finding.kind is Kind.DIR and measure is not None and measure.entries == 1


def unwritten(verdict: Remove, why: str = "the journal cannot be written") -> Receipt:
    return Receipt(verdict.finding, Outcome.FAILED, Reason.NO_JOURNAL, detail=why)


def intent_of(verdict: Remove, token: str, directory: str, status: os.stat_result) -> Intent:
    finding = verdict.finding
    return Intent(
        id=token,
        path=finding.path,
        root=finding.root,
        row=finding.litter.key,
        quarantine=directory,
        worth=finding.litter.worth.value,
        mode=status.st_mode & 0o7777,
        device=status.st_dev,
        inode=status.st_ino,
        count=len(finding.members) or 1,
        newest_ns=verdict.evidence.measure.newest_ns if verdict.evidence.measure else 0,
        entries=verdict.evidence.measure.entries if verdict.evidence.measure else 0,
    )


# Take units out of the shared directory into quarantine, several at a time: pins, then intents, then renames.


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
    unit = grip(deed, id_, token)
    return next(take_all(deque([unit]), journal))[1] if isinstance(unit, GrippedUnit) else unit


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
