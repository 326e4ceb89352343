"""Everything one run needs, joined: what to look at and how to judge it. And what a run gives back."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from ..catalogue.settings import Settings
from ..lazy_dataclass import dataclass, field
from ..model.answers import Users
from ..model.belongings import Birth
from ..model.request import Request
from ..model.sweep import Finding, Keep, Measure, Owner, Receipt, Remove, Space, Unmatched, Verdict
from ..model.terms import Kind, Outcome, OwnerRule, OwnerState, Worth
from ..oskit.files import space
from ..oskit.files.purge import Purged
from .find.scan import Finder, Parents
from .find.second_walker import BATCH, WORTH_A_FORK, SecondWalker
from .packed import Packed
from .weigh.consent import Consent, Share
from .weigh.evidence import measured
from .weigh.pressure import Pressure
from .weigh.weigher import Weigher

# The receipts of one run and what they add up to, however many there are.

Change = Callable[[Receipt], Receipt]
_WENT = (Outcome.REMOVED, Outcome.QUARANTINED)
UNWRITTEN = (
    "the journal could not be written: until it can be, file names beside the quarantine record what was removed; "
    "where there is no quarantine, single files without value are only listed by this run"
)


@dataclass(slots=True)
class Sums:
    freed_bytes: int = 0
    removed_entries: int = 0
    quarantined_bytes: int = 0
    bytes_below: Counter[str] = field(default_factory=Counter)  # by root, of what went
    units: int = 0  # that went
    leased: list[str] = field(default_factory=list)  # those that a lease spoke for, by path

    def add(self, receipt: Receipt) -> None:
        self.freed_bytes += receipt.freed_bytes
        self.removed_entries += receipt.entries if receipt.outcome is Outcome.REMOVED else 0
        self.quarantined_bytes += receipt.bytes if receipt.outcome is Outcome.QUARANTINED else 0
        if receipt.outcome in _WENT:
            finding = receipt.finding
            self.bytes_below[finding.root] += receipt.bytes
            self.units += len(finding.members) or 1
            self.leased += (finding.path,) if finding.litter.owner is OwnerRule.LEASE else ()


class Receipts(Packed[Receipt]):
    """In the order in which things happened."""

    def __init__(self, receipts: Iterable[Receipt] = ()) -> None:
        self._sums: Sums | None = Sums()
        self._waiting = array("Q")  # what went into quarantine, by the digits of its id
        self._known: set[int] | None = None  # the same, from the first change on
        self._changes: dict[str, Change] = {}
        super().__init__(receipts, lambda receipt: receipt.outcome)

    @property
    def sums(self) -> Sums:
        if self._sums is None:
            self._sums = Sums()
            for receipt in self:
                self._sums.add(receipt)
        return self._sums

    def append(self, member: Receipt) -> None:
        super().append(member)
        if self._sums is not None:
            self._sums.add(member)
        if member.outcome is Outcome.QUARANTINED:
            self._waiting.append(_digits(member.id))
            if self._known is not None:
                self._known.add(_digits(member.id))

    def change(self, id_: str, outcome: Outcome, how: Change) -> bool:
        """Something happened since to what went into quarantine under this id, and it has this outcome now; False if no
        receipt tells of it."""
        if self._known is None:
            self._known = set(self._waiting)
        if _digits(id_) not in self._known:
            return False
        self._known.remove(_digits(id_))
        self._counts[Outcome.QUARANTINED] -= 1
        self._counts[outcome] += 1
        self._changes[id_], self._sums = how, None
        return True

    def __iter__(self) -> Iterator[Receipt]:
        return map(self._now, super().__iter__()) if self._changes else super().__iter__()

    def tagged(self, tags: frozenset[object]) -> Iterator[Receipt]:
        if not self._changes:
            return super().tagged(tags)
        return (receipt for receipt in self if receipt.outcome in tags)

    def _now(self, receipt: Receipt) -> Receipt:
        how = self._changes.get(receipt.id)
        return how(receipt) if how else receipt


def _digits(id_: str) -> int:
    return int(id_.partition(".")[0], 16)


@dataclass(slots=True)
class Prepared:
    request: Request
    settings: Settings
    roots: tuple[str, ...]
    home_roots: frozenset[str]  # bases of home rows
    finder: Finder
    weigher: Weigher
    state: str
    now_ns: Callable[[], int]
    consent: Consent
    pressure: Pressure
    warnings: list[str]
    named: tuple[Finding, ...] = ()  # a person's words: look at these alone
    refused: tuple[str, ...] = ()  # why some of those words mean nothing that may be judged
    kept_paths: tuple[str, ...] = ()  # the keep list, each by all its names
    leased_roots: tuple[str, ...] = ()  # below them only our own and leased units are looked for
    _parents: Parents = field(default_factory=Parents)  # the one that the last unit lay in

    def verdicts(self) -> Iterator[Verdict]:
        """Find, gather, judge, one unit after the other: each verdict is of this very moment."""
        for finding in self._findings():
            yield from self.hear(finding)
        self._parents.close()

    def surveyed(self) -> Iterator[Verdict]:
        """The same for a look that ends in no deed, or in one before which each is heard again: from some size on two
        walk at once."""
        findings, seen, world = self._findings(), 0, self.weigher.world
        while batch := list(islice(findings, BATCH)):
            with SecondWalker(
                [partial(self.measure, each) if each.kind is Kind.DIR else None for each in batch], world.gave_up
            ) as second:
                for number, finding in enumerate(batch):
                    if seen >= WORTH_A_FORK:
                        second.set_out(number)
                        world.walkers = frozenset((second.pid,))
                    is_litter = False
                    for verdict in self.hear(finding, second.measure(number)):
                        seen += verdict.evidence.measure.entries if verdict.evidence.measure else 0
                        is_litter = True
                        yield verdict
                    if not is_litter:
                        self.finder.turned_down(finding)
        self._parents.close()

    def _findings(self) -> Iterator[Finding]:
        only = self.request.only_paths
        if self.named:
            return iter(self.named)
        return (finding for finding in self.finder.find() if not only or finding.path in only)

    def hear(self, finding: Finding, measure: Measure | None = None) -> Iterator[Verdict]:
        try:
            dir_fd = self._parents.open(finding.root, finding.parent)
        except OSError:
            return
        yield from self.weigher.verdicts(finding, dir_fd, measure)

    def measure(self, finding: Finding) -> Measure | None:
        try:
            return measured(finding, self.weigher.world, self._parents.open(finding.root, finding.parent))
        except OSError:
            return None

    @property
    def frozen(self) -> tuple[str, ...]:
        """Mounts that did not answer when this run came to them."""
        return tuple(dict.fromkeys((*self.finder.frozen, *self.weigher.world.frozen)))

    def new_share(self) -> Share | None:
        """What one unattended run may take by a guess; None for a person's own run."""
        return Share(self.settings.automatic_max_percent) if self.request.unattended else None

    def spaces(self) -> tuple[Space, ...]:
        spaces = []
        for root in self.roots:
            try:
                spaces.append(space.space_of(root))
            except OSError:
                continue  # it vanished; the finder has said so
        return tuple(spaces)


