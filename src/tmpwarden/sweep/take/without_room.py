"""Destroy an item where neither a quarantine nor a line of journal fits: its own name is the journal.

It is renamed to the directory nearest to our state, or to one of ours on its own disk, by a name that carries its label
(sweep/store/labels): that takes neither a byte nor an inode. There it is looked at once more, like in any quarantine,
and goes back if it is not as it was judged. Then it is emptied and keeps its name; the receipt is written into the room
that came free; then the name goes.
A run that is killed anywhere leaves a name that tells the next run what to do.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ...lazy_dataclass import dataclass, field, replace
from ...model.sweep import Receipt, Remove
from ...model.terms import Outcome, OwnerState, Tier
from ...oskit.files import purge, take
from ...oskit.files.doomed import judged, resumed
from ...oskit.files.opening import closing
from ...oskit.files.take import Taken
from ...oskit.race import race_window as _race_window
from ...text import shown
from ..find import scan
from ..store import labels, quarantine
from ..store.journal import Journal
from ..weigh.evidence import World
from . import doubt
from .ending import Ending, Rescuer, must_be_saved
from .purger import Job
from .taking import Deed, GrippedUnit, grip, label_of, pin_for_good, refused, unwritten


def may_go_for_good(verdict: Remove) -> bool:
    """Without a person's word: only what provably nobody owns any more. Never git work, a birth, or a doubt."""
    is_left = verdict.evidence.owner.state in (OwnerState.DEAD, OwnerState.ABSENT)
    litter = verdict.finding.litter
    return is_left and litter.tier is Tier.AUTO and litter.id != scan.ID and is_certain(verdict)


def is_certain(verdict: Remove) -> bool:
    """What may be destroyed at all where it cannot wait in quarantine."""
    return not must_be_saved(verdict) and not doubt.must_wait(verdict)


@dataclass(slots=True)
class WithoutRoom:
    """What one run does before there is room. `finish` once there is."""

    journal: Journal
    world: World
    rescuer: Rescuer | None
    # (directory, name, (device, inode)), until that is told
    _emptied: list[tuple[str, str, tuple[int, int]]] = field(default_factory=list)

    def take(self, verdict: Remove, dir_fd: int) -> Receipt | None:
        """None where it cannot be moved without room either: nothing was changed."""
        finding, state = verdict.finding, self.journal.state
        if not labels.is_out_of_room(state):
            return None
        for directory in labels.places_for(state, finding.root, finding.path):
            with closing(labels.opened(directory)) as fd:
                if receipt := self._taken(verdict, Deed(verdict, dir_fd, fd, directory)):
                    return receipt
        return None

    def _taken(self, verdict: Remove, deed: Deed) -> Receipt | None:
        unit = grip(deed, os.urandom(8).hex() + quarantine.DOOMED, "")
        if not isinstance(unit, GrippedUnit):
            return unit if isinstance(unit, Receipt) else refused(verdict, unit)
        try:
            name = labels.name_with(label_of(unit, self.journal.run), deed.directory)
            if name is None:
                return None
            deed.label_name, first = name, quarantine.first_name(name)
            result = take.take(
                deed.dir_fd, verdict.finding.name, unit.pinned, quarantine_fd=deed.quarantine_fd, token=first
            )
        finally:
            unit.let_go()
        if result in (Taken.CROSS_DEVICE, Taken.NO_ROOM):
            return None
        if result != Taken.TAKEN:
            if result == Taken.STUCK:
                pin_for_good(deed, first)
            return refused(verdict, result, deed.token)
        deed.names[first] = verdict.finding.name
        _race_window("taken without room, holders not yet looked for")
        self.world.refresh()
        (end,) = Ending(self.world, self.journal, self.rescuer).of_all([deed])
        return self._destroyed(deed, end) if isinstance(end, Job) else end

    def _destroyed(self, deed: Deed, job: Job) -> Receipt:
        (name,) = deed.names
        try:
            with judged(deed.quarantine_fd, name, job.verdict, job.users, born_ns=job.born_ns) as doomed:
                purged = purge.empty(doomed)
        except OSError as error:
            detail = f"{error.strerror or error}; it is in {deed.directory}/{name}"
            return replace(job.receipt, outcome=Outcome.FAILED, detail=detail)
        self._emptied.append((deed.directory, name, (deed.verdict.finding.device, deed.verdict.finding.inode)))
        _race_window("emptied without room, not yet told")
        if self.journal.open():
            self.journal.note("purged", id=job.receipt.id, freed=purged.freed_bytes, failed=purged.trouble)
            self.finish()
        failed = f"{purged.trouble}; the rest is in {deed.directory}/{name}" if purged.failed else ""
        outcome = Outcome.FAILED if failed else job.receipt.outcome
        return replace(
            job.receipt, outcome=outcome, freed_bytes=purged.freed_bytes, entries=purged.entries, detail=failed
        )

    def finish(self) -> None:
        """What was emptied loses its name, now that the journal tells of it. Else the next run does this."""
        if not (self._emptied and self.journal.open()):
            return
        emptied, self._emptied = self._emptied, []
        for directory, name, identity in emptied:
            with suppress(OSError), closing(labels.opened(directory)) as fd:  # the next run tries again
                with resumed(fd, name, identity=(*identity, None)) as doomed:
                    purge.purge(doomed)


def no_room(verdict: Remove, state: str) -> Receipt:
    if not labels.is_out_of_room(state):
        return unwritten(verdict, f"the removal could not be recorded in {shown(state)}")
    return unwritten(verdict, f"no room in {shown(state)} to record the removal")
