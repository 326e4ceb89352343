"""An agent has ended, and its orchestrator says so: what its session left goes now, whatever its age."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from ..leases import scratch
from ..leases.lease_state import live_pids, state_of
from ..model.hot import Lease
from ..model.sweep import Finding, Outcome, OwnerState, Receipt, Request, Thresholds
from ..oskit.procs import process
from ..sweep.compose import clean, prepare
from ..sweep.journal import Journal
from ..sweep.named import NamedTake
from ..sweep.prepared import Prepared
from ..sweep.quarantine import Quarantines
from .background import detach


@dataclass(slots=True)
class TeardownResult:
    """What a teardown did. `error` is set where it could not; it never raises into a shutdown."""

    session: str | None
    released: bool = False  # a lease was given back: its scratch is gone or in quarantine
    receipts: list[Receipt] = field(default_factory=list)
    error: str | None = None

    @property
    def removed(self) -> list[Receipt]:
        return [r for r in self.receipts if r.outcome in (Outcome.REMOVED, Outcome.QUARANTINED)]

    @property
    def kept(self) -> list[Receipt]:
        return [r for r in self.receipts if r.outcome in (Outcome.KEPT, Outcome.FAILED)]

    @property
    def freed_bytes(self) -> int:
        return sum(receipt.freed_bytes for receipt in self.receipts)


def teardown(
    session: str | None = None,
    *,
    pid: int | None = None,
    agent: str | None = None,
    roots: tuple[str, ...] = (),
    config_file: str | None = None,
    wait: bool = False,
    now_ns: Callable[[], int] = time.time_ns,
) -> TeardownResult:
    """Take what the session, the process or the agent left and nobody uses any more.

    The caller waits for the renames only; the judging inside the quarantine and the purge go on in a process of their
    own (`wait`: here). Safe to call twice, safe to call while others live, never raises.
    """
    result = TeardownResult(session)
    try:
        _tear_down(result, _Wanted(session, pid, agent), roots, config_file, wait, now_ns)
    except Exception as error:  # an orchestrator's shutdown must go on whatever we run into
        result.error = f"{type(error).__name__}: {error}"
    return result


@dataclass(frozen=True, slots=True)
class _Wanted:
    session: str | None
    pid: int | None
    agent: str | None

    @property
    def names_no_session(self) -> bool:
        return self.session is None and self.pid is None

    def means(self, lease: Lease) -> bool:
        if self.names_no_session:
            return self.agent is not None and lease.agent == self.agent
        same_agent = self.agent is None or lease.agent == self.agent
        by_session = self.session is not None and lease.session == self.session
        return same_agent and (by_session or (self.pid is not None and lease.pid == self.pid))


def _tear_down(
    result: TeardownResult,
    wanted: _Wanted,
    roots: tuple[str, ...],
    config_file: str | None,
    wait: bool,
    now_ns: Callable[[], int],
) -> None:
    request = Request(roots=roots, config_file=config_file, agents=_agents(wanted))
    prepared = prepare(request, now_ns=now_ns)
    if not prepared.settings.teardown_enabled:
        result.error = "teardown is switched off in the configuration"
        return
    leases = [lease for lease in scratch.read_all(prepared.roots) if wanted.means(lease)]
    if wanted.names_no_session:
        leases = [lease for lease in leases if state_of(lease) is OwnerState.DEAD]
    result.session = result.session or (leases[0].session if leases else None)
    named = list(_named(prepared, wanted, leases))
    prepared.trial.thresholds = Thresholds(named=frozenset(finding.path for finding in named), take_ask=True)
    taking = NamedTake(prepared, Journal(prepared.state), Quarantines(prepared.state, prepared.home_roots))
    givers = _givers()
    for lease in leases:
        living = live_pids(lease)
        owners = ((lease.pid, lease.start), *lease.others)
        scratch.disown(lease, tuple(owner for owner in owners if owner[0] in living and owner[0] not in givers))
    for finding in named:
        refusal = taking.take(finding, *prepared.trial.world.owner_of(finding, None))
        if refusal is not None:
            result.receipts.append(refusal)
    result.receipts += taking.last_look()
    gone = {receipt.finding.path for receipt in result.removed}
    result.released = any(lease.path in gone for lease in leases)
    _finish(taking, replace(request, unattended=True, time_limit_s=60), leases, wait, now_ns)


def _givers() -> frozenset[int]:
    """Those whose word this is: we, and whoever started us. A lease that names them is theirs to give back; one that
    also names an agent which still lives is not over yet."""
    line = [os.getpid()]
    while (found := process(line[-1])) is not None and found.parent > 0:
        line.append(found.parent)
    return frozenset(line)


def _finish(
    taking: NamedTake, rest_of_agent: Request, leases: list[Lease], wait: bool, now_ns: Callable[[], int]
) -> None:
    """Everything else of that agent goes by the ordinary laws."""

    def rest() -> None:
        taking.settle()
        for lease in leases:
            scratch.forget(lease.path)
        if rest_of_agent.agents:
            clean(rest_of_agent, now_ns=now_ns)

    if wait or not detach(rest, keep_open=True):
        rest()


def _agents(wanted: _Wanted) -> tuple[str, ...]:
    return (wanted.agent, "tmpwarden") if wanted.agent is not None else ()


def _named(prepared: Prepared, wanted: _Wanted, leases: list[Lease]) -> Iterator[Finding]:
    """Units that name this session or process: by a lease, by the session or the pid in their name."""
    paths = {lease.path for lease in leases}
    sessions = {lease.session for lease in leases} | ({wanted.session} if wanted.session else set())
    pids = {lease.pid for lease in leases} | ({wanted.pid} if wanted.pid else set())
    for finding in prepared.finder.find():
        if finding.path in paths or finding.session in sessions or finding.pid in pids:
            yield finding
