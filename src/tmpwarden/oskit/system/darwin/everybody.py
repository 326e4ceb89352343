"""What each process of this user holds on a Mac, and who would not tell: one walk over all of them."""

from __future__ import annotations

import errno
import marshal
import os
import time

from ....model.terms import WitnessKind
from ...proc import procs
from ...proc.environs import temp_directories, variable_in
from ...proc.namespaces import MountTable
from . import family, identities, libproc, mounting, processes, vnodes
from . import layouts as at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...proc.holders import Holders

_ROUNDS = 4  # a process may fork and end while we look at another: look again for new numbers, this often
_PAUSES_S = 0.002, 0.02, 0.1, 0.0  # between tries, for one whose program is being loaded
_MOVED = 3  # looks at a file whose path is not where it lies
_DOORS = {"login": "/usr/bin/login"}  # Terminal starts it as root for each window, and it starts the user's shell alone
_CONTAINER_CLIENTS = frozenset(("docker", "nerdctl", "podman", "docker-compose"))

KINDS = tuple(WitnessKind)
Use = tuple[int, int, str, tuple[identities.Key, ...]]  # (which kind, process or -1, path as told, where)


class Seen:
    """What a look saw, in plain values: they travel from a child to its parent."""

    def __init__(self) -> None:
        self.uses: list[Use] = []
        self.processes: list[tuple[int, int, int, str, bool]] = []
        self.sessions: list[tuple[str, str, int]] = []  # variable, value, process
        self.doubts: list[str] = []
        self.hidden: list[tuple[str, int, float]] = []  # a doubt about a process whose variables are hidden, its start
        self.lost: dict[str, str] = {}  # device -> a doubt about all that lies on it

    def packed(self) -> bytes:
        return marshal.dumps((self.uses, self.processes, self.sessions, self.doubts, self.hidden, self.lost))

    def unpack(self, answer: bytes) -> None:
        self.uses, self.processes, self.sessions, self.doubts, self.hidden, self.lost = marshal.loads(answer)

    def tell(self, holders: Holders, variables: tuple[str, ...]) -> None:
        for kind, pid, detail, keys in self.uses:
            use = (KINDS[kind], None if pid < 0 else pid, detail)
            for key in keys:
                holders.add(key, use)
        for pid, parent, start, command, is_exiting in self.processes:
            holders.processes[pid] = procs.Process(pid, parent, start, command, is_exiting=is_exiting)
        sessions: dict[str, dict[str, tuple[int, ...]]] = {name: {} for name in variables}
        for name, value, pid in self.sessions:
            sessions[name][value] = (*sessions[name].get(value, ()), pid)
        holders.sessions = sessions
        holders.lost.update(self.lost)
        for why in self.doubts:
            holders.doubt(why)
        for why, start, started_s in self.hidden:
            holders.doubt(why, (start, started_s))


def write_all(pipe: int, text: bytes) -> None:
    left = memoryview(text)
    while left:
        left = left[os.write(pipe, left) :]


