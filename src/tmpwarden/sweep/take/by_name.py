"""Take units by name, at once: teardown says that their session is over, so the rename comes first and the walk after.

The name's word replaces grace and freshness and nothing else. Holders are looked for before the rename and again after
it; everything else is judged inside the quarantine, in a process that the caller does not wait for, and what is odd
goes back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Evidence, Finding, Keep, Measure, Owner, Receipt, Remove, Witness
from ...model.terms import Outcome, OwnerState, Reason, Worth
from ...oskit.files import kernel_word, walk
from ...oskit.files.take import Taken
from ...oskit.race import race_window as _race_window
from ...repos.rescue.store import Rescued
from ..find import scan
from ..prepared import Prepared
from ..store import labels, quarantine
from ..store.journal import Journal
from ..store.quarantine import Quarantines
from ..weigh.evidence import has_shape, inspect_git, socket_users, with_claims
from .doubt import may_only_wait
from .ending import Rescuer
from .purger import carried_out, job_of
from .recheck import users_of
from .taking import Deed, decide, given_back, is_empty_directory, refused, take_unit


@dataclass(slots=True)
class NamedTake:
    """One teardown. `take` each finding, then `finish`."""

    prepared: Prepared
    journal: Journal
    quarantines: Quarantines
    deeds: list[Deed] = field(default_factory=list)
    stranded: list[Remove] = field(default_factory=list)  # neither a quarantine nor a line of journal could be made

    def take(self, finding: Finding, owner: Owner, claims: tuple[Witness, ...]) -> Receipt | None:
        """None when it is taken, waits for `make_room`, or is no litter; else the receipt that says why not."""
        users = with_claims(claims, self.prepared.weigher.world.users_in(finding.path, owner=owner))
        if refusal := _refusal(finding, owner, users):
            return refusal
        doubt = users.why if isinstance(users, NotMeasured) else ""
        verdict = Remove(finding, Evidence(owner, users, None), Reason.TORN_DOWN, doubt)
        quarantine_fd = self.quarantines.open(finding.root)
        if quarantine_fd is None or not self.journal.open():
            self.stranded.append(verdict)
            return None
        try:
            dir_fd = scan.open_below(finding.root, finding.parent)
        except OSError:
            return refused(verdict, Taken.VANISHED)
        shape = has_shape(finding, self.prepared.weigher.world, dir_fd)
        if not shape:  # it only has the name of litter, may be a person's, and is not even moved
            os.close(dir_fd)
            detail = "its shape could not be checked"
            return Receipt(finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=detail) if shape is None else None
        if refusal := _held_open(verdict, dir_fd):
            os.close(dir_fd)
            return refusal
        deed = Deed(verdict, dir_fd, quarantine_fd, self.quarantines.directory(finding.root))
        id_ = quarantine.kept()  # a doubt may come up later, and then it waits; undo finds it under this name
        result = take_unit(deed, self.journal, id_, quarantine.first_name(id_))
        if result == Taken.TAKEN:
            self.deeds.append(deed)
            return None
        os.close(dir_fd)
        if result in (Taken.CROSS_DEVICE, Taken.NO_ROOM):
            self.stranded.append(verdict)
            return None
        return result if isinstance(result, Receipt) else refused(verdict, result, deed.token)

    def make_room(self) -> Iterator[Receipt]:
        """Where nothing can be created the caller waits for the deed itself: judged first, single files before trees,
        in place until a quarantine can be created again."""
        if not self.stranded:
            return
        from ..prepared import makes_room
        from .act import Actor  # only here: a teardown with room starts without
        from .purger import Purger

        actor = Actor(
            self.prepared.weigher,
            self.journal,
            self.quarantines,
            Purger(),
            keep_for_undo=self.prepared.request.quarantine,
        )
        for verdict in sorted(self.stranded, key=makes_room):
            yield from actor.take(verdict)
            yield from actor.last_look()
        yield from actor.finish()
        yield from actor.remaining()

    def last_look(self) -> Iterator[Receipt]:
        """Who uses it at its new place: it goes back. The rest is taken."""
        _race_window("taken by name, holders not yet looked for")
        if self.deeds:
            self.prepared.weigher.world.refresh()
        deeds, self.deeds = self.deeds, []
        for deed in deeds:
            token = next(iter(deed.names))
            match self._users(deed, token):
                case Nobody() as nobody:
                    deed.users = nobody
                    self.deeds.append(deed)
                    yield self._taken(deed)
                case Held(by):
                    yield self._returned(deed, Reason(by[0].kind.value), by[0].detail)
                case NotMeasured(why):
                    yield self._returned(deed, Reason.NOT_MEASURED, why)

    def _users(self, deed: Deed, token: str) -> Users:
        """In doubt it waits in quarantine, also where the kernel cannot be asked: the caller says that nobody uses it,
        and from there it can come back."""
        world = self.prepared.weigher.world
        users = users_of(deed.verdict, world, deed.quarantine_fd, deed.directory, token)
        if not deed.verdict.doubt and world.is_in_doubt(f"{deed.directory}/{token}", owner=deed.verdict.evidence.owner):
            deed.verdict = replace(deed.verdict, doubt="a process that cannot be inspected started meanwhile")
        if isinstance(users, NotMeasured) and (users.askable or users.is_about_names):
            deed.only_waits = True
            return Nobody()
        return users

    @property
    def descriptors(self) -> list[int]:
        """What `finish` needs, wherever it runs."""
        return [fd for deed in self.deeds for fd in (deed.dir_fd, deed.quarantine_fd)]

    def finish(self) -> Iterator[Receipt]:
        """Judge inside the quarantine; what a law keeps goes back, what is worthless is purged. Slow: detach it."""
        for deed in self.deeds:
            verdict = self._judged_inside(deed)
            if isinstance(verdict, Keep):
                yield self._returned(deed, verdict.reason, verdict.detail)
            else:
                deed.only_waits |= bool(verdict.evidence.git_origins)
                self._save_files(deed, verdict)
                yield self._finished(deed, verdict.evidence.measure)
        self.journal.note("end")

    def _save_files(self, deed: Deed, verdict: Remove) -> None:
        """What a person may want, if the user wants that; the unit itself can be brought back for a day anyway."""
        token = next(iter(deed.names))
        saved = Rescuer(self.prepared.settings, self.prepared.now_ns).saved(verdict, deed.quarantine_fd, token)
        if isinstance(saved, Rescued):
            self.journal.note("rescued", id=deed.token, path=verdict.finding.path, rescue=saved.id)

    def _finished(self, deed: Deed, measure: Measure | None) -> Receipt:
        token = next(iter(deed.names))
        size, entries = (measure.bytes, measure.entries) if measure else (0, 1)
        receipt = replace(self._taken(deed), bytes=size, entries=entries)
        if is_empty_directory(deed.verdict.finding, measure) and not deed.verdict.doubt:
            receipt = replace(receipt, outcome=Outcome.REMOVED, undoable=False)
        decided = quarantine.renamed(token, quarantine.KEPT if receipt.undoable else quarantine.DOOMED)
        if trouble := decide(deed, token, decided):
            return self._returned(deed, Reason.CHANGED, trouble)
        _race_window("decided, not yet written down")
        self.journal.record(receipt)
        os.close(deed.dir_fd)
        if receipt.undoable:
            return receipt
        receipts = carried_out(job_of(deed, receipt, measure))
        self.journal.note("purged", id=receipt.id, freed=receipts.freed_bytes, failed=receipts.detail)
        labels.remove(deed.quarantine_fd, deed.labels)
        return receipts

    def _judged_inside(self, deed: Deed) -> Remove | Keep:
        finding, weigher = deed.verdict.finding, self.prepared.weigher
        token = next(iter(deed.names))
        measure = walk.measure(
            deed.quarantine_fd,
            token,
            uid=weigher.world.uid,
            count_atime=False,
            locked=weigher.world.seen_locks,
            is_marked=weigher.world.marks(finding),
            was_moved=walk.JUST_NOW,
        )
        users = Nobody() if deed.only_waits else deed.verdict.evidence.users  # a doubt that it can come back from
        evidence = replace(deed.verdict.evidence, users=users, measure=measure)
        if measure and self._was_written(deed, token, measure):
            return Keep(finding, evidence, Reason.CHANGED, "a file in it was written while it was being removed")
        if measure:
            match socket_users(measure, deed.quarantine_fd, token):
                case Held(by):
                    return Keep(finding, evidence, Reason.SOCKET, by[0].detail)
                case NotMeasured(why):
                    return Keep(finding, evidence, Reason.NOT_MEASURED, why)
                case Nobody():
                    pass
        if measure and measure.git:
            evidence = inspect_git(finding, evidence, deed.quarantine_fd, token)
        return weigher.judge(finding, evidence)

    def _was_written(self, deed: Deed, token: str, measure: Measure) -> bool:
        """The name's word replaces freshness up to the rename, which dates the root; what is younger came after it."""
        return measure.newest_ns > os.lstat(token, dir_fd=deed.quarantine_fd).st_ctime_ns

    def _taken(self, deed: Deed) -> Receipt:
        finding = deed.verdict.finding
        is_kept = self.prepared.request.quarantine and finding.litter.worth is Worth.SOME
        is_kept = is_kept or deed.only_waits or (bool(deed.verdict.doubt) and may_only_wait(finding))
        outcome = Outcome.QUARANTINED if is_kept else Outcome.REMOVED
        return Receipt(finding, outcome, Reason.TORN_DOWN, id=deed.token, undoable=is_kept)

    def _returned(self, deed: Deed, reason: Reason, detail: str) -> Receipt:
        receipt = given_back(deed, next(iter(deed.names)), reason, detail)
        self.journal.record(receipt)
        os.close(deed.dir_fd)
        return receipt


def _refusal(finding: Finding, owner: Owner, users: Users) -> Receipt | None:
    """What /proc and the records say against it."""
    match users:
        case Held(by):
            return Receipt(finding, Outcome.KEPT, Reason(by[0].kind.value), detail=by[0].detail)
        case Nobody() | NotMeasured() if owner.state is OwnerState.ALIVE:
            return Receipt(finding, Outcome.KEPT, Reason.OWNER_ALIVE, detail=owner.detail)
        case NotMeasured(why) as doubt if not (doubt.askable or doubt.is_about_names):
            return Receipt(finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=why)
        case Nobody() | NotMeasured():
            return None


def _held_open(verdict: Remove, dir_fd: int) -> Receipt | None:
    """What the kernel says against it, where somebody may be unseen."""
    if not verdict.doubt:
        return None
    match kernel_word.ask(dir_fd, verdict.finding.name):
        case Held(by):
            return Receipt(verdict.finding, Outcome.KEPT, Reason(by[0].kind.value), detail=by[0].detail)
        case Nobody() | NotMeasured():
            return None