@dataclass(slots=True)
class Plan:
    """What a clean-up would remove: what `clean` gives to its `confirm`.

    Example:

        import tmpwarden


        def is_small(plan: tmpwarden.Plan) -> bool:
            return plan.count < 1000


        result = tmpwarden.clean(confirm=is_small)
        print(result.confirmed)
    """

    removals: list[Remove]  # a verdict for each item that would be removed
    kept: list[Verdict]  # a verdict for each item that stays
    frees_nothing: bool = False  # quarantine lies on the file system that is short of room
    is_for_good: bool = False  # what a person answered to that

    @property
    def bytes(self) -> int:
        """The size of what would be removed."""
        return sum(v.evidence.measure.bytes for v in self.removals if v.evidence.measure)

    @property
    def count(self) -> int:
        """How many items and single files would be removed."""
        return sum(len(v.finding.members) or 1 for v in self.removals)


@dataclass(slots=True)
class CleanResult:
    """What a clean-up did, or would do.

    Example:

        import tmpwarden

        result = tmpwarden.clean(dry_run=True)
        for verdict in result.planned:
            print("would remove", verdict.finding.path, verdict.reason.value)
        for verdict in result.kept:
            print("kept", verdict.finding.path, verdict.reason.value)
    """

    receipts: Receipts = field(default_factory=Receipts)  # one for each item that was to be removed
    kept: Packed[Verdict] = field(default_factory=Packed)  # a verdict for each item that stays
    planned: list[Remove] = field(default_factory=list)  # of a dry run, or what was not reached
    expired: list[Purged] = field(default_factory=list)  # left quarantine for good
    warnings: list[str] = field(default_factory=list)  # what could not be looked at, in sentences
    confirmed: bool = True  # False: `confirm` said no
    doubt: str = ""  # why something went to quarantine only: it could not be checked whether somebody uses it
    stopped: str | None = None  # "time-limit", "interrupted", "lock-held", "not-due"
    refused: tuple[str, ...] = ()  # of several paths that were named: why these could not be judged
    unmatched: tuple[Unmatched, ...] = ()  # what was not recognised, where `confirm` was given: biggest group first
    error: str | None = None  # why nothing was looked at, in one sentence

    @property
    def removed(self) -> Sequence[Receipt]:
        """Items that are gone or in quarantine."""
        return self.receipts.where(Outcome.REMOVED, Outcome.QUARANTINED)

    def removed_bytes(self, root: str) -> int:
        """The size of what was removed from one temp root."""
        return self.receipts.sums.bytes_below[root]

    @property
    def failed(self) -> Sequence[Receipt]:
        """Items that should have been removed and could not be."""
        return self.receipts.where(Outcome.FAILED)

    @property
    def spared(self) -> Sequence[Receipt]:
        """Items that were to be removed, and turned out to be in use or changed at the last moment."""
        return self.receipts.where(Outcome.KEPT)

    @property
    def quarantined(self) -> Sequence[Receipt]:
        """Items that `tmpwarden undo` can bring back."""
        return self.receipts.where(Outcome.QUARANTINED)

    @property
    def freed_bytes(self) -> int:
        """What went back to the file system. Quarantine frees nothing until it expires."""
        return sum(each.freed_bytes for each in self.expired) + self.receipts.sums.freed_bytes

    @property
    def freed_entries(self) -> int:
        """Files and directories that are gone for good: what went back to an inode quota."""
        return sum(each.entries for each in self.expired) + self.receipts.sums.removed_entries

    @property
    def quarantined_bytes(self) -> int:
        """The size of what lies in quarantine now because of this clean-up."""
        return self.receipts.sums.quarantined_bytes

    @property
    def held_open_bytes(self) -> int:
        """Bytes of removed files that are still open somewhere: always 0, because what anybody has open stays."""
        return 0  # nor can it be opened after the last look: it has no name any more that anybody knows

    @property
    def undeleted(self) -> list[Purged]:
        """What should have left quarantine and could not be deleted. Every run tells it until it is gone."""
        return [each for each in self.expired if each.left]


