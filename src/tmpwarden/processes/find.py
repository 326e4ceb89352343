"""Find the processes that carry a session, and say of each whether it may end. Looks only."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence

from ..catalogue import process_rows
from ..catalogue.load import load
from ..catalogue.settings import load_settings
from ..lazy_dataclass import dataclass, field, replace
from ..leases import kept_processes, scratch
from ..leases.kept_processes import KeptProcesses
from ..model.belongings import Lease
from ..model.processes import Binding, Fate, Orphan, Unheard
from ..model.sweep import Agent
from ..model.terms import OwnerState
from ..oskit.files import places
from ..oskit.proc import namespaces, procs, vitals
from ..oskit.proc.connections import Connections
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.open_files import open_files, written_by
from ..oskit.proc.vitals import Vitals
from ..text import duration, is_within
from . import unheard
from .census import Census, Sessions
from .exclusions import ProcessWorld, Suspect, agent_named, reason_to_spare

# Who adopts orphans: the user's systemd, or a reaper of a container. That alone says nothing.
_MANAGERS = ("systemd", "tini", "dumb-init", "catatonit", "docker-init")
_CROWD = 10  # tool servers with the same command line: fewer may be one for each session that their parent serves
# Directories where servers and build tools write for themselves. Not `dist` or `build`: people write there, too.
_CACHES = frozenset((
    ".cache", ".npm", ".next", ".nuxt", ".vite", ".turbo", ".parcel-cache", ".svelte-kit", ".astro", ".angular",
    "node_modules", "__pycache__",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Inquiry:
    """Everything a look needs to know beside /proc."""

    agents: tuple[Agent, ...]
    leases: tuple[Lease, ...]
    roots: tuple[str, ...]
    home: str
    kept: KeptProcesses = KeptProcesses()
    named: frozenset[int] = frozenset()  # processes that the user named: told of even if nothing binds them
    sessions: frozenset[str] = field(default_factory=frozenset)  # only these; empty: all
    now_ns: int = 0
    may_note: bool = False  # write down what is seen for the first time


def find(question: Inquiry) -> tuple[Orphan, ...]:
    """What may end first, then the biggest. Processes of live sessions are nobody's left-over and are not told of,
    unless they are named."""
    world = observe(question)
    crowds = _crowds(world)
    reported = [suspect for suspect in world.suspects.values() if _is_worth_telling(suspect, world, question, crowds)]
    nobody_speaks = {pid: one.unheard for pid, one in world.suspects.items() if one.unheard is not None}
    first = unheard.since(nobody_speaks, world.boot, question.now_ns, may_note=question.may_note)
    scene = _Scene(
        world, question.roots, MountTable.of(), unheard_since_ns=first, crowds=crowds, now_ns=question.now_ns
    )
    orphans = [_orphan(suspect, scene) for suspect in reported]
    return tuple(sorted(orphans, key=lambda one: (one.fate is not Fate.END, -one.memory_bytes, one.pid)))


def observe(question: Inquiry) -> ProcessWorld:
    """Every process of ours (and those that are named), with its row and its session."""
    census = Census.take()
    own = census.own()
    sessions = Sessions(question.agents, process_rows.markers(), question.leases, own, question.home)
    suspects = {one.pid: Suspect(one, process_rows.row_of(one.arguments), sessions.binding_of(one)) for one in own}
    suspects |= {
        pid: replace(part, binding=whole) for pid, part in suspects.items() if (whole := _whole(part, suspects))
    }
    suspects = _with_the_unheard(suspects)
    for pid in question.named - suspects.keys():
        if (one := census.known.get(pid)) is not None:
            suspects[pid] = Suspect(one, None, None)
    ids = tuple(agent.id for agent in question.agents if agent.session_env)  # the catalogue knows tools too
    return ProcessWorld(
        census, suspects, connections=Connections(suspects), agents=ids, kept=question.kept, boot=namespaces.boot_id()
    )


def _whole(part: Suspect, suspects: Mapping[int, Suspect]) -> Binding | None:
    """Whose a part of a program is that carries nothing itself: a browser's renderers write over their environment, and
    are the session's that the browser is. Each process between them has to be such a part."""
    above: Suspect | None = part
    while above is not None and above.binding is None and above.row is not None and above.row.part_of is not None:
        kind, pid = above.row.part_of, above.vitals.parent
        above = suspects.get(pid)
        if above is None or above.row is None or above.row.kind != kind:
            return None
    if above is None or above is part or above.binding is None:
        return None
    return replace(above.binding, by=f"a part of process {above.vitals.pid}; {above.binding.by}")


