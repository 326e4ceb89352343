"""One walk over /proc, process by process: what each holds, as places, and who would not tell."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator

from ....model.terms import WitnessKind
from ...proc import namespaces, procs
from ...proc.environs import temp_directories, variable_in
from ...proc.holders import MOST_PER_PATH, Key, Use
from ...proc.namespaces import Mount, MountTable
from . import detached, links, visibility
from .mounting import unescape
from .proof import BLIND as BLIND
from .reading import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...proc.holders import Holders

_ROUNDS = 4  # a process may fork and end while we look at another: look again for new numbers, this often
# Between tries, for one whose program is being loaded. At five processes a core that took up to 54 ms in 40 seconds of
# watching, and now and then more than an eighth of a second: then a clean kept what nobody used.
_PAUSES_S = 0.002, 0.02, 0.1, 0.4, 0.0

_LAYERS = ("lowerdir=", "lowerdir+=", "upperdir=", "workdir=")
_LOOPS = "/sys/block"
IS_ASKABLE = True  # the kernel knows of every process that has a file open


def look(
    holders: Holders, variables: tuple[str, ...], exclude: frozenset[int], *, outside: bool, closely: bool, uses: bool
) -> bool:
    """Fill it; False where nothing can be seen."""
    table, namespace = MountTable.of(), namespaces.mount_namespace()
    if table is None or namespace is None:
        return False
    holders.located_by(table.locate)
    Pass(holders, table, namespace, variables, exclude, closely=closely, uses=uses).look(outside)
    return True


class Pass:
    """One walk over /proc, process by process."""

    def __init__(
        self,
        holders: Holders,
        table: namespaces.MountTable,
        namespace: str,
        variables: tuple[str, ...],
        exclude: frozenset[int],
        *,
        closely: bool = False,
        uses: bool = True,
    ) -> None:
        self.holders = holders
        self.closely, self.uses = closely, uses
        self.suspects = detached.Suspects() if closely else None
        self.variables = [(name, os.fsencode(name)) for name in variables]
        self.exclude = exclude
        self.own_pid = os.getpid()
        self.own_table, self.own_namespace = table, namespace
        self.tables = {namespace: table}  # mount namespace -> all of its mounts
        self.parts: dict[str, namespaces.MountTable] = {}  # the same for those of which only a part can be read
        self.resolved: dict[str, str] = {}
        self.unreadable: dict[int, OSError] = {}
        self.sessions: dict[str, dict[str, list[int]]] = {name: {} for name in variables}
        self.seen: dict[str, dict[str, list[Use]]] = {}  # mount namespace -> path -> ...
        self.crowded: dict[str, set[bytes]] = {}  # mount namespace -> paths of which enough users are known

    def look(self, outside: bool) -> None:
        try:
            self.look_at_all()
        except OSError as error:
            self.holders.ended_well(error)
        else:
            if self.uses:  # else nobody knows who uses what
                self.holders.ended_well()
        self.locate_all()
        if self.suspects:
            self.look_for_lost_mounts(self.suspects)
        self.holders.sessions = {
            name: {value: tuple(pids) for value, pids in values.items()} for name, values in self.sessions.items()
        }
        for why in visibility.doubts(self.holders.processes, self.unreadable, outside=outside):
            self.holders.doubt(why)

    def look_for_lost_mounts(self, suspects: detached.Suspects) -> None:
        try:
            lost = suspects.lost({**self.parts, **self.tables}.values())
        except OSError as error:
            self.holders.doubt(f"a file system that was unmounted while in use could not be checked: {error.strerror}")
            return
        for device, pid in lost.items():
            self.holders.lost[device] = f"process {pid} uses a file system that was unmounted under it"

    def look_at_all(self) -> None:
        seen_pids: set[int] = set()
        for _ in range(_ROUNDS):
            fresh = set(procs.pids()) - seen_pids
            if not fresh:
                break
            seen_pids |= fresh
            for pid in sorted(fresh):
                self.look_at(pid)

    def look_at(self, pid: int) -> None:
        """Until it has told all, has ended, or will not tell."""
        trouble: OSError | None = None
        for pause in _PAUSES_S:
            try:
                process = procs.living(pid)
                if process is None:
                    return
                self.holders.processes[pid] = process
                if pid not in self.exclude and not process.is_kernel_thread:
                    self.look_into_any(pid)
                    if self.closely and process.threads > 1 and pid != self.own_pid:
                        self.look_into_threads(pid)
                return
            except PermissionError as error:
                trouble = error
                break
            except OSError as error:
                trouble = error
                time.sleep(pause if error.errno == errno.EAGAIN else 0)
        if trouble is not None:
            self.unreadable[pid] = trouble

    def look_into_any(self, pid: int) -> None:
        """All threads of a process use the same things; the first may have ended while others go on."""
        try:
            self.look_into(pid, pid)
        except procs.ENDED:
            for thread in procs.other_threads(pid):
                try:
                    return self.look_into(pid, thread)
                except procs.ENDED:
                    continue

    def look_into_threads(self, pid: int) -> None:
        for thread in links.apart(pid):
            try:
                namespace = links.mount_namespace(thread)
                if namespace not in self.tables:
                    self.read_mounts(namespace, thread)
                self.note_all(namespace, pid, links.look_at_tables(thread))
            except procs.ENDED:
                continue

    def note_all(self, namespace: str, pid: int, look: links.Look) -> None:
        crowded = self.crowded.setdefault(namespace, set())
        for kind, paths in look.held:
            for raw in [raw for raw in paths if raw not in crowded]:
                if raw == links.TOO_DEEP:
                    self.holders.in_the_deep = f"process {pid} uses a file whose path is too long to be read"
                    continue
                known = [self.note(namespace, path, (kind, pid, path)) for path in links.spellings(raw)]
                if all(known):
                    crowded.add(raw)

    def look_into(self, pid: int, thread: int) -> None:
        """`thread`: the one to ask; the first of a process may have ended while others go on."""
        if not self.uses:
            return None if pid == self.own_pid else self.note_sessions(pid, procs.environment(thread))
        namespace = links.mount_namespace(thread)
        if namespace not in self.tables:
            self.read_mounts(namespace, thread)
        ours = pid == self.own_pid
        look = links.look_at(thread, ours=ours)
        self.note_all(namespace, pid, look)
        if ours:
            return None
        if self.suspects and (table := self.tables.get(namespace)):
            self.suspects.look_at(thread, look, table, has_our_root=namespace == self.own_namespace)
        environ = procs.environment(thread)
        for variable, value in temp_directories(environ):
            for path in self.readings(namespace, value):
                self.note(namespace, path, (WitnessKind.TMPDIR, pid, f"{variable}={value}"))
        return self.note_sessions(pid, environ)

    def note_sessions(self, pid: int, environ: bytes) -> None:
        for name, needle in self.variables:
            if needle in environ and (value := variable_in(environ, needle)):
                self.sessions[name].setdefault(value, []).append(pid)

    def read_mounts(self, namespace: str, thread: int) -> None:
        """Only a process whose root is its namespace's shows all mounts in there; another a part."""
        root, table = os.readlink(f"/proc/{thread}/root"), namespaces.MountTable.read(thread)
        if root == "/":
            self.tables[namespace] = table
        elif namespace not in self.parts:
            self.parts[namespace] = table.below(root)

    def readings(self, namespace: str, value: str) -> set[str]:
        """A variable may name a directory through links; the kernel's own paths never do."""
        if namespace != self.own_namespace:
            return {value}
        if value not in self.resolved:
            self.resolved[value] = self.own_table.resolve(value)
        return {value, self.resolved[value]}

    def note(self, namespace: str, path: str, use: Use) -> bool:
        """True: more users of that path need not be told of."""
        everyone = self.seen.setdefault(namespace, {}).setdefault(path, [])
        if len(everyone) < MOST_PER_PATH:
            everyone.append(use)
        return len(everyone) >= MOST_PER_PATH

    def locate_all(self) -> None:
        """Turn names into places: each mount namespace's by its own table."""
        for namespace, paths in self.seen.items():
            for path, everyone in paths.items():
                if located := self.locate(namespace, path):
                    for use in everyone:
                        self.holders.add(located, use)
        for table in {**self.parts, **self.tables}.values():
            for key, use in used_by(table):
                self.holders.add(key, use)
        try:
            swapped = list(swap_files())
        except OSError as error:
            self.holders.doubt(f"/proc/swaps cannot be read: {error.strerror}")
            return
        for path in swapped:
            if located := self.own_table.locate(path):
                self.holders.add(located, (WitnessKind.SWAP, None, path))

    def locate(self, namespace: str, path: str) -> Key | None:
        if table := self.tables.get(namespace):
            return table.locate(path)
        part = self.parts.get(namespace)
        # what lies outside the part is most likely mounted as it is for us; a wrong guess errs towards keeping
        return (part.locate(path) if part else None) or self.own_table.locate(path)


