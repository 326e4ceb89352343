"""Every process, read once: our own in full, the others as far as they are parents or children of somebody; which
session each carries, and whether that session is proven dead by leases and the agents' own registries."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from ..lazy_dataclass import dataclass, field
from ..leases import registries
from ..leases.lease_state import state_of
from ..model.belongings import Lease
from ..model.processes import Binding
from ..model.sweep import Agent
from ..model.terms import OwnerState
from ..oskit.proc import procs, vitals
from ..oskit.proc.environs import temp_directories, variable_in
from ..oskit.proc.vitals import PartlyUnread, Vitals
from ..text import is_within


@dataclass(slots=True)
class Census:
    known: dict[int, Vitals] = field(default_factory=dict)  # of every user, as far as they can be read
    unreadable: dict[int, PartlyUnread] = field(default_factory=dict)
    children: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def take(cls) -> Census:
        census = cls()
        with suppress(OSError):  # nobody can be told from anybody: nobody is
            for pid in procs.pids():
                census.add(pid)
        return census

    def add(self, pid: int) -> None:
        process = vitals.look_at(pid)
        match process:
            case Vitals():
                self.known[pid] = process
                self.children.setdefault(process.parent, []).append(pid)
            case PartlyUnread(parent=parent):
                self.unreadable[pid] = process
                if parent is not None:
                    self.children.setdefault(parent, []).append(pid)
            case vitals.ProcessGone():
                pass

    def own(self) -> list[Vitals]:
        """Those of this user, without this very process and what it descends from."""
        mine = {os.getpid(), *self.ancestors(os.getpid())}
        return [one for one in self.known.values() if one.uid == os.geteuid() and one.pid not in mine]

    def ancestors(self, pid: int) -> list[int]:
        return procs.ancestors(pid, self.known)

    def descendants(self, pid: int) -> list[int]:
        result, todo = [], list(self.children.get(pid, ()))
        while todo:
            one = todo.pop()
            if one not in result:
                result.append(one)
                todo += self.children.get(one, ())
        return result


_WORST_FIRST = (OwnerState.ALIVE, OwnerState.UNKNOWN, OwnerState.DEAD)


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One word on one session: a lease, or an entry of the agent's registry."""

    agent: str
    session: str
    pid: int
    state: OwnerState
    source: str
    cgroup: str | None = None


class Sessions:
    """Everything that is written down about sessions, and the processes that carry one."""

    def __init__(
        self,
        agents: Iterable[Agent],
        markers: Iterable[tuple[str, str]],
        leases: Iterable[Lease],
        own: Iterable[Vitals],
        home: str,
    ) -> None:
        self.agents, self.markers, self.leases = tuple(agents), tuple(markers), tuple(leases)
        self.records = [
            SessionRecord(
                lease.agent,
                lease.session,
                pid=lease.pid,
                state=state_of(lease),
                source="its lease",
                cgroup=lease.cgroup,
            )
            for lease in self.leases
        ]
        environs = [one.environ for one in own]
        for agent in self.agents:
            if agent.registry in registries.FORMATS:
                self.records += _registered(agent.id, agent.registry, environs, home)

    def binding_of(self, one: Vitals) -> Binding | None:
        """By a session's id in its environment, by a TMPDIR or working directory in a scratch, by an agent's mark."""
        for agent in self.agents:
            for variable in agent.session_env:
                if session := variable_in(one.environ, os.fsencode(variable)):
                    return self._bound(agent.id, session, f"{variable} in its environment")
        for lease in self.leases:
            if words := _use_of(lease.path, one):
                return self._bound(lease.agent, lease.session, words)
        for agent_id, variable in self.markers:
            if variable_in(one.environ, os.fsencode(variable)):
                return Binding(
                    agent_id, None, f"{variable} in its environment", OwnerState.UNKNOWN, "no session is named"
                )
        return None

    def _bound(self, agent: str, session: str, by: str) -> Binding:
        """Dead only if something written names it and every such word says so."""
        words = [r for r in self.records if r.agent == agent and session in (r.session, str(r.pid))]
        cgroups = tuple(record.cgroup for record in words if record.cgroup)
        for state in _WORST_FIRST:
            for record in words:
                if record.state is state:
                    return Binding(
                        agent,
                        session,
                        by=by,
                        state=state,
                        proof=f"process {record.pid} of {record.source}",
                        own_cgroups=cgroups,
                    )
        return Binding(agent, session, by, OwnerState.UNKNOWN, "no lease and no registry names its session")


def _use_of(path: str, one: Vitals) -> str | None:
    for variable, value in temp_directories(one.environ):
        if is_within(value, path):
            return f"{variable} is that session's temp directory"
    return "its working directory is in that session's temp directory" if is_within(one.cwd, path) else None


def _registered(agent: str, registry: str, environs: Iterable[bytes], home: str) -> list[SessionRecord]:
    form = registries.FORMATS[registry]
    homes = [f"{home}/{form.directory}"]
    for environ in environs:
        homes += [value for name in form.variables if (value := variable_in(environ, os.fsencode(name)))]
        homes += [f"{other}/{form.directory}" for other in [variable_in(environ, b"HOME")] if other]
    near = dict.fromkeys(path.rstrip("/") for path in homes if path.startswith("/"))
    return [
        SessionRecord(agent, entry.session, entry.pid, registries.state_of(entry), entry.source)
        for entry in registries.read(registry, near)
    ]
