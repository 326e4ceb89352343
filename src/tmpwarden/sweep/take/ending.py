"""How a taken unit ends: walked once more, asked about once more, and then put back, kept for undo, or to be purged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ...catalogue.settings import Settings
from ...lazy_dataclass import dataclass, replace
from ...model.sweep import GitUnclear, Measure, Receipt, Remove
from ...model.terms import Kind, Outcome, OwnerRule, Reason, Worth
from ...oskit.race import race_window as _race_window
from ...repos.rescue.store import Refused, Rescued
from ..find.second_walker import WORTH_A_FORK, SecondWalker
from ..store import quarantine
from ..store.journal import Journal
from ..weigh.evidence import World, inspect_git
from . import recheck
from .purger import Job, job_of
from .taking import Deed, decide, given_back, unheld

# Save what exists nowhere else in a unit that was taken, before anything is done to it for good.
#
# It lies in quarantine by then: nobody can reach it by its name any more, so that what is saved is what goes.


@dataclass(frozen=True, slots=True)
class Rescuer:
    """What `[rescue]` in the configuration wants."""

    settings: Settings
    now_ns: Callable[[], int]

    def saved(self, verdict: Remove, quarantine_fd: int, token: str) -> Rescued | Refused | None:
        """None: nothing had to be saved. Refused: git work in it could not be, so that it must go back."""
        must = must_be_saved(verdict)
        if not must and not self._wants_files(verdict):
            return None
        from ...repos.rescue import notice  # only here: most units hold nothing of the kind
        from ...repos.rescue.save import Endangered, save

        finding, owner = verdict.finding, verdict.evidence.owner
        place = Endangered(quarantine_fd, token, finding.path, finding.session or owner.session)
        files = self.settings.rescue_files
        result = save(place, self.settings, now_s=self.now_ns() / 1e9, git=must, files=files)
        if isinstance(result, Rescued):
            notice.later(result)
        if must and not isinstance(result, Rescued):
            return result or Refused("no unique work was found in it, although there must be some")
        return result if isinstance(result, Rescued) else None

    def _wants_files(self, verdict: Remove) -> bool:
        """What a session left, and had room for a person's files."""
        litter, measure = verdict.finding.litter, verdict.evidence.measure
        is_of_a_session = litter.owner in (OwnerRule.LEASE, OwnerRule.SESSION) and verdict.finding.kind is Kind.DIR
        return self.settings.rescue_files and is_of_a_session and litter.worth is Worth.SOME and _has_entries(measure)


def must_be_saved(verdict: Remove) -> bool:
    """Judged to go although git work would be lost with it: only if that is saved."""
    losses = verdict.evidence.git_losses
    return isinstance(losses, tuple) and bool(losses) and not verdict.finding.litter.git_disposable


def _has_entries(measure: Measure | None) -> bool:
    return measure is not None and measure.entries > 1


