"""Who uses which path right now: one pass over /proc, then thousands of questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from ...model.sweep import Witness, WitnessKind
from . import mount_sources, namespaces, proc_links, procs, psutil_look, visibility

_ROUNDS = 4  # a process may fork and end while we look at another: look again for new numbers, this often
_MOST_PER_PATH = 16  # a library that a thousand processes map needs no thousand names

Key = tuple[str, str]  # (device, path within the file system)
Held = tuple[WitnessKind, int | None, str]  # how, by whom, the path or variable as seen


class Holders:
    """What one look over /proc saw. Paths are compared as (device, path within it), so names in other mount
    namespaces count too. Never seen: this process's own environment, and what it opened only to look at."""

    __slots__ = ("_arguments", "_below", "_commands", "_held", "_locate", "complete", "doubts", "processes", "sessions")

    def __init__(self, table: namespaces.MountTable | None) -> None:
        self._locate: Callable[[str], Key | None] | None = table.locate if table else None
        self._held: dict[Key, list[Held]] = {}
        self._below: dict[Key, list[Key]] | None = None
        self._commands: dict[int, str | None] = {}
        self._arguments: dict[int, tuple[bytes, ...]] | None = None
        self.processes: dict[int, procs.Process] = {}  # all that were there
        self.sessions: dict[str, dict[str, tuple[int, ...]]] = {}  # variable -> value -> pids that carry it
        self.complete = False  # everybody who could carry a session was seen
        self.doubts: tuple[str, ...] = ()  # why not, in words

    @classmethod
    def look(cls, session_variables: Iterable[str] = (), *, exclude: Collection[int] = ()) -> Holders:
        """One pass. `exclude`: our forked workers; this process itself needs no mention."""
        variables = tuple(session_variables)
        table, namespace = namespaces.MountTable.of(), namespaces.mount_namespace()
        holders = cls(table if namespace else None)
        if table is not None and namespace is not None:
            _Pass(holders, table, namespace, variables, frozenset(exclude)).run()
            return holders
        holders.doubts = ("this system has no /proc that tells of every process",)
        if psutil_look.look(holders, variables):
            holders._locate = psutil_look.locate
        return holders

    def within(self, path: str) -> tuple[Witness, ...] | None:
        """Everything that uses `path` or something below it; None if that could not be measured."""
        located = self._locate(path) if self._locate else None
        return None if located is None else self.within_located(*located)

    def within_located(self, device: str, fspath: str) -> tuple[Witness, ...]:
        if self._below is None:
            self._below = _index(self._held)
        keys = self._below.get((device, fspath), ())
        return tuple(self._witness(held) for key in keys for held in self._held[key])

    def carriers(self, variable: str, value: str) -> tuple[int, ...]:
        """The processes with this value in their environment."""
        return self.sessions.get(variable, {}).get(value, ())

    def command(self, pid: int) -> str | None:
        if pid not in self._commands:
            self._commands[pid] = procs.described(pid, self.processes.get(pid))
        return self._commands[pid]

    @property
    def arguments(self) -> dict[int, tuple[bytes, ...]]:
        """The command lines of all processes but this one and the kernel's, read when first asked for."""
        if self._arguments is None:
            programs = (one.pid for one in self.processes.values() if not one.is_kernel_thread)
            self._arguments = {pid: procs.arguments(pid) for pid in programs if pid != os.getpid()}
        return self._arguments

    def add(self, place: Key, held: Held) -> None:
        everyone = self._held.setdefault(place, [])
        if len(everyone) < _MOST_PER_PATH and held not in everyone:
            everyone.append(held)

    def _witness(self, held: Held) -> Witness:
        kind, pid, detail = held
        return Witness(kind, detail, pid, None if pid is None else self.command(pid))


def _index(held: Iterable[Key]) -> dict[Key, list[Key]]:
    """Every ancestor of every held path -> the held paths at or below it."""
    below: dict[Key, list[Key]] = {}
    for key in held:
        device, path = key
        while True:
            below.setdefault((device, path), []).append(key)
            if path in ("/", ""):
                break
            path = path[: path.rfind("/")] or "/"
    return below


