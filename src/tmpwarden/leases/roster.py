"""The sessions of one agent, as far as anything tells of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cached_property

from ..lazy_dataclass import dataclass
from ..model.answers import Held, Nobody, NotMeasured
from ..model.belongings import Lease
from ..model.sweep import Owner, Witness
from ..model.terms import OwnerState, WitnessKind
from ..oskit.proc import environs, procs
from ..oskit.proc.holders import Holders
from ..oskit.proc.identity import CLOCK_SLACK_S
from ..oskit.proc.namespaces import MountTable
from ..text import is_within
from . import registries
from .lease_state import live_pids, state_of
from .registries import RegistryEntry


@dataclass(frozen=True, slots=True)
class Living:
    """A session that lives or may live, or a process of the agent whose session is not known."""

    session: str | None
    pid: int
    since_ns: int | None  # never later than its start; None: not measured, so it may be older than anything
    detail: str
    mounts: tuple[str, ...] | None = None  # all that it uses of this machine's files; None: that is not known


class Roster:
    """Reads the agent's registry at the first question, then answers from memory."""

    def __init__(
        self,
        agent: str,
        session_env: tuple[str, ...],
        registry: str | None,
        leases: list[Lease],
        holders: Holders,
        home: str,
        unread: Iterable[str] = (),
    ) -> None:
        self.agent, self.session_env, self.registry = agent, session_env, registry
        self.leases, self.holders, self.home = leases, holders, home
        self.unread = list(unread)  # records that may name a live session, and why they could not be read
        self._near: dict[str, list[Living]] = {}  # strangers by the root that they may use
        self._last: tuple[str, tuple[Witness, ...]] | None = None  # a hearing asks twice
        self._nobodies: dict[str, tuple[OwnerState, str]] = {}  # by root
        self._leases_of: dict[str, list[Lease]] = {}
        for lease in leases:
            self._leases_of.setdefault(lease.session, []).append(lease)

    @cached_property
    def entries(self) -> tuple[tuple[RegistryEntry, OwnerState], ...]:
        """What the agent's registry says, and whether it is true."""
        if self.registry not in registries.FORMATS:
            return ()
        carriers = [self.holders.sessions.get(variable, {}).values() for variable in self.session_env]
        relatives = {*self._running, *(pid for groups in carriers for pids in groups for pid in pids)}
        homes = registries.config_homes(self.registry, self.home, self.leases, self.holders, relatives)
        read_entries = registries.read(self.registry, homes, self.unread)
        return tuple((entry, registries.state_of(entry)) for entry in read_entries)

    @cached_property
    def _entries_of(self) -> dict[str, list[tuple[RegistryEntry, OwnerState]]]:
        """By session: a hundred thousand units ask."""
        entries_of: dict[str, list[tuple[RegistryEntry, OwnerState]]] = {}
        for entry, state in self.entries:
            entries_of.setdefault(entry.session, []).append((entry, state))
        return entries_of

    @cached_property
    def _running(self) -> tuple[int, ...]:
        return running(self.agent, self.holders.arguments)

    @cached_property
    def strangers(self) -> tuple[int, ...]:
        """Processes that look like this agent and that no record explains: any session may be theirs."""
        known = self.holders.processes
        owners = [entry.pid for entry, state in self.entries if state is OwnerState.ALIVE and entry.pid]
        owners += [pid for lease in self.leases for pid in live_pids(lease)]
        return unaccounted(self._running, owners, known)

    @cached_property
    def known(self) -> tuple[Living, ...]:
        """Every session that lives or may live, by registry, lease and environment."""
        return (*self._by_registry(), *self._by_lease(), *self._by_environment())

    def owner(self, session: str, root: str) -> Owner:
        """Alive by any witness; dead if records name it and all of their processes are gone; else absent or unknown."""
        if session not in self._last_seen_of:
            self._last = session, ()
            return self._nobodys(session, root)
        witnesses = self._witnesses_of(session)
        self._last = session, witnesses
        if witnesses:
            return Owner(OwnerState.ALIVE, witnesses[0].pid, session, witnesses[0].detail)
        records = [(state, entry.pid, entry.source) for entry, state in self._entries_of.get(session, ())]
        records += [(state_of(lease), lease.pid, "lease") for lease in self._leases_of.get(session, ())]
        for wanted in (OwnerState.UNKNOWN, OwnerState.DEAD):
            for state, pid, source in records:
                if state is wanted:
                    return Owner(state, pid, session, source)
        return self._nobodys(session, root)

    @cached_property
    def _last_seen_of(self) -> frozenset[str]:
        """The sessions that any record or environment names: of most units none does."""
        carriers = (self.holders.sessions.get(variable, {}) for variable in self.session_env)
        return frozenset().union(self._entries_of, self._leases_of, *carriers)

    def _nobodys(self, session: str, root: str) -> Owner:
        """Of a session that nobody names: the same is true of all of them."""
        if root not in self._nobodies:
            self._nobodies[root] = self._nobody(root)
        state, detail = self._nobodies[root]
        return Owner(state, None, session, detail)

    def any_owner(self, newest_ns: int | None, root: str, path: str = "/") -> Owner:
        """For a unit at `path` that names only its agent: unknown while a session lives that was there before its last
        change. A container of which we know what it has mounted is a session of that alone."""
        used_by = [entry for entry in self.entries if any(is_within(mount, path) for mount in entry[0].mounts or ())]
        for entry, state in used_by:
            if state is not OwnerState.DEAD:
                return Owner(state, entry.pid or None, None, f"{entry.source} has it mounted")
        for one in (*self.known, *self._by_name(root)):
            if one.mounts is not None and not any(is_within(path, mount) for mount in one.mounts):
                continue
            if newest_ns is None or one.since_ns is None or one.since_ns <= newest_ns:
                return Owner(OwnerState.UNKNOWN, one.pid, one.session, f"a session may be running: {one.detail}")
        state, detail = self._nobody(None)
        if used_by and state is OwnerState.ABSENT:
            return Owner(OwnerState.DEAD, detail=f"{used_by[0][0].source}, which had it mounted, has ended")
        return Owner(state, detail=detail)

    def witnesses_of(self, session: str) -> tuple[Witness, ...]:
        """Everything that names a live process for this session."""
        if self._last is not None and self._last[0] == session:
            witnesses, self._last = self._last[1], None
            return witnesses
        return self._witnesses_of(session)

    def _witnesses_of(self, session: str) -> tuple[Witness, ...]:
        witnesses = [
            self._witness(WitnessKind.REGISTRY, entry.source, entry.pid)
            for entry, state in self._entries_of.get(session, ())
            if state is OwnerState.ALIVE
        ]
        witnesses += [
            self._witness(WitnessKind.LEASE, f"{lease.path}.lease" if lease.path else "what it made by name", pid)
            for lease in self._leases_of.get(session, ())
            for pid in live_pids(lease)
        ]
        return (*witnesses, *self.carriers_of(session))

    def carriers_of(self, session: str) -> tuple[Witness, ...]:
        """Processes with this session id in their environment."""
        carriers = [self.holders.carriers(variable, session) for variable in self.session_env]
        return tuple(witness for answer in carriers if isinstance(answer, Held) for witness in answer.by)

    def witnesses_of_pid(self, pid: int) -> tuple[Witness, ...]:
        return tuple(
            self._witness(WitnessKind.REGISTRY, entry.source, pid)
            for entry, state in self.entries
            if entry.pid == pid and state is OwnerState.ALIVE
        )

    def _witness(self, kind: WitnessKind, detail: str, pid: int) -> Witness:
        return Witness(kind, detail, pid, self.holders.command(pid))

    def _nobody(self, root: str | None) -> tuple[OwnerState, str]:
        """Absent, if we can see everybody who might be it. `root`: strangers that use it are a doubt."""
        if self.registry is not None and self.registry not in registries.FORMATS:
            return OwnerState.UNKNOWN, f"no reader for the registry format {self.registry}"
        near = [] if root is None else self._by_name(root)  # reads command lines, which may leave a doubt
        match self.holders.unseen:
            case NotMeasured(why):
                return OwnerState.UNKNOWN, why
            case Nobody() if self.unread:
                return OwnerState.UNKNOWN, self.unread[0]
            case Nobody() if near:
                return OwnerState.UNKNOWN, f"{near[0].detail} may run it"
            case Nobody():
                return OwnerState.ABSENT, "no process belongs to it"

    def _by_registry(self) -> list[Living]:
        return [
            Living(
                session=entry.session or None,
                pid=entry.pid,
                since_ns=self._since_ns(state, entry.pid, entry.recorded_s),
                detail=entry.source,
                mounts=entry.mounts,
            )
            for entry, state in self.entries
            if state is not OwnerState.DEAD
        ]

    def _by_lease(self) -> list[Living]:
        return [
            Living(lease.session, lease.pid, self._since_ns(state, lease.pid, lease.created), f"{lease.path}.lease")
            for lease in self.leases
            if (state := state_of(lease)) is not OwnerState.DEAD
        ]

    def _by_environment(self) -> list[Living]:
        """A command's start tells nothing about its session's, so there is no date."""
        explained = {one.session for one in (*self._by_registry(), *self._by_lease())}
        return [
            Living(session, pids[0], None, f"{variable}={session}")
            for variable in self.session_env
            for session, pids in self.holders.sessions.get(variable, {}).items()
            if session not in explained
        ]

    def _by_name(self, root: str) -> list[Living]:
        if root not in self._near:
            self._near[root] = [
                Living(None, pid, self._since_ns(OwnerState.ALIVE, pid, None), f"process {pid}")
                for pid in self.strangers
                if may_write_below(pid, root)
            ]
        return self._near[root]

    def _since_ns(self, state: OwnerState, pid: int, recorded_s: float | None) -> int | None:
        process = self.holders.processes.get(pid)
        started_s = procs.started_s(process.pid, process.start) if process else None
        if state is not OwnerState.ALIVE or started_s is None:
            return None
        return int((min(started_s, recorded_s or started_s) - CLOCK_SLACK_S) * 1e9)


