"""What is never ended, by any command: one function per reason, in the order in which they are told.

Each gets a process and the world it stands in, and answers with a sentence or None."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Mapping

from ..lazy_dataclass import dataclass
from ..leases.kept_processes import KeptProcesses
from ..leases.roster import is_program_of
from ..model.processes import Binding, ProcessRow, Unheard
from ..model.terms import OwnerState
from ..oskit.proc.connections import Connections
from ..oskit.proc.vitals import Vitals
from .census import Census

_MULTIPLEXERS = ("tmux", "screen", "zellij", "dtach", "abduco")
_DATABASES = (
    "postgres", "postmaster", "mysqld", "mariadbd", "redis-server", "valkey-server", "mongod", "memcached", "etcd",
    "clickhouse-serv", "influxd", "cockroach", "rabbitmq-server", "elasticsearch", "minio",
)  # fmt: skip
_SCRIPT_ENDINGS = ("", ".js", ".mjs", ".cjs", ".exe")


@dataclass(frozen=True, slots=True)
class Suspect:
    """A process with what is known of it so far."""

    vitals: Vitals
    row: ProcessRow | None
    binding: Binding | None

    unheard: Unheard | None = None  # a tool server to which nobody can speak, or the shell that waits for one

    @property
    def is_of_the_dead(self) -> bool:
        """Of a session proven dead, and a known kind of program."""
        return self.row is not None and self.binding is not None and self.binding.state is OwnerState.DEAD

    @property
    def is_left_over(self) -> bool:
        return self.is_of_the_dead or self.unheard is not None


@dataclass(frozen=True, slots=True)
class ProcessWorld:
    census: Census
    suspects: Mapping[int, Suspect]
    connections: Connections
    agents: tuple[str, ...]  # ids from the catalogue
    kept: KeptProcesses
    boot: str | None

    def is_left_over(self, pid: int) -> bool:
        suspect = self.suspects.get(pid)
        return suspect is not None and suspect.is_left_over


def reason_to_spare(suspect: Suspect, world: ProcessWorld) -> str | None:
    """Why this process is not ended even if its number is named."""
    return next((words for spare in _TABLE if (words := spare(suspect, world))), None)


def _of_another_user(suspect: Suspect, world: ProcessWorld) -> str | None:
    return "it belongs to another user" if suspect.vitals.uid != os.geteuid() else None


def _of_this_very_command(suspect: Suspect, world: ProcessWorld) -> str | None:
    mine = (os.getpid(), *world.census.ancestors(os.getpid()))
    return "this command runs in it" if suspect.vitals.pid in mine else None


def _on_the_keep_list(suspect: Suspect, world: ProcessWorld) -> str | None:
    one = suspect.vitals
    identity, command = f"pid:{one.pid}:{one.start}:{world.boot}", " ".join(one.arguments)
    if any(entry == identity or fnmatch.fnmatchcase(command, entry) for entry in world.kept.entries):
        return "it is on the keep list"
    return f"it may be on the keep list ({world.kept.unread})" if world.kept.unread else None


def _of_a_live_session(suspect: Suspect, world: ProcessWorld) -> str | None:
    binding = suspect.binding
    if binding is None or binding.state is not OwnerState.ALIVE:
        return None
    return f"its session is running ({binding.proof})"


def agent_named(suspect: Suspect, world: ProcessWorld) -> str | None:
    """Which agent this process is, by its very name."""
    return next((agent for agent in world.agents if _is_named(agent, suspect.vitals.arguments)), None)


def _an_agent_itself(suspect: Suspect, world: ProcessWorld) -> str | None:
    """By the very name; a looser likeness (`claude-mem/mcp-server.js`) counts only for what no row knows better."""
    words = tuple(os.fsencode(word) for word in suspect.vitals.arguments)
    for agent in world.agents:
        if _is_named(agent, suspect.vitals.arguments):
            return f"it is {agent} itself"
        if suspect.row is None and is_program_of(os.fsencode(agent), words):
            return f"it looks like {agent} itself"
    return None


def _is_named(agent: str, arguments: tuple[str, ...]) -> bool:
    # `node /usr/bin/claude`: the program may be an interpreter, and the agent is its script
    names = [word.rsplit("/", 1)[-1] for word in (arguments[:1] + arguments[1:2])]
    return any(name == agent + ending for name in names for ending in _SCRIPT_ENDINGS)


def _at_a_terminal(suspect: Suspect, world: ProcessWorld) -> str | None:
    return "it has a terminal" if suspect.vitals.has_terminal else None


def _in_a_multiplexer(suspect: Suspect, world: ProcessWorld) -> str | None:
    for pid in (suspect.vitals.pid, *world.census.ancestors(suspect.vitals.pid)):
        one = world.census.known.get(pid)
        if one is not None and one.name.lower().startswith(_MULTIPLEXERS):
            return f"it runs in {one.name.split(':')[0].lower()} (process {pid})"
    return None


def _above_somebody_else(suspect: Suspect, world: ProcessWorld) -> str | None:
    """What it started ends with it: each of these must be a left-over too."""
    for pid in world.census.descendants(suspect.vitals.pid):
        child = world.census.known.get(pid)
        if child is None:
            return f"its child {pid} cannot be inspected"
        if child.has_terminal:
            return f"its child {pid} ({child.name}) has a terminal"
        if suspect.is_left_over and not world.is_left_over(pid):
            return f"its child {pid} ({child.name}) is not a leftover of that session"
    return None


def _in_a_group_of_its_own(suspect: Suspect, world: ProcessWorld) -> str | None:
    """A service, container or scope that is not the agent's: somebody else looks after it."""
    cgroup, own = suspect.vitals.cgroup, suspect.binding.own_cgroups if suspect.binding else ()
    if cgroup in own:
        return None
    leaf = cgroup.rsplit("/", 1)[-1]
    if leaf.endswith(".service") and not (leaf.startswith("user@") and leaf.endswith(".service")):
        return f"it runs in the service {leaf}"
    if own and leaf.endswith(".scope"):
        return f"it runs in {leaf}, the agent ran elsewhere"
    if any(word in cgroup for word in ("docker", "libpod", "lxc", "kubepods", "containerd")) and own:
        return "it runs in a container, the agent ran elsewhere"
    return None


def _told_to_stay(suspect: Suspect, world: ProcessWorld) -> str | None:
    return "it was started with nohup, to outlive its shell" if suspect.vitals.ignores_hangup else None


def _a_database(suspect: Suspect, world: ProcessWorld) -> str | None:
    one = suspect.vitals
    program = one.arguments[0].rsplit("/", 1)[-1].rstrip(":") if one.arguments else one.name
    return f"{one.name} is a database" if one.name in _DATABASES or program in _DATABASES else None


def _serving_somebody(suspect: Suspect, world: ProcessWorld) -> str | None:
    for client in world.connections.clients(suspect.vitals.pid):
        if client is None:
            return "a client is connected to it"
        if not world.is_left_over(client):
            return f"process {client} is connected to it"
    return None


_TABLE: tuple[Callable[[Suspect, ProcessWorld], str | None], ...] = (
    _of_another_user,
    _of_this_very_command,
    _on_the_keep_list,
    _of_a_live_session,
    _an_agent_itself,
    _at_a_terminal,
    _in_a_multiplexer,
    _in_a_group_of_its_own,
    _told_to_stay,
    _a_database,
    _serving_somebody,
    _above_somebody_else,
)
