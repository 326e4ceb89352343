"""What only looks like something to lose with a worktree: the lock of a process that ended, copies of files that the
main checkout has, droppings of programs. Each is believed only with a proof of its own, made anew at the deed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping

from ...catalogue.checks import Mappings, has_shape
from ...lazy_dataclass import dataclass, field
from ...model.belongings import Lease
from ...model.sweep import Litter
from ...model.terms import OwnerState, Worth
from ...oskit.files import places
from ...oskit.files.opening import closing, descend, open_unread
from ...oskit.files.same_mount import mount_id_of
from ...oskit.proc import namespaces, procs
from ...oskit.proc.identity import identity_state
from ...sweep.find.scan import kind_of
from ...text import is_within
from ..repository import Repository, Shape
from ..work import Excuse

# The lock of a worktree.

_ANY_PID = re.compile(r"\bpid[ =:]*([0-9]{1,7})\b", re.IGNORECASE)
_LONGEST_TICKS = 1 << 62


@dataclass(frozen=True, slots=True)
class Locks:
    """How agents word the reason of a lock, and what our leases know about the processes that it may name."""

    patterns: tuple[re.Pattern[str], ...] = ()  # groups `pid` and `start`
    noted: Mapping[tuple[int, int], Lease] = field(default_factory=dict)

    @classmethod
    def of(cls, patterns: Iterable[str], leases: Iterable[Lease]) -> Locks:
        lease_of = {(each.pid, each.start): each for each in leases if each.start is not None}
        return cls(tuple(map(re.compile, patterns)), lease_of)

    def objection(self, reason: str, path: str) -> str:
        """ "" if the process that locked it has provably ended, else why the lock counts."""
        plain = f"locked: {reason}".removesuffix(": ")
        match = next((match_ for pattern in self.patterns if (match_ := pattern.fullmatch(reason))), None)
        if match is None:
            return plain + _what_to_check(reason, path)
        if namespaces.MountTable.of() is None or namespaces.MountTable.read().is_network(path) is not False:
            return f"{plain} (on a network file system: the process may run on another machine)"
        pid, start = int(match["pid"]), min(int(match["start"]), _LONGEST_TICKS)
        match self._state(pid, start):
            case OwnerState.DEAD:
                return ""
            case OwnerState.ALIVE:
                return f"{plain} (that process is running)"
            case _:
                return f"{plain} (could not be checked whether that process has ended)"

    def _state(self, pid: int, start: int) -> OwnerState:
        """A lock tells neither boot nor pid namespace; a lease of ours that names the same process may."""
        lease = self.noted.get((pid, start))
        boot, machine, pidns = (lease.boot, lease.machine, lease.pidns) if lease else (None, None, None)
        state = identity_state(pid, start, boot, machine, pidns)
        if state is not OwnerState.DEAD or pidns is not None:
            return state
        return OwnerState.UNKNOWN if _may_be_in_a_container(pid) else OwnerState.DEAD


def _what_to_check(reason: str, path: str) -> str:
    """A number alone is no identity, but a person can look."""
    match = _ANY_PID.search(reason)
    if match is None:
        return ""
    try:
        is_free = procs.living(int(match[1])) is None
    except OSError:
        return ""
    state_text = "is not running" if is_free else "is running, perhaps another program's"
    return f" (process {match[1]} {state_text}; if it is unused: git worktree unlock {path})"


def _may_be_in_a_container(pid: int) -> bool:
    """Whether a process has this number in a pid namespace below ours: the lock may be its own. True in doubt."""
    try:
        numbers = procs.pids()
    except OSError:
        return True
    try:
        return any(pid in (procs.numbers_below(number) or ()) for number in numbers)
    except OSError:
        return True


# Files in a worktree.

_CHUNK = 1 << 20
_MOST_COMPARED = 1 << 30  # bytes of one worktree
_NETWORK_OF_USERS = "fuse"  # one file may have two names there, and nothing tells


@dataclass(slots=True)
class Spare(Excuse):
    """What of one worktree is nothing to lose. Asked for each file that git does not track, and for its lock."""

    repository: Repository
    roots: tuple[str, ...] = ()  # temp roots: a main checkout there is as mortal as the worktree
    locks: Locks = field(default_factory=Locks)
    droppings: tuple[Litter, ...] = ()  # rows of what programs drop into any directory
    mappings: Mappings = field(default_factory=Mappings)
    differing: list[str] = field(default_factory=list)  # ignored files that the main checkout has with other contents
    compared: int = 0

    def is_harmless(self, name: str, is_ignored: bool) -> bool:
        """`name`: relative to the worktree."""
        return self._is_dropping(name) or (is_ignored and self._is_copy(name))

    def objection(self, reason: str) -> str:
        return self.locks.objection(reason, self.repository.path)

    def _is_dropping(self, name: str) -> bool:
        above, _, last = name.rpartition("/")
        rows = [row for row in self.droppings if _fits(row, above, last)]
        if not rows:
            return False
        try:
            with closing(descend(self.repository.tree.fd, above)) as fd:
                status = os.stat(last, dir_fd=fd, follow_symlinks=False)
                if status.st_uid != places.uid() or status.st_nlink != 1:
                    return False
                kind = kind_of(status.st_mode)
                return any(row.kind is kind and has_shape(row, fd, last, status, self.mappings) for row in rows)
        except OSError:
            return False

    def _is_copy(self, name: str) -> bool:
        """Byte for byte what the main checkout has at the same path; no link on either side, nor on the way."""
        main = main_checkout(self.repository)
        if main is None or any(is_within(main, root) for root in self.roots):
            return False
        try:
            with closing(os.open(main, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)) as main_fd:
                return self._is_same(name, main_fd)
        except OSError:
            return False

    def _is_same(self, name: str, main_fd: int) -> bool:
        above, _, last = name.rpartition("/")
        with (
            closing(descend(self.repository.tree.fd, above)) as here,
            closing(open_unread(last, here)) as mine,
            closing(descend(main_fd, above)) as there,
            closing(open_unread(last, there)) as theirs,
        ):
            ours, other = os.fstat(mine), os.fstat(theirs)
            mount = mount_id_of(main_fd)
            if not (_is_plain(ours) and _is_plain(other)) or os.path.samestat(ours, other):
                return False
            if mount is None or mount_id_of(theirs) != mount:
                return False  # something is mounted on the way: it may be the worktree itself
            self.compared += ours.st_size
            is_equal = (
                ours.st_size == other.st_size
                and self.compared <= _MOST_COMPARED
                and _is_equal(mine, theirs)
                and _stamp(os.fstat(mine)) == _stamp(ours)
                and _stamp(os.fstat(theirs)) == _stamp(other)
            )
            if not is_equal:
                self.differing.append(name)
            return is_equal


def main_checkout(repository: Repository) -> str | None:
    """The directory in which the repository of a linked worktree has its own checkout; None: there is none that lasts
    longer than the worktree, or it cannot be told."""
    common = repository.common.path
    main, name = os.path.split(common)
    if repository.shape is not Shape.WORKTREE or name != ".git" or not repository.common.has("index"):
        return None
    if (repository.config.value("core.bare") or "false").lower() not in ("false", "no", "off", "0"):
        return None
    if is_within(main, repository.tree.path):
        return None  # it lies in the worktree, and would go with it
    table = namespaces.MountTable.of()
    filesystem = table.filesystem(main) if table else None
    if table is None or filesystem is None or filesystem.startswith(_NETWORK_OF_USERS) or table.is_network(main):
        return None
    return main


def droppings(rows: Iterable[Litter]) -> tuple[Litter, ...]:
    """Of all rows those of what programs drop into the directories that somebody works in."""
    return tuple(row for row in rows if row.place.split("/")[0] == "{project}" and row.tier.value != "never")


def _fits(row: Litter, above: str, last: str) -> bool:
    """What is worth nothing counts at any depth, the rest only where its row says."""
    place = row.place.partition("/")[2]
    return (above == place or (row.worth is Worth.NONE and not place)) and re.fullmatch(row.name, last) is not None


def _is_plain(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid == places.uid()


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_nlink


def _is_equal(one: int, other: int) -> bool:
    while True:
        ours, theirs = os.read(one, _CHUNK), os.read(other, _CHUNK)
        if ours != theirs:
            return False
        if not ours:
            return True
