"""Everything one run needs, joined: what to look at and how to judge it. And what a run gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from ..catalogue.settings import Settings
from ..lazy_dataclass import dataclass, field
from ..model.answers import Users
from ..model.belongings import Birth
from ..model.request import Request
from ..model.sweep import Finding, Measure, Owner, Receipt, Remove, Space, Verdict
from ..model.terms import Kind, Outcome
from ..oskit.files import space
from ..oskit.files.purge import Purged
from .find.parents import Parents
from .find.scan import Finder
from .find.second_walker import BATCH, WORTH_A_FORK, SecondWalker
from .packed import Packed
from .receipts import Receipts
from .weigh.consent import Consent
from .weigh.evidence import measured
from .weigh.pressure import Pressure
from .weigh.weigher import Weigher


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

    def spaces(self) -> tuple[Space, ...]:
        found = []
        for root in self.roots:
            try:
                found.append(space.space_of(root))
            except OSError:
                continue  # it vanished; the finder has said so
        return tuple(found)


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
