"""One run of clean: settle, let quarantine expire, plan or stream, act in batches, tell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from ..lazy_dataclass import dataclass, field, replace
from ..model.sweep import Receipt, Remove, Verdict
from ..model.terms import Outcome, Reason, Tier, Worth
from ..oskit.files.purge import Purged
from .explain import left_to_know
from .find import scan
from .prepared import UNWRITTEN, CleanResult, Plan, Prepared, make_plan, makes_room
from .store import books, labels, settle
from .store.expiry import (
    Back,
    GivingUp,
    complaints,
    ending_of,
    expire,
    expired_rescues,
    instead,
    promised_a_day,
    purge_all,
    quarantined_entries,
    unused,
)
from .store.journal import Journal
from .store.quarantine import Quarantines
from .take import doubt
from .take.act import GROUP, Actor
from .take.ending import Rescuer
from .take.purger import Purger
from .take.without_room import may_go_for_good
from .weigh import consent

Confirm = Callable[[Plan], bool]
OnReceipt = Callable[[Receipt], None]
ShouldStop = Callable[[], bool]  # asked between two units
_WAITING = frozenset(("empty-dir", "expired"))  # checks that another unit's end can turn
_BATCH_UNITS, _BATCH_ENTRIES = 4096, 65_536  # then one look at all processes


@dataclass(slots=True)
class Cleaning:
    """The state of one run. Everything it learns ends in `result`."""

    prepared: Prepared
    on_receipt: OnReceipt | None = None
    should_stop: ShouldStop | None = None
    result: CleanResult = field(default_factory=CleanResult)
    _deadline: float | None = None
    _share: consent.Share | None = None  # an unattended run's
    _keeps_all: bool = False  # a person wants to be able to undo this, whatever room that takes
    _unchecked: dict[str, doubt.Unchecked] = field(default_factory=dict)  # by temp root
    _kept_by_origin: set[str] = field(default_factory=set)  # taken by this run because a local origin holds it
    _has_ended: bool = False  # nothing that was begun was left in the middle

    def clean(self, confirm: Confirm | None) -> CleanResult:
        request, weigher = self.prepared.request, self.prepared.weigher
        if request.time_limit_s is not None:
            self._deadline = time.monotonic() + request.time_limit_s
        journal = Journal(self.prepared.state)
        quarantines = Quarantines(self.prepared.state, self.prepared.home_roots)
        rescuer = Rescuer(self.prepared.settings, self.prepared.now_ns)
        actor = Actor(weigher, journal, quarantines, Purger(), request.quarantine, rescuer=rescuer, group=GROUP)
        giving_up = GivingUp(journal, weigher.world, self.prepared.kept_paths)
        weigher.world.keeps_rolls = confirm is None and not request.quarantine
        journal.open()
        try:
            self.result.warnings += settle.settle(journal, self.prepared)
            self.result.warnings += (*complaints(self.prepared), *expired_rescues(self.prepared))
            self.result.expired += expire(self.prepared, giving_up)
            self._sweep(actor, confirm)
            if request.empty_quarantine and self.result.confirmed:
                self._collect(actor.finish())
                self.result.expired += purge_all(self.prepared, giving_up, self._kept_by_origin)
            self._take_all(actor, self._made_free(), is_fresh=True)
            self._try_again(actor)
            self._relieve(actor, giving_up)
            if self._try_again(actor):
                self._relieve(actor, giving_up)
            self._has_ended = True
        except KeyboardInterrupt:
            self.result.stopped = "interrupted"
        finally:
            self._collect(actor.finish())
            self._collect(actor.remaining())
            self.result.warnings += giving_up.sentences()
            self._close(journal, quarantines)
        return self.result

    def _sweep(self, actor: Actor, confirm: Confirm | None) -> None:
        if confirm is None:
            self._consent()
            self._take_unasked(actor, self.prepared.new_share())
            return
        plan = make_plan(self.prepared)
        self.prepared.finder.stranger = None  # what comes later is looked at a second time
        plan.frees_nothing = self._frees_nothing(plan)
        self.result.kept += plan.kept
        if plan.removals and not confirm(plan):
            self.result.confirmed = False
            self.result.planned = plan.removals
            return
        self._consent()
        actor.keep_for_undo = actor.keep_for_undo and not plan.is_for_good
        self._keeps_all = plan.frees_nothing and not plan.is_for_good
        self.prepared.weigher.world.refresh()
        ordinary = [v for v in (*plan.kept, *plan.removals) if not self._is_held_back(v, None)]
        removals = [v for v in ordinary if isinstance(v, Remove)]
        self._take_all(actor, iter(self._easiest_first(removals, actor)), is_fresh=False)

    def _consent(self) -> None:
        """A person let a clean run. A word about certain things is none about all that is older than us."""
        request = self.prepared.request
        if not (request.unattended or request.words or request.only_paths):
            consent.give(self.prepared.state)

    def _take_unasked(self, actor: Actor, share: consent.Share | None) -> None:
        """As it is judged; where nothing can be written, what makes room goes first. Guesses come last."""
        self._share = share
        if self._has_room(actor):
            self._take_all(actor, self._secrets(), is_fresh=True)
            self._collect(actor.finish())
            self._take_all(actor, self._streamed(share), is_fresh=self.prepared.request.quarantine)
        else:
            verdicts = list(self._streamed(share))
            self.prepared.weigher.world.refresh()
            self._take_all(actor, self._easiest_first(verdicts, actor), is_fresh=False)
        for guesses in share.by_root() if share else ():
            self._take_guesses(actor, guesses)

    def _take_guesses(self, actor: Actor, guesses: list[Remove]) -> None:
        """The oldest by itself: only when one has really gone is the rest held to what is left of the share."""
        assert self._share is not None
        remaining = iter(guesses)
        for first in remaining:
            if self._takes(actor, first):
                break
        self._take_all(actor, self._removals(map(self._share.admitted, remaining)), is_fresh=False)

    def _takes(self, actor: Actor, verdict: Remove) -> bool:
        """Whether it really went. What stayed uses up nothing of an unattended run's share."""
        share, seen = self._share, len(self.result.removed)
        admitted = share.admitted(verdict) if share else verdict
        self._take_all(actor, self._removals((admitted,)), is_fresh=False)
        self._collect(actor.finish())
        went = len(self.result.removed) > seen
        if share is not None and isinstance(admitted, Remove) and not went:
            share.give_back(verdict)
        return went

    def _try_again(self, actor: Actor) -> bool:
        """What stayed for want of room is taken in the same run, once something else has made some."""
        self._collect(actor.finish())
        roots = {verdict.finding.root for verdict, _ in actor.stranded}
        if not roots or not (actor.journal.open() or any(actor.quarantines.open(root) is not None for root in roots)):
            return False
        stranded = sorted((verdict for verdict, _ in actor.stranded), key=makes_room)
        actor.stranded.clear()
        self._take_all(actor, stranded, is_fresh=False)
        self._collect(actor.finish())
        return True

    def _has_room(self, actor: Actor) -> bool:
        """The journal and every quarantine can be written."""
        return actor.journal.open() and all(actor.quarantines.open(root) is not None for root in self.prepared.roots)

    def _easiest_first(self, removals: list[Remove], actor: Actor) -> Iterable[Remove]:
        """Secrets first. With no room at all, single worthless files make it, and then trees can be moved again."""
        if self._has_room(actor):
            return sorted(removals, key=lambda v: v.finding.litter.worth is not Worth.SECRET)
        return sorted(removals, key=makes_room)

    def _take_all(self, actor: Actor, removals: Iterable[Remove], *, is_fresh: bool) -> None:
        """Take one after the other; a batch ends when it is big enough to be worth another look at all processes."""
        entries = 0
        for removal in removals:
            if stopped := self._why_stop():
                self.result.stopped = stopped
                self.result.planned.append(removal)
                if is_fresh:
                    break  # the rest was not even looked at
                continue
            self._collect(actor.take(removal, is_fresh=is_fresh))
            self.result.doubt = self.result.doubt or removal.doubt
            self._note_doubt(removal)
            entries += removal.evidence.measure.entries if removal.evidence.measure else 1
            if actor.count >= _BATCH_UNITS or entries >= _BATCH_ENTRIES:
                self._collect(actor.last_look())
                entries = 0
        self._collect(actor.last_look())

    def _note_doubt(self, removal: Remove) -> None:
        root = removal.finding.root
        if root in self.prepared.pressure.roots and doubt.frees_nothing(removal):
            self._unchecked.setdefault(root, doubt.Unchecked()).add(removal)

    def _secrets(self) -> Iterator[Remove]:
        """What holds credentials goes before anything else is looked at: a big tree may take the run's whole time."""
        if self.prepared.named:
            return
        finder, only = self.prepared.finder, self.prepared.request.only_paths
        wanted = finder.wanted
        finder = replace(
            finder,
            wanted=lambda litter: litter.worth is Worth.SECRET and wanted(litter),
            unreadable=[],
            frozen=[],
            stranger=None,
            unknown=None,
        )
        for finding in finder.find():
            if not only or finding.path in only:
                verdicts = self.prepared.hear(finding)
                yield from (v for v in verdicts if isinstance(v, Remove) and v.reason is not Reason.PRESSURE)

    def _streamed(self, share: consent.Share | None) -> Iterator[Remove]:
        """Removals as they are judged; the guesses of an unattended run wait until all that it found is known."""
        # what goes for good is walked again before anything of it does, so that two may walk now
        for verdict in self.prepared.verdicts() if self.prepared.request.quarantine else self.prepared.surveyed():
            if stopped := self._why_stop():
                self.result.stopped = stopped
                return
            if self._is_held_back(verdict, share):
                continue
            yield from self._removals((verdict,))

    def _is_held_back(self, verdict: Verdict, share: consent.Share | None) -> bool:
        if self.prepared.pressure.holds_back(verdict, verdict.reason is Reason.PRESSURE):
            if share is not None:
                share.count(verdict)
            return True
        return share is not None and share.holds_back(verdict)

    def _relieve(self, actor: Actor, giving_up: GivingUp) -> None:
        """Quarantine first, then what only the pressure asks for, oldest first, for good, until it is enough."""
        pressure = self.prepared.pressure
        self._collect(actor.finish())
        for root in sorted(pressure.roots):
            if self.result.stopped or not self.result.confirmed:
                return
            pressure.held_bytes -= 0 if pressure.budget_bytes is None else self.result.removed_bytes(root)
            kept_tokens = self._kept_tokens()
            stored = tuple(e for e in unused(self.prepared, quarantined_entries(root)) if e.name not in kept_tokens)
            if not self._is_budget and self.prepared.settings.unread_limits:
                stored = ()  # nobody knows for how long the user wants to be able to undo
            elif not self._is_budget:
                promised = promised_a_day(self.prepared.state, stored)
                stored = tuple(entry for entry in stored if entry.name not in promised)
            giving_up.learn(entry.name for entry in stored)
            for entry in stored:
                if pressure.is_relieved(root):
                    break
                if purged := giving_up.one(entry):
                    self._given_up(entry.name, purged)
            for_good = actor.for_good()
            for verdict in (*self._unquarantined(actor, root), *pressure.oldest_first(root)):
                if pressure.is_relieved(root) or self._why_stop():
                    break
                before = self.result.freed_bytes
                if self._takes(for_good, verdict):
                    actor.stranded[:] = [each for each in actor.stranded if each[0] is not verdict]
                pressure.held_bytes -= self.result.freed_bytes - before
            if complaint := pressure.complaint(root):
                unchecked = self._unchecked.get(root)
                self.result.warnings.append(f"{complaint}. {unchecked.sentence()}" if unchecked else complaint)

    def _frees_nothing(self, plan: Plan) -> bool:
        pressure = self.prepared.pressure
        is_for_undo = self.prepared.request.quarantine and not self._is_budget
        units = (verdict.finding for verdict in plan.removals if not doubt.frees_nothing(verdict))
        return is_for_undo and any(each.litter.worth is Worth.SOME and each.root in pressure.roots for each in units)

    @property
    def _is_budget(self) -> bool:
        """Pressure that a person asked for."""
        request = self.prepared.request
        return request.budget_bytes is not None or request.budget_percent is not None

    def _kept_tokens(self) -> frozenset[str]:
        """What this run has put into quarantine and no pressure takes out of it again: only what provably nobody owns
        any more goes without a person's word."""
        if self._is_budget:
            return frozenset()
        mine = self.result.receipts.where(Outcome.QUARANTINED)
        return frozenset(receipt.id for receipt in mine if self._keeps_all or not _is_left(receipt))

    def _unquarantined(self, actor: Actor, root: str) -> list[Remove]:
        """What the dead left and no quarantine could be made for, oldest first. Short of room it goes without one."""
        here = [verdict for verdict, _ in actor.stranded if verdict.finding.root == root]
        return sorted(filter(may_go_for_good, here), key=makes_room)

    def _given_up(self, token: str, outcome: Purged | Back) -> None:
        """What this very run put aside, and then had to give up, must not be told as if undo had it."""
        is_recorded = self.result.receipts.change(token, ending_of(outcome), lambda receipt: instead(receipt, outcome))
        if isinstance(outcome, Purged) and not is_recorded:
            self.result.expired.append(outcome)

    def _removals(self, verdicts: Iterable[Verdict]) -> Iterator[Remove]:
        for verdict in verdicts:
            if isinstance(verdict, Remove):
                yield verdict
            else:
                self.result.kept.append(verdict)

    def _made_free(self) -> Iterator[Remove]:
        """What a row calls litter once something else is gone, as this run has made it: directories that it emptied,
        and files for a caller whose time counts from the end of the session that this run took."""
        touched = self.prepared.weigher.world.untouched_ns
        if not touched or self.result.stopped:
            return
        finder = replace(self.prepared.finder, wanted=lambda litter: not _WAITING.isdisjoint(litter.checks))
        for finding in finder.find():
            if "expired" in finding.litter.checks or (finding.device, finding.inode) in touched:
                yield from (v for v in self.prepared.hear(finding) if isinstance(v, Remove))

    def _collect(self, receipts: Iterable[Receipt]) -> None:
        for receipt in receipts:
            self.result.receipts.append(receipt)
            if receipt.git_origins:
                self._kept_by_origin.add(receipt.id)
            self.result.warnings += left_to_know(receipt)
            if self.on_receipt:
                self.on_receipt(receipt)

    def _why_stop(self) -> str | None:
        if self.should_stop is not None and self.should_stop():
            return "interrupted"
        is_out_of_time = self._deadline is not None and time.monotonic() >= self._deadline
        return "time-limit" if is_out_of_time else None

    def _close(self, journal: Journal, quarantines: Quarantines) -> None:
        if journal.is_open:
            journal.refill()
            for root in self.prepared.roots:  # while there is room: on a full disk none can be made
                quarantines.open(root)
        if not journal.open():
            self._label_swarms(journal, quarantines)
        quarantines.close()
        books.close(self.prepared, "clean", self.result.freed_bytes, self.result.freed_entries)
        if journal.open():
            if self._has_ended:
                journal.note("end")
            of_a_part = self.prepared.request.is_of_a_part
            if not of_a_part and self.result.confirmed and not self.result.stopped:
                consent.note_clean(self.prepared.state)
        elif self.result.removed:
            self.result.warnings.append(UNWRITTEN)

    def _label_swarms(self, journal: Journal, quarantines: Quarantines) -> None:
        """Their names are gone, so there is room for one, even on a disk that is out of inodes."""
        for receipt in self.result.receipts.where(Outcome.REMOVED) if labels.is_out_of_room(journal.state) else ():
            root = receipt.finding.root
            if receipt.finding.members and (fd := quarantines.open(root)) is not None:
                labels.tell_swarm(fd, receipt, quarantines.directory(root), journal.run)


def _is_left(receipt: Receipt) -> bool:
    litter = receipt.finding.litter
    is_proven = receipt.reason in (Reason.OWNER_DEAD, Reason.OWNER_ABSENT, Reason.PRESSURE)
    return is_proven and litter.tier is Tier.AUTO and litter.id != scan.ID