def _with_the_unheard(suspects: Mapping[int, Suspect]) -> dict[int, Suspect]:
    """Tool servers whose input is closed, and the shells with the same input that wait for them (`npm exec` starts a
    shell that starts the server)."""
    result = dict(suspects)
    for pid, one in suspects.items():
        is_server = one.row is not None and one.row.kind == "mcp"
        if is_server and not _is_of_the_living(one) and (name := unheard.closed_input(one.vitals)):
            result[pid] = replace(one, unheard=Unheard(pid, one.vitals.start, name))
    inputs = {one.unheard.input for one in result.values() if one.unheard is not None}
    for pid, one in result.items():
        if one.row is not None and one.row.kind == "shell" and inputs and not _is_of_the_living(one):
            name = unheard.closed_input(one.vitals)
            if name in inputs:
                result[pid] = replace(one, unheard=Unheard(pid, one.vitals.start, name))
    return result


def _is_of_the_living(suspect: Suspect) -> bool:
    return suspect.binding is not None and suspect.binding.state is OwnerState.ALIVE


def _is_worth_telling(suspect: Suspect, world: ProcessWorld, question: Inquiry, crowds: Mapping[int, int]) -> bool:
    if suspect.vitals.pid in question.named:
        return True
    if _deserted(suspect, world):
        return not question.sessions
    if _is_of_the_living(suspect):
        return False
    if suspect.binding is not None:
        return not question.sessions or suspect.binding.session in question.sessions
    is_one_of_many = suspect.vitals.pid in crowds
    return not question.sessions and (is_one_of_many or suspect.unheard is not None or _looks_left(suspect, world))


def _crowds(world: ProcessWorld) -> dict[int, int]:
    """How many there are of a tool server that no session binds and whose parent runs, by the oldest of them. A gateway
    that starts one for each session and forgets it is the only one to know which it still uses: told, never ended."""
    alike: dict[tuple[int, tuple[str, ...]], list[Vitals]] = {}
    for suspect in world.suspects.values():
        one, row = suspect.vitals, suspect.row
        if row is not None and row.kind == "mcp" and suspect.binding is None and not _is_adopted(one.parent, world):
            alike.setdefault((one.parent, one.arguments), []).append(one)
    crowded = [each for each in alike.values() if len(each) >= _CROWD]
    return {min(each, key=lambda one: (one.start, one.pid)).pid: len(each) for each in crowded}


def _deserted(suspect: Suspect, world: ProcessWorld) -> str:
    """Why nobody can speak any more to this agent, whose parent is gone; "" where it is none, or somebody can. It may
    be at work all the same, so it is told and left to the user."""
    if not _is_adopted(suspect.vitals.parent, world) or agent_named(suspect, world) is None:
        return ""
    return unheard.lost_input(suspect.vitals)


def _looks_left(suspect: Suspect, world: ProcessWorld) -> bool:
    """A kind of program that agents leave, whose parent is gone and that nothing binds to a session: a browser without
    a window, or one whose input is closed. Told, and left to the user."""
    row, one = suspect.row, suspect.vitals
    if row is None or row.part_of is not None or not _is_adopted(one.parent, world) or reason_to_spare(suspect, world):
        return False
    return row.kind == "browser" or unheard.closed_input(one) is not None