class _Pass:
    """One walk over /proc, process by process."""

    def __init__(
        self,
        holders: Holders,
        table: namespaces.MountTable,
        namespace: str,
        variables: tuple[str, ...],
        exclude: frozenset[int],
    ) -> None:
        self.holders = holders
        self.variables = [(name, os.fsencode(name)) for name in variables]
        self.exclude = exclude
        self.own_pid = os.getpid()
        self.own_table, self.own_namespace = table, namespace
        self.tables = {namespace: table}  # mount namespace -> all of its mounts
        self.parts: dict[str, namespaces.MountTable] = {}  # the same for those of which only a part can be read
        self.resolved: dict[str, str] = {}
        self.unreadable: list[int] = []
        self.sessions: dict[str, dict[str, list[int]]] = {name: {} for name in variables}
        self.seen: dict[tuple[str, str], list[Held]] = {}  # (mount namespace, path) -> ...

    def run(self) -> None:
        looked: set[int] = set()
        for _ in range(_ROUNDS):
            fresh = set(procs.pids() or ()) - looked
            if not fresh:
                break
            looked |= fresh
            for pid in sorted(fresh):
                self.look_at(pid)
        self.locate_all()
        self.holders.sessions = {
            name: {value: tuple(pids) for value, pids in values.items()} for name, values in self.sessions.items()
        }
        self.holders.doubts = visibility.doubts(self.holders.processes, self.unreadable)
        self.holders.complete = not self.holders.doubts

    def look_at(self, pid: int) -> None:
        process = procs.process(pid)
        if process is None:
            return
        self.holders.processes[pid] = process
        if pid in self.exclude or process.is_kernel_thread:
            return
        try:
            self.look_into(pid, procs.living_thread(pid) if process.is_without_first_thread else pid)
        except (proc_links.Unreadable, PermissionError):
            self.unreadable.append(pid)
        except OSError:
            pass  # it ended while we looked

    def look_into(self, pid: int, thread: int) -> None:
        """`thread`: the one to ask; the first of a process may have ended while others go on."""
        namespace = proc_links.mount_namespace(thread)
        if namespace not in self.tables:
            self.read_mounts(namespace, thread)
        ours = pid == self.own_pid
        for kind, path in proc_links.held_paths(thread, ours=ours):
            self.note(namespace, path, (kind, pid, path))
        if ours:
            return
        environ = procs.environ(thread)
        if environ is None:
            return
        for variable, value in proc_links.temp_directories(environ):
            for path in self.readings(namespace, value):
                self.note(namespace, path, (WitnessKind.TMPDIR, pid, f"{variable}={value}"))
        for name, needle in self.variables:
            if needle in environ and (found := proc_links.variable_in(environ, needle)):
                self.sessions[name].setdefault(found, []).append(pid)

    def read_mounts(self, namespace: str, thread: int) -> None:
        """Only a process whose root is its namespace's shows all mounts in there; another a part."""
        root, table = os.readlink(f"/proc/{thread}/root"), namespaces.MountTable.of(thread)
        if table is not None and root == "/":
            self.tables[namespace] = table
        elif table is not None and namespace not in self.parts:
            self.parts[namespace] = table.below(root)

    def readings(self, namespace: str, value: str) -> set[str]:
        """A variable may name a directory through links; the kernel's own paths never do."""
        if namespace != self.own_namespace:
            return {value}
        if value not in self.resolved:
            self.resolved[value] = self.own_table.resolve(value)
        return {value, self.resolved[value]}

    def note(self, namespace: str, path: str, held: Held) -> None:
        everyone = self.seen.setdefault((namespace, path), [])
        if len(everyone) < _MOST_PER_PATH:
            everyone.append(held)

    def locate_all(self) -> None:
        """Turn names into places: each mount namespace's by its own table."""
        for (namespace, path), everyone in self.seen.items():
            if located := self.locate(namespace, path):
                for held in everyone:
                    self.holders.add(located, held)
        for table in {**self.parts, **self.tables}.values():
            for key, held in mount_sources.used_by(table):
                self.holders.add(key, held)

    def locate(self, namespace: str, path: str) -> Key | None:
        if table := self.tables.get(namespace):
            return table.locate(path)
        part = self.parts.get(namespace)
        # what lies outside the part is most likely mounted as it is for us; a wrong guess errs towards keeping
        return (part.locate(path) if part else None) or self.own_table.locate(path)
