"""The agents' own registries of live sessions, by the name that a catalogue file gives the format."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from ..lazy_dataclass import dataclass
from ..model.belongings import Lease
from ..model.terms import OwnerState
from ..oskit.files.own_files import note_unread, read_small
from ..oskit.proc import procs
from ..oskit.proc.holders import Holders
from ..oskit.proc.identity import identity_state
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.reach import Reach
from ..small_json import decode_object
from . import record
from .record import is_pid, whole_number


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """What an agent's own registry says: this process runs that session."""

    session: str
    pid: int
    start: int | None = None
    machine: str | None = None
    pidns: str | None = None
    recorded_s: float | None = None
    source: str = ""  # the file that says so
    mounts: tuple[str, ...] | None = None  # all that it uses of this machine's files; None: that is not known
    declared_state: OwnerState | None = None  # what somebody who must know says of it

    def state(self) -> OwnerState:
        if self.declared_state is not None:
            return self.declared_state
        return identity_state(
            self.pid, self.start, boot=None, machine=self.machine, pidns=self.pidns, recorded_s=self.recorded_s
        )


def read_object(path: str, unread: list[str]) -> tuple[dict[str, object], float] | None:
    """(JSON object, mtime) of a small file of ours. What may be one and cannot be read is added to `unread`."""
    text = read_small(path, record.LONGEST, unread=unread)
    fields = decode_object(text[0].decode("utf-8", "surrogateescape")) if text else None
    return None if text is None or fields is None else (fields, text[1])


def names_in(directory: str, unread: list[str]) -> list[str]:
    """What a directory holds; nothing where there is none. One that cannot be read is added to `unread`."""
    try:
        return sorted(os.listdir(directory))
    except ValueError:
        return []
    except OSError as error:
        note_unread(directory, error, unread)
        return []


# OpenCode's lock directories: `<state>/locks/<hash>.lock/meta.json` names the process that holds it, no session.