@dataclass(frozen=True, slots=True)
class Ending:
    """Speaks the last word about what lies in quarantine. `world` has just been looked at."""

    world: World
    journal: Journal
    rescuer: Rescuer | None  # saves git work and files before a unit goes

    def of_all(self, deeds: list[Deed]) -> Iterator[Receipt | Job]:
        """One after the other; from some size on two walk, where none of them asks the kernel: each would take the
        other for a process that uses the file."""
        looks = [partial(self._walked_again, deed) if _is_undecided(deed) else None for deed in deeds]
        shared = [None if _must_ask(deed) else look for deed, look in zip(deeds, looks, strict=True)]
        with SecondWalker(shared, self.world.gave_up) as second:
            if sum(deed.entries for deed, look in zip(deeds, shared, strict=True) if look) >= WORTH_A_FORK:
                second.set_out(-1)
            for number, (deed, look) in enumerate(zip(deeds, looks, strict=True)):
                yield from self._of(deed, (second.measure(number) or look()) if look else None)

    def _of(self, deed: Deed, inside: Measure | None) -> Iterator[Receipt | Job]:
        """What has happened to the unit, or to members of a swarm, or what is to be purged now."""
        if deed.unheld:
            yield record(unheld(deed), self.journal)
        for token in list(deed.names):
            if back := recheck.why_back(deed, token, self.world, inside):
                yield record(given_back(deed, token, *back), self.journal)
        if not deed.names:
            return
        if back := _lost_since(deed):
            yield record(given_back(deed, next(iter(deed.names)), *back), self.journal)
            return
        saved = self._saved(deed)
        if back := self._last_word(deed, saved):
            yield record(given_back(deed, next(iter(deed.names)), *back), self.journal)
            return
        receipt = record(_receipt_of(deed), self.journal)
        if isinstance(saved, Rescued):
            receipt = replace(receipt, rescued=saved.id)
        is_kept = receipt.outcome is Outcome.QUARANTINED
        yield receipt if is_kept else job_of(deed, receipt, inside)

    def _last_word(self, deed: Deed, saved: Rescued | Refused | None) -> tuple[Reason, str] | None:
        """None: it has the name now that says what becomes of it. Else why it has to go back."""
        if isinstance(saved, Refused):
            return Reason.GIT_WORK, saved.why
        token = next(iter(deed.names))
        trouble = decide(deed, token, deed.label_name or deed.token) if token.endswith(quarantine.UNDECIDED) else None
        return (Reason.CHANGED, trouble) if trouble else None

    def _saved(self, deed: Deed) -> Rescued | Refused | None:
        """Git work that would be lost is saved now, or the unit goes back."""
        if self.rescuer is None:
            return Refused("it cannot be saved now") if must_be_saved(deed.verdict) else None
        saved = self.rescuer.saved(deed.verdict, deed.quarantine_fd, next(iter(deed.names)))
        if isinstance(saved, Rescued):
            self.journal.note("rescued", id=deed.token, path=deed.verdict.finding.path, rescue=saved.id)
            self.journal.flush()
        return saved

    def _walked_again(self, deed: Deed) -> Measure | None:
        """A unit that is to be purged at once is walked once more, where nobody finds it by its name any more."""
        _race_window("taken, not yet walked again")
        name, asks = next(iter(deed.names)), _must_ask(deed)
        return recheck.measured_inside(self.world, deed.quarantine_fd, name, deed.roll, asks=asks)


def _lost_since(deed: Deed) -> tuple[Reason, str] | None:
    """An origin on this machine is asked once more, when the clone is out of its way: one that reads its objects there
    answers otherwise now."""
    verdict = deed.verdict
    if not verdict.evidence.git_origins:
        return None
    seen = inspect_git(verdict.finding, verdict.evidence, deed.quarantine_fd, next(iter(deed.names))).git_losses
    if isinstance(seen, GitUnclear):
        return Reason.GIT_UNCLEAR, seen.why
    return (Reason.GIT_WORK, "; ".join(seen)) if seen else None


def _receipt_of(deed: Deed) -> Receipt:
    finding, measure = deed.verdict.finding, deed.verdict.evidence.measure
    size, entries = (measure.bytes, measure.entries) if measure else (0, 1)
    if finding.members:
        finding = replace(finding, members=tuple(deed.names.values()))
        size, entries = deed.member_bytes, len(deed.names)
    token = next(iter(deed.names)) if finding.members else deed.token
    is_kept = token.endswith(quarantine.KEPT)
    return Receipt(
        finding=finding,
        outcome=Outcome.QUARANTINED if is_kept else Outcome.REMOVED,
        reason=deed.verdict.reason,
        id=token,
        bytes=size,
        entries=entries,
        undoable=is_kept,
        git_entries=deed.verdict.evidence.git_entries,
        git_origins=deed.verdict.evidence.git_origins,
    )


def _must_ask(deed: Deed) -> bool:
    return deed.is_doomed and deed.verdict.finding.litter.worth is Worth.SOME


def _is_undecided(deed: Deed) -> bool:
    return not deed.verdict.finding.members and next(iter(deed.names)).endswith(quarantine.UNDECIDED)


def record(receipt: Receipt, journal: Journal) -> Receipt:
    """Written down, where something was begun or went wrong."""
    if receipt.id or receipt.outcome is Outcome.FAILED:
        journal.record(receipt)
    return receipt
