"""An agent has ended, and its orchestrator says so: what its session left goes now, whatever its age."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import LockHeld, TmpwardenError
from ..lazy_dataclass import dataclass, field, replace
from ..leases import scratch
from ..leases.lease_state import state_of, states
from ..model.belongings import Lease
from ..model.request import Request
from ..model.sweep import Finding, Keep, Litter, Receipt
from ..model.terms import Outcome, OwnerRule, OwnerState, Tier, Worth
from ..oskit.proc.procs import process
from ..sweep.compose import Clock, cleaned, prepare
from ..sweep.find.named import singles
from ..sweep.prepared import UNWRITTEN, Prepared
from ..sweep.store import books
from ..sweep.weigh.consent import is_due
from .background import detach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sweep.take.by_name import NamedTake
    from .release import Release

_REST_LIMIT_S = 60.0
_LEAST_PAUSE_S = 30.0
_MOST_MEMBERS = 64


@dataclass(slots=True)
class TeardownResult:
    """What a teardown did. A teardown never raises into your shutdown: see `error`.

    Example:

        import tmpwarden

        result = tmpwarden.teardown(session="job-1", wait=True)
        print(f"removed {len(result.removed)} items, freed {result.freed_bytes} bytes")
        for receipt in result.kept:
            print(f"kept {receipt.finding.path}: {receipt.reason.value}")
        if result.error is not None:
            print(result.error)
    """

    session: str | None  # its name, if one was given, or one alone was found
    released: bool = False  # a lease was given back: its directory is gone or in quarantine
    receipts: list[Receipt] = field(default_factory=list)  # one for each item, kept ones too
    error: str | None = None  # what went wrong, in one sentence
    warnings: list[str] = field(default_factory=list)  # what you should know beside it, in sentences
    _unfinished: frozenset[str] = frozenset()  # receipts of what a process of its own goes on with

    @property
    def removed(self) -> list[Receipt]:
        """Items that are gone or in quarantine."""
        return [r for r in self.receipts if r.outcome in (Outcome.REMOVED, Outcome.QUARANTINED)]

    @property
    def pending(self) -> list[Receipt]:
        """Of the removed ones those that are only out of the way yet: they are looked through and purged while you go
        on. What turns out to hold work goes back. With `wait` there are none."""
        return [r for r in self.removed if r.id in self._unfinished]

    @property
    def kept(self) -> list[Receipt]:
        """Items that stay, each with its reason: somebody uses it, or it holds work that exists nowhere else."""
        return [r for r in self.receipts if r.outcome is Outcome.KEPT]

    @property
    def failed(self) -> list[Receipt]:
        """Items that should have been removed and could not be."""
        return [r for r in self.receipts if r.outcome is Outcome.FAILED]

    @property
    def freed_bytes(self) -> int:
        """What went back to the file system by now. Quarantine frees nothing until it expires."""
        return sum(receipt.freed_bytes for receipt in self.receipts)

    def _learn(self, later: list[Receipt]) -> None:
        """What became of the items later: purged, in quarantine, or back where they were."""
        known = {receipt.id or receipt.finding.path: receipt for receipt in (*self.receipts, *later)}
        self.receipts = list(known.values())


def teardown(
    session: str | None = None,
    *,
    pid: int | None = None,
    agent: str | None = None,
    roots: tuple[str, ...] = (),
    config_file: str | None = None,
    wait: bool = False,
    now_ns: Clock = time.time_ns,
) -> TeardownResult:
    """Remove what a session, a process or an agent left behind, whatever its age. Call it when the agent has ended.

    What somebody uses stays, and so does git work that exists nowhere else. You wait until the items are out of the
    way; the rest is done by a process of its own. It is safe to call twice and while other agents run, and it never
    raises: see `TeardownResult.error`.

    session      the session's name, as given to `lease` or as the agent itself calls it
    pid          or the process id of the agent
    agent        also what other ended sessions of this agent left, by the rules of an automatic clean-up (see below)
    roots        look into these temp roots only; without it, the session's lease is found below any root it was given
    config_file  instead of ~/.config/tmpwarden/config.toml
    wait         wait for all of it, and learn what became of each item
    now_ns       the clock, for tests

    With `agent` alone, all that belongs to sessions whose process is known to be gone is removed, however much that is;
    then, before you get the answer, the rest by those rules.

    Example:

        import tmpwarden

        result = tmpwarden.teardown(session="job-1")
        print(len(result.removed), len(result.kept), result.error)
    """
    wanted = TeardownWish(session, pid, agent)
    try:
        return torn_down(wanted, roots=roots, config_file=config_file, wait=wait, now_ns=now_ns)
    except TmpwardenError as error:
        return TeardownResult(session, error=f"{type(error).__name__}: {error}")


def torn_down(
    wanted: TeardownWish,
    *,
    roots: tuple[str, ...],
    config_file: str | None,
    wait: bool,
    givers: frozenset[int] | None = None,
    now_ns: Clock = time.time_ns,
) -> TeardownResult:
    """The same for the command, which tells by its own exit status what the caller got wrong: raises TmpwardenError
    before anything is touched. `givers`: the processes whose word this is, if not ours."""
    result, prepared = TeardownResult(wanted.session), None
    request = Request(
        roots=roots, config_file=config_file, agents=() if wanted.agent is None else (wanted.agent, "tmpwarden")
    )
    try:
        with _standard_descriptors():
            prepared = prepare(request, now_ns=now_ns, by_name=not wanted.names_no_session)
            _tear_down(result, wanted, prepared, wait, _givers() if givers is None else givers)
    except Exception as error:  # an orchestrator's shutdown must go on whatever we run into
        if prepared is None and isinstance(error, TmpwardenError):
            raise
        result.error = f"{type(error).__name__}: {error}"
    return result


@contextmanager
def _standard_descriptors() -> Iterator[None]:
    """In a host that has closed its stdin, stdout or stderr, a directory of ours would get that number, and the process
    that goes on without us gives those up."""
    opened = [os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)]
    while opened[-1] <= 2:
        opened.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
    os.close(opened.pop())
    try:
        yield
    finally:
        for fd in opened:
            os.close(fd)


@dataclass(frozen=True, slots=True)
class TeardownWish:
    """Whose things are to go."""

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
    result: TeardownResult, wanted: TeardownWish, prepared: Prepared, wait: bool, givers: frozenset[int]
) -> None:
    if not prepared.settings.teardown_enabled:
        result.error = "teardown is switched off in the configuration"
        return None
    everywhere = (*prepared.roots, *prepared.leased_roots)
    leases = [lease for lease in scratch.read_all(everywhere) if wanted.means(lease)]
    if wanted.names_no_session:
        leases = [lease for lease in leases if state_of(lease) is OwnerState.DEAD]
    sessions = {lease.session for lease in leases}
    result.session = result.session or (sessions.pop() if len(sessions) == 1 else None)
    findings = list(_findings_of(prepared, wanted, leases))
    if not (findings or leases or prepared.request.agents or prepared.pressure.roots):
        return books.close_by_receipts(prepared, "session-end", ())  # nothing is left to take, to judge or to hurry
    from .release import Release

    release = Release.of(prepared, findings, leases)
    release.take(findings, givers=givers)
    result.receipts += release.receipts
    alone = prepared.request.agents if wanted.names_no_session else ()
    if result.removed and not release.taking.journal.open():
        result.warnings.append(UNWRITTEN)
    result.released = not release.moved_paths.isdisjoint(lease.path for lease in leases)
    if wait or not detach(lambda: _rest(release, prepared.now_ns, alone), keep=release.taking.descriptors):
        result._learn(_rest(release, prepared.now_ns, alone))
    else:
        result._unfinished = frozenset(receipt.id for receipt in result.removed if receipt.id)
    if alone:
        _clean_rest(result, replace(prepared.request, unattended=True, time_limit_s=_REST_LIMIT_S), prepared.now_ns)
    return None


def _clean_rest(result: TeardownResult, request: Request, now_ns: Clock) -> None:
    """By the rules of an automatic clean-up, before the caller goes on: what stays is told with its reason."""
    known = {receipt.finding.path for receipt in result.receipts}
    try:
        rest = cleaned(request, now_ns=now_ns)
    except LockHeld:
        result.warnings.append("another clean-up is running; only what is known to be gone was looked at")
        return
    kept = [
        Receipt(verdict.finding, Outcome.KEPT, verdict.reason, detail=verdict.detail)
        for verdict in rest.kept
        if verdict.finding.litter.agent in request.agents[:1] and isinstance(verdict, Keep)
    ]
    result._learn([each for each in (*rest.receipts, *kept) if each.finding.path not in known])


def _givers() -> frozenset[int]:
    """Those whose word this is: we, and the processes that started us. A lease that names them is theirs to give back;
    one that also names an agent which still lives is not over yet."""
    line = [os.getpid()]
    while (process_ := process(line[-1])) is not None and process_.parent > 0:
        line.append(process_.parent)
    return frozenset(line)


def _rest(release: Release, now_ns: Clock, alone: tuple[str, ...] = ()) -> list[Receipt]:
    """What the caller need not wait for: the judging inside the quarantine, and everything else of that agent by the
    ordinary laws, unless the agent was named `alone`: then its caller waits for that. Where the root is nearly full, a
    day in quarantine would help nobody: the laws for that apply too."""
    receipts, taking = release.finish(), release.taking
    prepared = taking.prepared
    is_short = bool(prepared.pressure.roots) and prepared.settings.periodic_enabled
    is_short = is_short and is_due(prepared.state, _LEAST_PAUSE_S, now_ns())  # many sessions may end at once
    others = () if alone else prepared.request.agents
    if others or is_short:
        agents = () if is_short else others
        request = replace(prepared.request, agents=agents, unattended=True, time_limit_s=_REST_LIMIT_S)
        with suppress(LockHeld):  # who cleans right now does it for us too
            receipts += cleaned(request, now_ns=now_ns).receipts
    return [_as_it_is_now(receipt, taking) for receipt in receipts]


def _as_it_is_now(receipt: Receipt, taking: NamedTake) -> Receipt:
    """Quarantine goes first when a root is short: then undo has nothing any more, and its bytes are free."""
    from ..sweep.store import quarantine

    directory = taking.quarantines.directory(receipt.finding.root)
    try:
        is_there = receipt.outcome is not Outcome.QUARANTINED or quarantine.holds(directory, receipt.id)
    except OSError:
        is_there = True  # it was a moment ago
    if is_there:
        return receipt
    return replace(receipt, outcome=Outcome.REMOVED, undoable=False, freed_bytes=receipt.bytes)


def _findings_of(prepared: Prepared, wanted: TeardownWish, leases: list[Lease]) -> Iterator[Finding]:
    """Units that name this session or process: by a lease, by the session or the pid in their name. And what in a temp
    root is worth nothing and names only the agent (markers, probes, sockets), if no session of that agent lives."""
    paths = {lease.path for lease in leases}
    sessions = {lease.session for lease in leases} | ({wanted.session} if wanted.session else set())
    pids = {pid for lease in leases for pid, state in states(lease) if state is OwnerState.DEAD}
    pids |= {wanted.pid} if wanted.pid else set()
    agents = {lease.agent for lease in leases} | ({wanted.agent} if wanted.agent else set())
    unnamed: list[Finding] = []
    for finding in prepared.finder.find():
        is_named = finding.path in paths or finding.session in sessions or finding.pid in pids
        if is_named or _is_of_the_dead(finding, wanted, prepared):
            agents.add(finding.litter.agent)
            yield finding
        elif finding.root not in prepared.home_roots and _names_its_agent_only(finding.litter):
            unnamed.append(finding)
    for finding in unnamed:
        if finding.litter.agent in agents and _nobody_lives(prepared, finding):
            yield from _each(finding)


def _is_of_the_dead(finding: Finding, wanted: TeardownWish, prepared: Prepared) -> bool:
    """Where the agent alone is named: of a session that the agent's own records or a lease bind to a process that is
    gone. A name without a record proves nothing."""
    if not wanted.names_no_session or finding.session is None or finding.litter.agent != wanted.agent:
        return False
    return prepared.weigher.world.owner_of(finding, None)[0].state is OwnerState.DEAD


def _names_its_agent_only(litter: Litter) -> bool:
    """An emptied parent is not among them: what was taken out of it may have to go back."""
    is_auto = litter.tier is Tier.AUTO and "empty-dir" not in litter.checks
    return is_auto and litter.worth is not Worth.SOME and litter.owner in (OwnerRule.AGENT, OwnerRule.NONE)


def _nobody_lives(prepared: Prepared, finding: Finding) -> bool:
    """No session of its agent, and we see everybody: what is asked of a unit that only its agent could own."""
    of_the_agent = replace(finding, litter=replace(finding.litter, owner=OwnerRule.AGENT))
    return prepared.weigher.world.owner_of(of_the_agent, None)[0].state is OwnerState.ABSENT


def _each(finding: Finding) -> Iterator[Finding]:
    """The members of a swarm as units of their own; a backlog is not this session's and goes by the ordinary laws."""
    return iter(()) if len(finding.members) > _MOST_MEMBERS else singles(finding)