def _read_opencode(config_homes: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    folders = [f"{home}{below}/locks" for home in config_homes for below in ("", "/opencode")]
    return tuple(
        entry
        for folder in folders
        for name in names_in(folder, unread)
        if name.endswith(".lock") and (entry := _opencode_entry(f"{folder}/{name}/meta.json", unread))
    )


def _opencode_entry(path: str, unread: list[str]) -> RegistryEntry | None:
    entry = read_object(path, unread)
    if entry is None:
        return None
    fields, written_s = entry
    pid, host = fields.get("pid"), fields.get("hostname")
    if not is_pid(pid) or not isinstance(pid, int):
        return None
    machine = None if host in (None, os.uname().nodename) else f"host {host}"
    return RegistryEntry("", pid, machine=machine, recorded_s=written_s, source=path)


# GitHub Copilot's marks of live sessions: `<config home>/session-state/<session>/inuse.<pid>.lock`.


def _read_copilot(config_homes: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    entries = []
    for home in config_homes:
        for session in names_in(f"{home}/session-state", unread):
            folder = f"{home}/session-state/{session}"
            entries += [
                entry for name in names_in(folder, unread) if (entry := _copilot_entry(session, folder, name, unread))
            ]
    return tuple(entries)


def _copilot_entry(session: str, folder: str, name: str, unread: list[str]) -> RegistryEntry | None:
    """The lock of SIGKILLed processes stays behind: its date tells a recycled number from a live one."""
    words = name.split(".")
    if len(words) != 3 or (words[0], words[2]) != ("inuse", "lock") or not words[1].isdecimal():
        return None
    try:
        status = os.lstat(f"{folder}/{name}")
    except OSError as error:
        note_unread(f"{folder}/{name}", error, unread)
        return None
    if status.st_uid != os.geteuid() or not 0 < int(words[1]) < 1 << 22:
        return None
    return RegistryEntry(session, int(words[1]), recorded_s=status.st_mtime, source=f"{folder}/{name}")


# Claude Code's registry of live sessions: `<config home>/sessions/<pid>.json`, there while the process lives.


def _read_claude(config_homes: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    """Every entry that can be understood."""
    paths = [
        (name.removesuffix(".json"), f"{home}/sessions/{name}")
        for home in config_homes
        for name in names_in(f"{home}/sessions", unread)
        if name.endswith(".json")
    ]
    return tuple(entry for pid, path in paths if pid.isdecimal() and (entry := _claude_entry(int(pid), path, unread)))


def _claude_entry(pid: int, path: str, unread: list[str]) -> RegistryEntry | None:
    entry = read_object(path, unread)
    fields, written_s = entry or ({}, 0.0)
    session = fields.get("sessionId")
    if fields.get("pid", pid) != pid or not isinstance(session, str) or not session:
        if procs.living(pid) is not None and procs.may_be_ours(pid):  # half written just now, or of a version to come
            unread.append(f"{path} does not say which session process {pid} runs")
        return None
    machine, pidns = _domain(fields.get("pidDomain"))
    return RegistryEntry(
        session=session,
        pid=pid,
        start=_start(fields.get("procStart")),
        machine=machine,
        pidns=pidns,
        recorded_s=written_s,
        source=path,
    )


def _start(value: object) -> int | None:
    """Start ticks; the CLI writes them as text."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    return whole_number(value)


def _domain(value: object) -> tuple[str | None, str | None]:
    """(machine id, pid namespace) of `linux:<machine-id>:pid:[4026531836]`; another system is another machine."""
    if not isinstance(value, str):
        return None, None
    system, _, rest = value.partition(":")
    machine, _, pidns = rest.partition(":")
    if system != "linux":
        return value, None
    return machine or None, pidns or None


@dataclass(frozen=True, slots=True)
class Format:
    """One reader and where its registries may be."""

    read: Callable[[Iterable[str], list[str]], tuple[RegistryEntry, ...]]
    directory: str  # below a home
    variables: tuple[str, ...]  # that name another place


# Containers that run on this machine: for agents whose sessions are such.


def _read_containers(_: Iterable[str], unread: list[str]) -> tuple[RegistryEntry, ...]:
    """One whose engine says what it has mounted is asked about that; any other may be of any session."""
    from ..oskit.proc import containers  # sockets and HTTP, for the few who have such agents

    containers_ = containers.look()
    if containers_ is None:
        unread.append("processes cannot be listed, so a container may run")
        return ()
    declared = [
        RegistryEntry(
            "",
            each.pid,
            machine=_A_CONTAINER,
            source=f"container {each.name}",
            mounts=each.mounts,
            declared_state=OwnerState.DEAD if each.has_ended else OwnerState.ALIVE,
        )
        for each in containers_.asked
    ]
    unasked = [
        RegistryEntry("", each.pid, machine=_A_CONTAINER, source=f"container of {each.command} ({each.pid})")
        for each in containers_.unasked
    ]
    return (*declared, *unasked)


_A_CONTAINER = "a container"


FORMATS = {
    "containers": Format(_read_containers, "", ()),
    "claude-sessions": Format(_read_claude, ".claude", ("CLAUDE_CONFIG_DIR",)),
    "copilot-locks": Format(_read_copilot, ".copilot", ("COPILOT_HOME",)),
    "opencode-locks": Format(
        _read_opencode, ".local/state/opencode", ("XDG_STATE_HOME",)
    ),  # the variable names the directory that holds `opencode`,
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
    lease_homes = [lease.config_home for lease in leases if lease.config_home]
    homes = holders.sessions.get("HOME", {})
    seen = [f"{other}/{form.directory}" for other, pids in homes.items() if not set(relatives).isdisjoint(pids)]
    seen += [value for name in form.variables for value in holders.sessions.get(name, ())]
    return tuple(dict.fromkeys(path.rstrip("/") for path in (*own, *lease_homes, *seen) if path.startswith("/")))


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
            unread.append(f"the file system mounted at {point} does not respond")
        else:
            answering.append(home)
    return FORMATS[registry].read(answering, unread)
