"""Who owns a unit, and does that owner live: our leases, the agents' registries and all environments together."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ..model.belongings import Lease
from ..model.sweep import Agent, Finding, Owner, Witness
from ..model.terms import LEASE_IN_FORCE, OwnerRule, OwnerState, WitnessKind
from ..oskit.proc.holders import Holders
from ..oskit.proc.identity import identity_state
from ..oskit.proc.namespaces import MountTable
from . import registries, scratch
from .lease_state import began, live_pids, state_of
from .roster import Living, Roster

_LEASE = ".lease"
_GONE = (OwnerState.DEAD, OwnerState.ABSENT)


def variables_of(agents: Iterable[Agent]) -> tuple[str, ...]:
    """What Holders.look has to find in environments for a book about these agents."""
    names = [name for agent in agents for name in (*agent.session_env, *registries.variables(agent.registry))]
    return tuple(dict.fromkeys(names))


class OwnerBook:
    """Answers for one run; registries are read when the first unit of their agent is asked about."""

    def __init__(
        self,
        agents: Iterable[Agent],
        holders: Holders,
        *,
        roots: tuple[str, ...] = (),
        home: str = "",
        owners: tuple[Lease, ...] = (),
    ) -> None:
        self.agents = tuple(agents)
        self.holders = holders
        self.roots, self.home = roots, home
        self.unread: list[str] = []  # leases that may name a live session, and why they could not be read
        self.leases: tuple[Lease, ...] = scratch.read_all(roots, self.unread)
        self.owners = owners  # of what sessions made by name (leases/births.py): without a scratch
        self._table = MountTable.of()
        self._rosters: dict[str, Roster] = {}

    def owner_of(self, finding: Finding, newest_ns: int | None = None) -> Owner:
        """`newest_ns`: the date of the unit's newest member; None: any live session of its agent may be its owner."""
        owner = self._owner_of(finding, newest_ns)
        if owner.state in _GONE and self._may_be_remote(finding.parent):
            return Owner(OwnerState.UNKNOWN, owner.pid, owner.session, "on a network file system")
        return owner

    def witnesses_of(self, finding: Finding) -> tuple[Witness, ...]:
        """Records and environments that name a live process: lease, agent's registry, session id."""
        lease = self._lease_at(finding.path) if finding.litter.owner is OwnerRule.LEASE else None
        if lease is not None:
            return (*self._owners_in(lease), *self.roster(lease.agent).carriers_of(lease.session))
        if finding.session is not None:
            return self.roster(finding.litter.agent).witnesses_of(finding.session)
        if finding.pid is not None:
            return self.roster(finding.litter.agent).witnesses_of_pid(finding.pid)
        return ()

    def living_of(self, agent: str) -> tuple[Living, ...]:
        """The sessions of an agent that live or may live, and since when. That a container runs makes it none."""
        return tuple(one for one in self.roster(agent).known if one.mounts is None)

    def roster(self, agent: str) -> Roster:
        if agent not in self._rosters:
            facts = next((known for known in self.agents if known.id == agent), None)
            self._rosters[agent] = Roster(
                agent=agent,
                session_env=facts.session_env if facts else (),
                registry=facts.registry if facts else None,
                leases=[lease for lease in (*self.leases, *self.owners) if lease.agent == agent],
                holders=self.holders,
                home=self.home,
                unread=self.unread,
            )
        return self._rosters[agent]

    def _owner_of(self, finding: Finding, newest_ns: int | None) -> Owner:
        match finding.litter.owner:
            case OwnerRule.NONE:
                return Owner(OwnerState.NONE)
            case OwnerRule.LEASE:
                return self._owner_by_lease(finding)
            case OwnerRule.PID if finding.pid is not None:
                return self._owner_by_pid(finding, finding.pid)
            case OwnerRule.SESSION if finding.session is not None:
                return self.roster(finding.litter.agent).owner(finding.session, finding.root)
            case OwnerRule.PID | OwnerRule.SESSION | OwnerRule.AGENT:
                return self.roster(finding.litter.agent).any_owner(newest_ns, finding.root, finding.path)

    def _owner_by_lease(self, finding: Finding) -> Owner:
        if finding.name.endswith(_LEASE) and os.path.lexists(finding.path.removesuffix(_LEASE)):
            return Owner(OwnerState.ALIVE, detail=LEASE_IN_FORCE)
        lease = self._lease_at(finding.path)
        if lease is None:
            return Owner(OwnerState.UNKNOWN, detail="no lease that can be read")
        return Owner(state_of(lease), lease.pid, lease.session, "lease", began(lease))

    def _owner_by_pid(self, finding: Finding, pid: int) -> Owner:
        """A name has no start time; but the process that made the unit was there before its ctime, which no program can
        set."""
        if known := self.roster(finding.litter.agent).witnesses_of_pid(pid):
            return Owner(OwnerState.ALIVE, pid, finding.session, known[0].detail)
        try:
            made_s = os.lstat(finding.path).st_ctime
        except OSError:
            made_s = None
        return Owner(identity_state(pid, recorded_s=made_s), pid, finding.session, "pid in the name")

    def _owners_in(self, lease: Lease) -> tuple[Witness, ...]:
        detail = f"{lease.path}{_LEASE}"
        return tuple(Witness(WitnessKind.LEASE, detail, pid, self.holders.command(pid)) for pid in live_pids(lease))

    def _lease_at(self, path: str) -> Lease | None:
        return scratch.read(path.removesuffix(_LEASE))

    def _may_be_remote(self, path: str) -> bool:
        return self._table is None or self._table.is_network(path) is not False
