"""The agent sessions of this user that live right now, and the scratch of each."""

from __future__ import annotations

from ..catalogue.load import Catalogue
from ..lazy_dataclass import dataclass
from ..leases.book import OwnerBook, variables_of
from ..leases.scratch import read_all
from ..oskit.files import places
from ..oskit.proc.holders import Holders


@dataclass(frozen=True, slots=True)
class LivingSession:
    agent: str
    pid: int
    id: str | None
    scratch: str | None


def living(catalogue: Catalogue, roots: tuple[str, ...]) -> tuple[LivingSession, ...]:
    """Every session that lives, by its agent's registry, a lease, or the environment of a process."""
    scratch = {(lease.agent, lease.session): lease.path for lease in read_all(roots)}
    holders = Holders.look(variables_of(catalogue.agents), uses=False)
    book = OwnerBook(catalogue.agents, holders, roots=roots, home=places.home())
    found: dict[tuple[str, str | int], LivingSession] = {}
    for agent in catalogue.agents:
        if not (agent.session_env or agent.registry):
            continue  # a tool that leaves litter, and knows no sessions
        for each in book.living(agent.id):
            path = scratch.get((agent.id, each.session or ""))
            found.setdefault(
                (agent.id, each.session or each.pid), LivingSession(agent.id, each.pid, each.session, path)
            )
    return tuple(found.values())
