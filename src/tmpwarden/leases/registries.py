"""The agents' own registries of live sessions, by the name that a catalogue file gives the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from ..lazy_dataclass import dataclass
from ..model.belongings import Lease
from ..model.terms import OwnerState
from ..oskit.proc.holders import Holders
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.reach import Reach
from . import claude_sessions, copilot_locks, opencode_locks
from .registry_entry import RegistryEntry


@dataclass(frozen=True, slots=True)
class Format:
    """One reader and where its registries may be."""

    read: Callable[[Iterable[str], list[str]], tuple[RegistryEntry, ...]]
    directory: str  # below a home
    variables: tuple[str, ...]  # that name another place


FORMATS = {
    "claude-sessions": Format(claude_sessions.read, claude_sessions.DIRECTORY, claude_sessions.VARIABLES),
    "copilot-locks": Format(copilot_locks.read, copilot_locks.DIRECTORY, copilot_locks.VARIABLES),
    "opencode-locks": Format(opencode_locks.read, opencode_locks.DIRECTORY, opencode_locks.VARIABLES),
}


def variables(registry: str | None) -> tuple[str, ...]:
    """What to look for in environments so that a run without the user's own finds the registries."""
    return ("HOME", *FORMATS[registry].variables) if registry in FORMATS else ()


def config_homes(
    registry: str, home: str, leases: Iterable[Lease], holders: Holders, relatives: Collection[int]
) -> tuple[str, ...]:
    """Where this user's registries may be: by default, by our environment, by leases, by live processes.

    `relatives`: processes that run the agent or carry a session of it; their HOME counts.
    """
    form = FORMATS[registry]
    own = [f"{home}/{form.directory}", *(os.environ.get(name, "") for name in form.variables)]
    told = [lease.config_home for lease in leases if lease.config_home]
    homes = holders.sessions.get("HOME", {})
    seen = [f"{other}/{form.directory}" for other, pids in homes.items() if not set(relatives).isdisjoint(pids)]
    seen += [value for name in form.variables for value in holders.sessions.get(name, ())]
    return tuple(dict.fromkeys(path.rstrip("/") for path in (*own, *told, *seen) if path.startswith("/")))


def state_of(entry: RegistryEntry) -> OwnerState:
    """Alive, dead or unknown. In a home that several hosts share, a record has to say which of them it speaks of."""
    state = entry.state()
    if state is OwnerState.DEAD and entry.machine is None:
        table = MountTable.of()
        return state if table is not None and table.is_network(entry.source) is False else OwnerState.UNKNOWN
    return state


def read(registry: str, homes: Iterable[str], unread: list[str] | None = None) -> tuple[RegistryEntry, ...]:
    """`unread` gets a sentence for each part that could not be read: who it names may live."""
    unread = [] if unread is None else unread
    reach, answering = Reach.now(), []
    for home in homes:
        if point := reach.frozen_near(home):
            unread.append(f"the file system mounted at {point} does not answer")
        else:
            answering.append(home)
    return FORMATS[registry].read(answering, unread)
