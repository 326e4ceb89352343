"""The end of a lease, told by an orchestrator's teardown or an agent's SessionEnd. One code for both (law 6).

Their word replaces grace and freshness and nothing else: holders are looked for, the rename comes first, the judging
goes on inside the quarantine, and what is odd goes back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..lazy_dataclass import dataclass, field, replace
from ..leases import scratch
from ..leases.lease_state import live_pids
from ..model.belongings import Lease
from ..model.request import Request, Thresholds
from ..model.sweep import Finding, Receipt
from ..model.terms import Outcome
from ..sweep.compose import prepare
from ..sweep.prepared import Prepared
from ..sweep.store import books
from ..sweep.store.journal import Journal
from ..sweep.store.quarantine import Quarantines
from ..sweep.take.by_name import NamedTake

OF_SESSIONS = tuple(
    f"tmpwarden.{row}" for row in ("scratch", "lease", "run", "run-lease", "sandbox-scratch", "sandbox-lease")
)
_LIMIT_S = 60.0


@dataclass(slots=True)
class Release:
    """Leases that are over, with the units that name their sessions. `take`, then `finish`, which may run elsewhere."""

    taking: NamedTake
    leases: list[Lease]
    receipts: list[Receipt] = field(default_factory=list)

    @classmethod
    def of(cls, prepared: Prepared, findings: Sequence[Finding], leases: list[Lease]) -> Release:
        limits = Thresholds(named=frozenset(finding.path for finding in findings), take_ask=True)
        judging = replace(prepared, weigher=replace(prepared.weigher, thresholds=limits))
        return cls(
            NamedTake(judging, Journal(prepared.state), Quarantines(prepared.state, prepared.home_roots)), leases
        )

    def take(self, findings: Sequence[Finding], *, givers: Collection[int] = ()) -> None:
        """`givers`: processes whose word this is; a lease that names them is theirs to give back."""
        settings, world = self.taking.prepared.settings, self.taking.prepared.weigher.world
        for lease in self.leases:
            live = live_pids(lease)
            owners = ((lease.pid, lease.start), *lease.others)
            scratch.disown(lease, tuple(owner for owner in owners if owner[0] in live and owner[0] not in givers))
        if settings.orphans_at_end:
            from .orphans import end_of_session

            for session in {lease.session for lease in self.leases}:
                end_of_session(session, settings)
        for finding in findings:
            refusal = self.taking.take(finding, *world.owner_of(finding, None))
            if refusal is not None:
                self.receipts.append(refusal)
        self.receipts += self.taking.last_look()
        self.receipts += self.taking.make_room()

    @property
    def moved_paths(self) -> frozenset[str]:
        """Paths that are no longer where they were."""
        went = (Outcome.REMOVED, Outcome.QUARANTINED)
        return frozenset(receipt.finding.path for receipt in self.receipts if receipt.outcome in went)

    def finish(self) -> list[Receipt]:
        """What nobody need wait for: the judging inside the quarantine, the leases of what is gone, and the books."""
        receipts = list(self.taking.finish())
        for lease in self.leases:
            scratch.forget(lease.path)
        books.close_by_receipts(self.taking.prepared, "session-end", (*self.receipts, *receipts))
        return receipts


def release_scratches(leases: list[Lease]) -> list[Receipt]:
    """A session has said that it is over and its agent is gone: its scratches, and nothing else that names it, because
    it may be resumed."""
    paths = frozenset(lease.path for lease in leases)
    prepared = prepare(Request(unattended=True, rows=OF_SESSIONS, only_paths=paths, time_limit_s=_LIMIT_S))
    findings = [finding for finding in prepared.finder.find() if finding.path in paths]
    release = Release.of(prepared, findings, leases)
    release.take(findings)
    return [*release.receipts, *release.finish()]