def used_by(table: MountTable) -> Iterator[tuple[Key, Use]]:
    """((device, path within it), how it is used) for every mount of that table."""
    by_number = {mount.id: mount for mount in table.mounts}
    for mount in table.mounts:
        place = _place_of_point(mount, by_number.get(mount.parent))
        if place is not None:
            yield place, (WitnessKind.MOUNT, None, mount.point)
        if mount.root.startswith("/") and mount.base != "/":
            yield (mount.device, mount.base), (WitnessKind.MOUNT_SOURCE, None, f"mounted on {mount.point}")
        for layer in _layers(mount):
            if located := table.locate(layer):
                yield located, (WitnessKind.MOUNT_SOURCE, None, f"layer of {mount.point}")
    for device, file in _loop_files():
        if located := table.locate(file):
            yield located, (WitnessKind.MOUNT_SOURCE, None, f"{file} behind /dev/{device}")


def _place_of_point(mount: Mount, parent: Mount | None) -> Key | None:
    """Where the mount point lies in the file system that it covers."""
    if parent is None or parent is mount or not parent.root.startswith("/"):
        return None
    below = mount.point[len(parent.point) :] if parent.point != "/" else mount.point
    base = "" if parent.base == "/" else parent.base
    return parent.device, (base + below) or "/"


def _layers(mount: Mount) -> Iterator[str]:
    """The directories that an overlay is made of."""
    if mount.filesystem != "overlay":
        return
    for option in mount.options:
        for word in _LAYERS:
            if option.startswith(word):
                yield from (path for path in option.removeprefix(word).split(":") if path.startswith("/"))


def swap_files() -> Iterator[str]:
    """Files that the kernel swaps to: no process has them open. Raises OSError: not measured."""
    try:
        lines = read("/proc/swaps").split(b"\n")[1:]
    except FileNotFoundError:  # a kernel without swap
        return
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[1] == b"file":
            yield unescape(os.fsdecode(words[0])).removesuffix(" (deleted)")


def _loop_files() -> Iterator[tuple[str, str]]:
    """(loop0, image file): the kernel holds it open, no process does."""
    try:
        devices = [name for name in os.listdir(_LOOPS) if name.startswith("loop")]
    except OSError:
        return
    for device in devices:
        try:
            with open(f"{_LOOPS}/{device}/loop/backing_file", "rb", buffering=0) as file:
                yield device, os.fsdecode(file.read(4096) or b"").rstrip("\n")
        except OSError:
            continue
