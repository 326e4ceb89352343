"""The agent sessions of this user that live right now, the scratch of each, and whether one is older than a moment."""

from __future__ import annotations

from collections.abc import Collection

from ..catalogue.load import Catalogue
from ..lazy_dataclass import dataclass
from ..leases.book import OwnerBook, variables_of
from ..leases.scratch import read_all
from ..model.terms import OwnerState
from ..oskit.files import places
from ..oskit.proc.holders import Holders


@dataclass(frozen=True, slots=True)
class LivingSession:
    agent: str
    pid: int
    id: str | None
    scratch: str | None


def living_sessions(catalogue: Catalogue, roots: tuple[str, ...]) -> tuple[LivingSession, ...]:
    """Every session that lives, by its agent's registry, a lease, or the environment of a process."""
    scratch = {(lease.agent, lease.session): lease.path for lease in read_all(roots)}
    holders = Holders.look(variables_of(catalogue.agents), uses=False)
    book = OwnerBook(catalogue.agents, holders, roots=roots, home=places.home())
    sessions: dict[tuple[str, str | int], LivingSession] = {}
    for agent in catalogue.agents:
        if not (agent.session_env or agent.registry):
            continue  # a tool that leaves litter, and knows no sessions
        for each in book.living_of(agent.id):
            path = scratch.get((agent.id, each.session or ""))
            sessions.setdefault(
                (agent.id, each.session or each.pid), LivingSession(agent.id, each.pid, each.session, path)
            )
    return tuple(sessions.values())


def older_than(since_ns: int, agents: Collection[str], catalogue: Catalogue, roots: tuple[str, ...]) -> str:
    """Why a session of these agents may live that began before `since_ns`; "" if it could be checked that none does."""
    holders = Holders.look(variables_of(catalogue.agents))  # with uses: it must tell whom it cannot see
    book = OwnerBook(catalogue.agents, holders, roots=roots, home=places.home())
    for agent in agents:
        owner = book.roster(agent).any_owner(since_ns, "/")
        if owner.state is not OwnerState.ABSENT:
            return f"{agent}: {owner.detail}"
    return ""