@dataclass(frozen=True, slots=True)
class Explained:
    """Why a path stays or goes. `verdict` is None where no row matches it."""

    path: str
    verdict: Verdict | None
    owner: Owner
    users: Users
    would_lose: tuple[str, ...]
    belongs_to: str | None = None  # another user, whose it is: nothing more is looked at
    undo: str | None = None  # it lies in quarantine, and this brings it back
    was: str | None = None  # where it lay before
    inside: tuple[Verdict, ...] = ()  # units that lie in it, where it is none itself
    birth: Birth | None = None  # the call during which it appeared
    by_name: Verdict | None = None  # what `clean PATH` would say of it, where no row knows it


# What a clean would take, and in which order. Judges everything, acts on nothing.

_RANKS = {OwnerState.DEAD: 0, OwnerState.ABSENT: 1}


def make_plan(prepared: Prepared) -> Plan:
    """Judge everything, act on nothing. An unattended run is held to its share of what it found."""
    share = prepared.new_share()
    plan = Plan([], [])
    certain = (v for v in prepared.surveyed() if share is None or not share.holds_back(v))
    for verdict in chain(certain, share.limited() if share else ()):
        if isinstance(verdict, Keep):
            plan.kept.append(verdict)
        else:
            plan.removals.append(verdict)
    return plan


def makes_room(verdict: Remove) -> tuple[bool, bool, bool, int, int]:
    """What sorts first where there is none: secrets, then worthless things, single files before trees, then what the
    dead left, what nobody carries any more, and the rest, each oldest first."""
    finding, evidence = verdict.finding, verdict.evidence
    is_worth_it = finding.litter.worth is Worth.SOME
    is_tree = finding.kind is Kind.DIR and not is_worth_it
    newest_ns = evidence.measure.newest_ns if evidence.measure else 0
    rank = _RANKS.get(evidence.owner.state, len(_RANKS))
    return finding.litter.worth is not Worth.SECRET, is_worth_it, is_tree, rank, newest_ns