# Which running processes are an agent, told by the program they run. Used only to doubt: a name proves nothing, but
# as long as such a process lives we do not say that nobody carries its session.

_INTERPRETERS = (b"node", b"bun", b"deno", b"npx", b"bunx", b"python", b"uv", b"uvx")


def running(agent: str, commands: Mapping[int, tuple[bytes, ...]]) -> tuple[int, ...]:
    """Processes of this user whose program is called like the agent. `commands`: every process's command line."""
    word = os.fsencode(agent)
    alike = (pid for pid, arguments in commands.items() if is_program_of(word, arguments))
    return tuple(pid for pid in alike if procs.may_be_ours(pid))


def is_program_of(word: bytes, arguments: tuple[bytes, ...]) -> bool:
    """`codex`, `/opt/bin/codex`, `node .../@google/gemini-cli/index.js`: the program, or an interpreter's script."""
    if not arguments:
        return False
    program = arguments[0].rsplit(b"/", 1)[-1]
    if _is_called(word, program):
        return True
    if not program.startswith(_INTERPRETERS):
        return False
    script = next((argument for argument in arguments[1:] if not argument.startswith(b"-")), b"")
    *directories, file = script.split(b"/")[-5:]
    scratch = b"%b-%d" % (word, os.geteuid())  # claude-1000 holds every script that Claude writes for itself
    return _is_called(word, file) or any(_is_called(word, part) for part in directories if part != scratch)