class Pass:
    """One walk over all processes."""

    def __init__(
        self,
        seen: Seen,
        variables: tuple[str, ...],
        exclude: frozenset[int],
        *,
        closely: bool,
        uses: bool = True,
        report: int = -1,
    ) -> None:
        self.seen, self.exclude = seen, exclude
        self.closely, self.uses, self.report = closely, uses, report
        self.variables = [(name, os.fsencode(name)) for name in variables]
        self.ways = identities.Ways()
        self.own_pid, self.uid = os.getpid(), os.geteuid()
        self.basics: dict[int, processes.Basics] = {}
        self.arguments: dict[int, tuple[bytes, ...]] = {}
        self.silent: list[int] = []  # whose variables macOS keeps to itself
        self.unread: dict[int, OSError] = {}
        self.table: MountTable | None = None

    def look_as(self, pid: int) -> None:
        """In a child: it is its parent whose directories were opened to look at things."""
        self.own_pid, self.exclude = pid, (self.exclude - {pid}) | {os.getpid()}
        self.look()

    def look(self) -> None:
        """Raises OSError: they cannot be listed."""
        earlier: set[int] = set()
        for _ in range(_ROUNDS):
            fresh = set(libproc.pids()) - earlier
            if not fresh:
                break
            earlier |= fresh
            for pid in sorted(fresh):
                self.look_at(pid)
        if self.uses:
            self.note_mounts()
        self.tell_doubts()

    def look_at(self, pid: int) -> None:
        """Until it has told all, has ended, or will not tell."""
        if self.report >= 0:
            write_all(self.report, b"p%d\n" % pid)
        trouble: OSError | None = None
        for pause in _PAUSES_S:
            try:
                basics = processes.basics(pid)
                if basics is None or basics.has_ended:
                    self.basics.pop(pid, None)
                    return
                self.basics[pid] = basics
                if pid not in self.exclude and self.is_readable(basics):
                    self.look_into(basics)
                return
            except PermissionError as error:
                trouble = error
                break
            except OSError as error:  # that it has ended, too: asked again at the end, by what needs no permission
                trouble = error
                time.sleep(pause if error.errno == errno.EAGAIN else 0)
        if trouble is not None:
            self.unread[pid] = trouble

    def is_readable(self, basics: processes.Basics) -> bool:
        """A stranger's is not, and need not be: what is ours alone, he cannot use."""
        return self.uid in (0, basics.uid)

    def look_into(self, basics: processes.Basics) -> None:
        pid, ours = basics.pid, basics.pid == self.own_pid
        if self.uses:
            self.note_files(basics, ours=ours)
        words, variables = processes.words(pid)
        self.arguments[pid] = words
        if ours:
            return
        if variables is None:
            self.silent.append(pid)
            return
        if self.uses:
            for variable, value in temp_directories(variables):
                where = tuple({*self.ways.below(self.resolved(value)), identities.named(value)})
                self.note(WitnessKind.TMPDIR, pid, f"{variable}={value}", where)
        for name, needle in self.variables:
            if needle in variables and (session := variable_in(variables, needle)):
                self.seen.sessions.append((name, session, pid))

    def note_files(self, basics: processes.Basics, *, ours: bool) -> None:
        pid = basics.pid
        working, root = vnodes.places(pid, has_thread_places=bool(basics.flags & at.HAS_THREAD_PLACES))
        for one in working:
            self.note_file(WitnessKind.WORKING_DIRECTORY, pid, one)
        if root is not None:
            self.note_file(WitnessKind.ROOT_DIRECTORY, pid, root)
        for file in vnodes.opened(pid):
            if not (ours and file.is_open_to_look):
                self.note_file(WitnessKind.OPEN_FILE, pid, file.vnode, file.number)
        program = libproc.program(pid)
        files: set[tuple[int, int]] = set()
        for part in vnodes.mapped(pid, closely=self.closely):
            one = part.vnode
            if (one.device, one.file) not in files:
                files.add((one.device, one.file))
                is_program = os.fsdecode(one.path) == program
                self.note_file(WitnessKind.EXECUTABLE if is_program else WitnessKind.MAPPED_FILE, pid, one)

    def note_file(self, kind: WitnessKind, pid: int, one: vnodes.Vnode, number: int = -1) -> None:
        where = self.ways.to(one)
        for _ in range(_MOVED if number >= 0 else 0):  # moved while we looked: asked again by its number
            if where is not None:
                break
            answer = libproc.of_descriptor(pid, number, at.FD_VNODE)
            if answer is None:
                return
            one = vnodes.OpenVnode(number, answer).vnode
            where = self.ways.to(one)
        if where is None:
            device = identities.key_of(one.device, one.file)[0]
            self.seen.lost[device] = f"process {pid} uses a file there, and macOS does not tell where it lies"
            where = (identities.key_of(one.device, one.file),)
        self.note(kind, pid, os.fsdecode(one.path), where)

    def note(self, kind: WitnessKind, pid: int | None, detail: str, where: tuple[identities.Key, ...]) -> None:
        if where:
            self.seen.uses.append((KINDS.index(kind), -1 if pid is None else pid, detail, where))

    def resolved(self, value: str) -> str:
        """Without links, as far as nothing has to be touched that may not answer."""
        if self.table is None:
            self.table = MountTable(mounting.mounts())
        return self.table.resolve(value)

    def note_mounts(self) -> None:
        for mount in mounting.mounts():
            if mount.point != "/":
                self.note(WitnessKind.MOUNT, None, mount.point, self.ways.above(mount.point))

    def tell_doubts(self) -> None:
        self.seen.processes = [
            (one.pid, one.parent, one.unique, one.name, one.is_exiting) for one in self.basics.values()
        ]
        for pid, error in self.unread.items():
            if pid == family.LAUNCHD and isinstance(error, PermissionError):
                continue  # it runs no agent itself: what it starts has numbers of its own
            if pid not in self.exclude and not self.is_over(pid):
                self.seen.doubts.append(f"{self.called(pid)} of this user cannot be read: {error.strerror}")
        by_unique = {one.unique: one for one in self.basics.values()}
        carriers = [pid for _, _, pid in self.seen.sessions]
        for pid in self.silent:
            if pid in self.basics and not self.is_over(pid):
                why = family.doubt_about(pid, by_unique, self.basics, self.arguments, carriers)
                if why:
                    unique = self.basics[pid].unique
                    self.seen.hidden.append((why, unique, processes.started_s(pid, unique) or float("inf")))
        if self.uid != 0:
            self.seen.doubts += [why for one in self.basics.values() if (why := self.doubt_behind(one))]

    def is_over(self, pid: int) -> bool:
        try:
            basics = processes.basics(pid)
        except OSError:
            return False
        return basics is None or basics.has_ended or basics.is_exiting

    def doubt_behind(self, one: processes.Basics) -> str:
        """Another user's process that one of ours started (sudo), and containers, into which nobody can look."""
        if one.name in _CONTAINER_CLIENTS and one.uid == self.uid:
            return f"{self.called(one.pid)} may run a container that cannot be looked into"
        if one.uid == self.uid:
            return ""
        line, here = {one.pid}, one
        while (above := self.basics.get(here.parent)) is not None and above.pid not in line:
            if above.uid == self.uid:
                is_door = one.name in _DOORS and self.program_of(one.pid) == _DOORS[one.name]
                return "" if is_door else f"{self.called(one.pid)} was started by this user as another one"
            line.add(above.pid)
            here = above
        return ""

    def program_of(self, pid: int) -> str:
        try:
            return libproc.program(pid)
        except OSError:
            return ""

    def called(self, pid: int) -> str:
        basics = self.basics.get(pid)
        return f"process {pid} ({basics.name})" if basics else f"process {pid}"
