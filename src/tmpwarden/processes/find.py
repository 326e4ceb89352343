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
from ..model.processes import Binding, Fate, Orphan
from ..model.sweep import Agent
from ..model.terms import OwnerState
from ..oskit.files import places
from ..oskit.proc import namespaces, procs, vitals
from ..oskit.proc.connections import Connections
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.open_files import open_files, written_by
from ..text import is_within
from .census import Census, Sessions
from .exclusions import ProcessWorld, Suspect, reason_to_spare

# Who adopts orphans: the user's systemd, or a reaper of a container. That alone says nothing.
_MANAGERS = ("systemd", "tini", "dumb-init", "catatonit", "docker-init")
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


def find(question: Inquiry) -> tuple[Orphan, ...]:
    """What may end first, then the biggest. Processes of live sessions are nobody's left-over and are not told of,
    unless they are named."""
    world = observe(question)
    told = [suspect for suspect in world.suspects.values() if _is_worth_telling(suspect, question)]
    table = MountTable.of()
    found = [_orphan(suspect, world, question.roots, table) for suspect in told]
    return tuple(sorted(found, key=lambda one: (one.fate is not Fate.END, -one.memory_bytes, one.pid)))


def observe(question: Inquiry) -> ProcessWorld:
    """Every process of ours (and those that are named), with its row and its session."""
    census = Census.take()
    own = census.own()
    sessions = Sessions(question.agents, process_rows.markers(), question.leases, own, question.home)
    suspects = {one.pid: Suspect(one, process_rows.row_of(one.arguments), sessions.binding_of(one)) for one in own}
    suspects |= {
        pid: replace(part, binding=whole) for pid, part in suspects.items() if (whole := _whole(part, suspects))
    }
    for pid in question.named - suspects.keys():
        if (one := census.known.get(pid)) is not None:
            suspects[pid] = Suspect(one, None, None)
    ids = tuple(agent.id for agent in question.agents if agent.session_env)  # the catalogue knows tools too
    return ProcessWorld(census, suspects, Connections(suspects), ids, question.kept, namespaces.boot_id())


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


def _is_worth_telling(suspect: Suspect, question: Inquiry) -> bool:
    if suspect.vitals.pid in question.named:
        return True
    binding = suspect.binding
    if binding is None or binding.state is OwnerState.ALIVE:
        return False
    return not question.sessions or binding.session in question.sessions


def _orphan(suspect: Suspect, world: ProcessWorld, roots: Sequence[str], table: MountTable | None) -> Orphan:
    one = suspect.vitals
    fate, reason = _fate(suspect, world, roots, table)
    started_s = procs.started_s(one.pid, one.start)
    held = {file.identity: file.allocated_bytes for file in open_files(one.pid, roots, table)}
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
    )


def _fate(suspect: Suspect, world: ProcessWorld, roots: Sequence[str], table: MountTable | None) -> tuple[Fate, str]:
    """`end` needs both: a session proven dead, and a row that knows the program. One of them is not enough."""
    if words := reason_to_spare(suspect, world):
        return Fate.NEVER, words
    binding, row = suspect.binding, suspect.row
    if binding is None:
        return Fate.KEEP, "nothing binds it to a session"
    if binding.state is not OwnerState.DEAD:
        return Fate.KEEP, f"its session is not proven dead: {binding.proof}"
    if row is None:
        return Fate.KEEP, f"its session is dead, but no known kind of left-over runs as {suspect.vitals.name}"
    if suspect.vitals.pid in world.connections.unreadable:
        return Fate.KEEP, "whether somebody is connected to it could not be measured"
    if parent := _parent_that_is_none(suspect, world):
        return Fate.KEEP, parent
    if work := _work_of_the_user(suspect, world, roots, table):
        return Fate.KEEP, work
    return Fate.END, f"{row.why}; {binding.proof} is gone ({binding.by})"


def _parent_that_is_none(suspect: Suspect, world: ProcessWorld) -> str | None:
    """A daemon that an agent happened to start hands its environment to every later child: whatever is between this
    process and init must be a left-over itself."""
    for pid in world.census.ancestors(suspect.vitals.pid):
        parent = world.census.known.get(pid)
        if parent is None or pid == 1 or parent.uid != os.geteuid() or parent.name in _MANAGERS:
            return None
        if not world.is_left_over(pid):
            return f"its parent {pid} ({parent.name}) is no left-over of that session"
    return None


def _work_of_the_user(
    suspect: Suspect, world: ProcessWorld, roots: Sequence[str], table: MountTable | None
) -> str | None:
    """A file that it, its children or the left-overs above it write, and that is no temp file, cache or log."""
    one, census = suspect.vitals, world.census
    above = [pid for pid in census.ancestors(one.pid) if world.is_left_over(pid)]
    for pid in (one.pid, *census.descendants(one.pid), *above):
        known = census.known.get(pid)
        who = "it" if pid == one.pid else f"process {pid} ({known.name if known else '?'})"
        try:
            if table is None:
                raise OSError("the mount table cannot be read")
            found = [path for path in written_by(pid, table) if not _is_its_own(path, roots)]
        except (OSError, KeyError, ValueError):
            return f"which files {who} writes could not be checked"
        if found:
            return f"{who} has {found[0]} open for writing"
    return None


def _is_its_own(path: str, roots: Sequence[str]) -> bool:
    is_queue = is_within(path, "/dev/mqueue")  # messages; /dev/shm is a temp root, or a place for files like any other
    if path.endswith(".log") or is_queue or any(is_within(path, root) for root in roots):
        return True
    return not _CACHES.isdisjoint(path.split("/")[:-1])


def look(
    roots: tuple[str, ...] = (),
    *,
    named: Iterable[int] = (),
    sessions: Iterable[str] = (),
    config_file: str | None = None,
) -> tuple[Orphan, ...]:
    """Every process that carries a session which is not alive, and those that are named."""
    return find(question(roots, named=named, sessions=sessions, config_file=config_file))


def question(
    roots: tuple[str, ...] = (),
    *,
    named: Iterable[int] = (),
    sessions: Iterable[str] = (),
    config_file: str | None = None,
) -> Inquiry:
    """What the catalogue, the leases and the keep list say."""
    found = tuple(places.temp_roots(roots))
    catalogue = load(overrides=load_settings(config_file).rows)
    return Inquiry(
        agents=catalogue.agents,
        leases=scratch.read_all(found),
        roots=found,
        home=places.home(),
        kept=kept_processes.read(),
        named=frozenset(named),
        sessions=frozenset(sessions),
    )