def _is_called(word: bytes, name: bytes) -> bool:
    """`codex`, `codex.js`, `codex-cli`; not `codexology`."""
    return name == word or (name.startswith(word) and name[len(word) : len(word) + 1] in (b"-", b".", b"_", b" "))


def may_write_below(pid: int, root: str) -> bool:
    """Whether this agent's temporary files or its home lie at or below `root`, by the environment it started with."""
    try:
        environ = procs.environment(pid)
    except procs.ENDED:
        return bool(procs.other_threads(pid))  # its first thread may have ended while others go on
    except OSError:
        return True  # it hides, or is just being loaded
    places = ["/tmp", *(value for _, value in environs.temp_directories(environ))]
    places += [home for home in [environs.variable_in(environ, b"HOME")] if home]
    table = MountTable.of()
    return table is None or any(is_within(table.resolve(place).rstrip("/"), root) for place in places)


def unaccounted(pids: Iterable[int], owners: Iterable[int], known: dict[int, procs.Process]) -> tuple[int, ...]:
    """Those that are neither a known owner nor its launcher nor its helper."""
    accounted = set(owners)
    family = accounted.union(*(procs.ancestors(pid, known) for pid in accounted)) if accounted else set()
    return tuple(pid for pid in pids if pid not in family and accounted.isdisjoint(procs.ancestors(pid, known)))