def _is_adopted(parent: int, world: ProcessWorld) -> bool:
    known = world.census.known.get(parent)
    return parent == 1 or (known is not None and known.name in _MANAGERS)


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a verdict on one process hangs on, beside the process."""

    world: ProcessWorld
    roots: tuple[str, ...]
    table: MountTable | None
    unheard_since_ns: Mapping[int, int]
    crowds: Mapping[int, int]
    now_ns: int


def _orphan(suspect: Suspect, scene: _Scene) -> Orphan:
    one, world = suspect.vitals, scene.world
    fate, reason = _fate(suspect, scene)
    started_s = procs.started_s(one.pid, one.start)
    held = {file.identity: file.allocated_bytes for file in open_files(one.pid, scene.roots, scene.table)}
    return Orphan(
        pid=one.pid,
        start=one.start,
        command=" ".join(one.arguments) or one.name,
        age_s=max(0.0, time.time() - started_s) if started_s is not None else 0.0,
        cpu_s=one.cpu_s,
        memory_bytes=vitals.proportional_bytes(one.pid) or one.memory_bytes,
        ports=world.connections.ports(one.pid),
        held_bytes=sum(held.values()),
        row=suspect.row,
        binding=suspect.binding,
        fate=fate,
        reason=reason,
        is_unheard=suspect.unheard is not None,
    )


def _fate(suspect: Suspect, scene: _Scene) -> tuple[Fate, str]:
    """`end` needs both: a session proven dead, and a row that knows the program. One of them is not enough. In place of
    the first counts that nobody can ever speak to a tool server again."""
    world = scene.world
    if words := reason_to_spare(suspect, world):
        if lost := _deserted(suspect, world):
            words = f"nobody can speak to this agent any more: {lost}. If it is not at work: kill {suspect.vitals.pid}"
        return Fate.NEVER, _one_of_many(suspect, scene) or words
    binding, row = suspect.binding, suspect.row
    if suspect.unheard is not None and not suspect.is_of_the_dead:
        if words := _reason_to_wait(suspect, scene):
            return Fate.KEEP, words
        return Fate.END, "nothing can reach it again: the other end of its standard input is closed"
    if binding is None:
        return Fate.KEEP, _one_of_many(suspect, scene) or _what_is_known(suspect, world)
    if binding.state is not OwnerState.DEAD:
        return Fate.KEEP, f"it is not certain that its session has ended: {binding.proof}"
    if row is None:
        return Fate.KEEP, f"its session has ended, but this is not a known kind of leftover: {suspect.vitals.name}"
    if suspect.vitals.pid in world.connections.unreadable:
        return Fate.KEEP, "it could not be checked whether a client is connected to it"
    if parent := _parent_that_is_none(suspect, world):
        return Fate.KEEP, parent
    if work := _work_of_the_user(suspect, scene):
        return Fate.KEEP, work
    return Fate.END, f"{row.why}; {binding.proof} is gone ({binding.by})"


def _reason_to_wait(suspect: Suspect, scene: _Scene) -> str | None:
    """Why a tool server to which nobody can speak is not ended yet, or not at all unless it is named."""
    pid, world = suspect.vitals.pid, scene.world
    closed = "nothing can reach it any more, but"
    if pid in world.connections.unreadable:
        return f"{closed} whether it listens somewhere could not be checked"
    if world.connections.listens(pid):
        return f"{closed} it listens on a socket"
    if parent := _parent_that_lives(suspect, world):
        return f"{closed} {parent}"
    if not unheard.has_no_listener(suspect.vitals):
        return f"{closed} its output may still be read"
    if work := _work_of_the_user(suspect, scene):
        return f"{closed} {work}"
    first = scene.unheard_since_ns.get(pid)
    if first is None or scene.now_ns - first < unheard.BETWEEN_LOOKS_NS:
        left_s = unheard.BETWEEN_LOOKS_NS / 1e9 - (scene.now_ns - first) / 1e9 if first is not None else 600.0
        return f"{closed} that is certain only when it is seen again in {duration(left_s)}"
    return None


def _parent_that_lives(suspect: Suspect, world: ProcessWorld) -> str | None:
    """Who started it must be gone: above it stand only others of its kind, and then who adopts orphans."""
    for pid in world.census.ancestors(suspect.vitals.pid):
        if _is_adopted(pid, world):
            return None
        parent = world.suspects.get(pid)
        if parent is None or parent.unheard is None:
            known = world.census.known.get(pid)
            return f"its parent {pid} ({known.name if known else '?'}) still runs"
    return "its parent could not be determined"


def _one_of_many(suspect: Suspect, scene: _Scene) -> str:
    one, known = suspect.vitals, scene.world.census.known
    if (count := scene.crowds.get(one.pid)) is None:
        return ""
    name = known[one.parent].name if one.parent in known else "?"
    who = f"its parent {one.parent} ({name})"
    return f"{who} still runs and has {count} of these; if it forgot them, restarting it should end them"


def _what_is_known(suspect: Suspect, world: ProcessWorld) -> str:
    one, row = suspect.vitals, suspect.row
    if row is None or not _is_adopted(one.parent, world):
        return "it does not belong to any known session"
    closed = ", and its standard input is closed" if unheard.closed_input(one) else ""
    return f"its parent has ended{closed}, but it does not belong to any known session"


def _parent_that_is_none(suspect: Suspect, world: ProcessWorld) -> str | None:
    """A daemon that an agent happened to start hands its environment to every later child: whatever is between this
    process and init must be a left-over itself."""
    for pid in world.census.ancestors(suspect.vitals.pid):
        parent = world.census.known.get(pid)
        if parent is None or pid == 1 or parent.uid != os.geteuid() or parent.name in _MANAGERS:
            return None
        if not world.is_left_over(pid):
            return f"its parent {pid} ({parent.name}) is not a leftover of that session"
    return None


def _work_of_the_user(suspect: Suspect, scene: _Scene) -> str | None:
    """A file that it, its children or the left-overs above it write, and that is no temp file, cache or log."""
    one, world, roots, table = suspect.vitals, scene.world, scene.roots, scene.table
    census = world.census
    above = [pid for pid in census.ancestors(one.pid) if world.is_left_over(pid)]
    for pid in (one.pid, *census.descendants(one.pid), *above):
        known = census.known.get(pid)
        who = "it" if pid == one.pid else f"process {pid} ({known.name if known else '?'})"
        try:
            if table is None:
                raise OSError("the mount table cannot be read")
            paths = [path for path in written_by(pid, table) if not _is_its_own(path, roots)]
        except (OSError, KeyError, ValueError):
            return f"which files {who} writes could not be checked"
        if paths:
            return f"{who} has {paths[0]} open for writing"
    return None


def _is_its_own(path: str, roots: Sequence[str]) -> bool:
    is_queue = is_within(path, "/dev/mqueue")  # messages; /dev/shm is a temp root, or a place for files like any other
    if path.endswith(".log") or is_queue or any(is_within(path, root) for root in roots):
        return True
    return not _CACHES.isdisjoint(path.split("/")[:-1])


def look(
    roots: tuple[str, ...] = (),
    *,
    pids: Iterable[int] = (),
    sessions: Iterable[str] = (),
    config_file: str | None = None,
    now_ns: int | None = None,
    may_note: bool = True,
) -> tuple[Orphan, ...]:
    """Every process that carries a session which is not alive, tool servers to which nobody can speak, and those that
    are named. What is seen for the first time is noted: the next look may believe it."""
    inquiry = question(roots, pids=pids, sessions=sessions, config_file=config_file)
    return find(replace(inquiry, now_ns=time.time_ns() if now_ns is None else now_ns, may_note=may_note))


def question(
    roots: tuple[str, ...] = (),
    *,
    pids: Iterable[int] = (),
    sessions: Iterable[str] = (),
    config_file: str | None = None,
) -> Inquiry:
    """What the catalogue, the leases and the keep list say."""
    temp_roots = tuple(places.temp_roots(roots))
    catalogue = load(overrides=load_settings(config_file).rows)
    return Inquiry(
        agents=catalogue.agents,
        leases=scratch.read_all(temp_roots),
        roots=temp_roots,
        home=places.home(),
        kept=kept_processes.read(),
        named=frozenset(pids),
        sessions=frozenset(sessions),
    )
