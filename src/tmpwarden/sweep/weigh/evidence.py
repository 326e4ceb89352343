"""Gather facts about one unit: one walk, the processes that use it, its owner. Judges nothing, changes nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable

from ...catalogue import checks
from ...catalogue.checks import Mappings
from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Evidence, Finding, GitUnclear, Measure, Owner, Witness
from ...model.terms import WitnessKind
from ...oskit import system
from ...oskit.files import kernel_word, walk
from ...oskit.files.opening import closing, descend
from ...oskit.files.roll import Roll
from ...oskit.proc import locks
from ...oskit.proc.namespaces import MountTable
from ...oskit.proc.reach import Reach
from ...oskit.race import race_window as _race_window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...oskit.proc.holders import Holders
    from ...repos.work import Excuses


# What is measured once for a run and shared by all its units: processes, owners, locks, mounts.

OwnerOf = Callable[[Finding, Measure | None], tuple[Owner, tuple[Witness, ...]]]


class _Tied:
    """Locked files and bound sockets of one moment; two moments are compared."""

    __slots__ = ("bound", "locked")

    def __init__(self) -> None:
        self.locked = locks.locked_inodes(except_pids=(os.getpid(),))
        self.bound = locks.bound_sockets()


_LOOKS = 4  # at all processes, between two of which nothing is collected


@dataclass(slots=True)
class World:
    """What is measured once per run (and again before units are taken), and shared by all units."""

    uid: int
    mounts: MountTable | None
    marks: Callable[[Finding], Callable[[str, str], bool] | None]
    look: Callable[[frozenset[int], bool], tuple[Holders, OwnerOf]]  # at all but these processes (closely?), at owners
    frozen: list[str] = field(default_factory=list)  # mounts inside units that do not answer
    gave_up: list[str] = field(default_factory=list)  # sentences about helpers of ours that had to be ended
    workers: frozenset[int] = frozenset()  # forks of ours: they inherit descriptors without using them
    walkers: frozenset[int] = frozenset()  # the same
    # parents from which this very run took something: their newest date before we touched them
    untouched_ns: dict[tuple[int, int], int] = field(default_factory=dict)
    newly_locked: locks.Inodes = frozenset()  # between the last two looks
    keeps_rolls: bool = False  # what is judged goes at once: the names that its walk saw are wanted again
    last_roll: tuple[str, Roll] = ("", [])
    mappings: Mappings = field(default_factory=Mappings)
    excuses: Excuses | None = None  # of worktrees that were proven to go: what their proof excused
    newly_bound: bool = False  # some socket, somewhere: its owner may have bound it by any name
    # the last look at all of these; the first one waits until there is something to ask
    _seen: tuple[Holders, OwnerOf] | None = None
    _bindings: _Tied | None = None
    _looks: int = 0

    @property
    def holders(self) -> Holders:
        return self._look()[0]

    def owner_of(self, finding: Finding, measure: Measure | None) -> tuple[Owner, tuple[Witness, ...]]:
        """Whose it is, and who claims it. `measure`: None where it has not been walked."""
        return self._look()[1](finding, measure)

    def _look(self) -> tuple[Holders, OwnerOf]:
        if self._seen is None:
            self._seen = self.look(self.workers | self.walkers, False)
        return self._seen

    @property
    def locked(self) -> locks.Inodes | NotMeasured:
        """What was locked before the first unit was walked, or at the last look since."""
        if self._bindings is None:
            self._bindings = _Tied()
        return self._bindings.locked

    @property
    def reach(self) -> Reach:
        """Of this very moment: whatever was mounted since the last look is known before a unit is walked."""
        return Reach.now()

    def roll_of(self, path: str) -> Roll | None:
        """The names of a unit, if it was the last that was walked."""
        return self.last_roll[1] or None if self.last_roll[0] == path else None

    def counts_atime(self, directory: str) -> bool:
        return self.mounts is None or "noatime" not in self.mounts.options(directory)

    @property
    def seen_locks(self) -> locks.Inodes:
        """Those that a walk can recognize; what could not be measured is a doubt of `users_in`."""
        return frozenset() if isinstance(self.locked, NotMeasured) else self.locked

    def is_locked(self, status: os.stat_result) -> bool:
        return (status.st_dev, status.st_ino) in self.seen_locks

    def users_in(self, path: str, measure: Measure | None = None, owner: Owner | None = None) -> Users:
        """Who uses `path` or something in it, by all that /proc tells. `measure`, `owner`: what is known of it."""
        is_deep, since = measure is not None and measure.is_deep, owner.since if owner else None
        match self.holders.within(path, is_deep=is_deep, since=since):
            case Nobody() if isinstance(self.locked, NotMeasured):
                return self.locked
            case answer:
                return answer

    def is_in_doubt(self, path: str, measure: Measure | None = None, owner: Owner | None = None) -> bool:
        """Whether anybody may use `path` unseen."""
        return isinstance(self.users_in(path, measure, owner), NotMeasured)

    def askable(self, doubt: NotMeasured, path: str, files: int) -> NotMeasured:
        """Whether the kernel's word could decide it, told before the deed has to ask."""
        if not doubt.askable:
            return doubt
        filesystem = self.mounts.filesystem(path) if self.mounts else None
        trouble = kernel_word.foreseen(filesystem, files)
        return doubt if trouble is None else NotMeasured(f"{doubt.why}, and {trouble}")

    def refresh(self) -> None:
        self._looks += 1
        if self._looks % _LOOKS == 0:
            gc.collect()  # a look that is over holds itself, 3 MB of it, and a command's collector seldom comes
        self._seen = self.look(self.workers | self.walkers, True)
        before, self._bindings = self._bindings, _Tied()
        self.newly_locked = locks.newly_locked(before.locked if before else frozenset(), self._bindings.locked)
        self.newly_bound = before is None or locks.newly_bound(before.bound, self._bindings.bound)
        self.mounts = MountTable.of()


def gather(finding: Finding, world: World, dir_fd: int, measure: Measure | None = None) -> Evidence | None:
    """Evidence for a unit whose parent is open as `dir_fd`; None if it vanished or has not the shape of litter."""
    _race_window("found, not yet walked")
    if point := world.reach.first_inside(finding.path):
        return _mounted_into(finding, world, point)
    measure = measure or _walked(finding, world, dir_fd)
    if measure is None:
        return None
    if world.untouched_ns:
        measure = _as_we_found_it(finding, measure, world)
    owner, claims = world.owner_of(finding, measure)
    users = with_claims(claims, _users(finding, measure, owner, world, dir_fd))
    names = finding.litter.credentials
    return Evidence(
        owner=owner,
        users=users,
        measure=measure,
        has_shape=has_shape(finding, world, dir_fd),
        is_only_credentials=bool(names) and checks.holds_only(names, dir_fd, finding.name),
    )


def _mounted_into(finding: Finding, world: World, point: str) -> Evidence:
    """A mount inside keeps the unit anyway, and one that may hang is not walked into to say so."""
    if world.reach.is_frozen_at(point):
        world.frozen.append(point)
    owner, claims = world.owner_of(finding, None)
    return Evidence(owner, Held((*claims, Witness(WitnessKind.MOUNT, point))), None)


def measured(finding: Finding, world: World, dir_fd: int) -> Measure | None:
    """One walk over a unit; None if it vanished, has not the shape of litter, or leads into a mount that may hang."""
    return None if world.reach.first_inside(finding.path) else _walked(finding, world, dir_fd)


def _walked(finding: Finding, world: World, dir_fd: int) -> Measure | None:
    if has_shape(finding, world, dir_fd) is False:
        return None  # before the walk: a row for empty directories matches the roots of the biggest trees
    measure = _measured(finding, world, dir_fd, count_atime=world.counts_atime(finding.parent))
    if measure is not None and measure.git:  # git has no O_NOATIME: our own look at a clone must not make it younger
        measure = _measured(finding, world, dir_fd, count_atime=False)
    return measure


def _measured(finding: Finding, world: World, dir_fd: int, *, count_atime: bool) -> Measure | None:
    roll: Roll | None = [] if world.keeps_rolls else None
    if roll is not None:
        world.last_roll = (finding.path, roll)
    return walk.measure(
        dir_fd,
        finding.name,
        uid=world.uid,
        count_atime=count_atime,
        locked=world.seen_locks,
        is_marked=world.marks(finding),
        roll=roll,
    )


def inspect_git(
    finding: Finding, evidence: Evidence, dir_fd: int, name: str | None = None, excuses: Excuses | None = None
) -> Evidence:
    """The same evidence with what git work would be lost. Slow, so asked only of what may otherwise go.

    `name`: what the unit is called now, in quarantine. `excuses`: what does not keep the unit itself."""
    if not evidence.measure or not evidence.measure.git:
        return evidence
    from ...repos import (  # only here: it starts programs, and what that needs is a third of our start-up
        gitdir,
        work,
    )

    losses: list[str] = []
    entries: list[str] = []
    origins: list[str] = []
    for relative in evidence.measure.git:
        try:
            excused = work.no_excuse if relative or excuses is None else excuses
            inspection = work.inspect(
                dir_fd, name or finding.name, relative, was=finding.path, excuses=excused, temp_root=finding.root
            )
        except gitdir.Unclear as unclear:
            where = f"{relative}: " if relative else ""
            return replace(evidence, git_losses=GitUnclear(f"{where}{unclear}"))
        losses += inspection.losses
        entries += [inspection.worktree_of] if inspection.worktree_of else []
        origins += inspection.rests_on
    return replace(
        evidence,
        git_losses=tuple(losses),
        git_entries=tuple(dict.fromkeys(entries)),
        git_origins=tuple(dict.fromkeys(origins)),
    )


def has_shape(finding: Finding, world: World, dir_fd: int, member: str = "") -> bool | None:
    """Whether the entry, or a member of a swarm, is inside what its row says; None: that could not be looked at."""
    litter, name = finding.litter, member or finding.name
    if not litter.checks and litter.max_bytes is None:
        return True
    try:
        status = os.lstat(name, dir_fd=dir_fd)
    except OSError:
        return None
    if system.entries.is_held_back is not None and system.entries.is_held_back(status):
        return None  # to read it might fetch it from a server
    return checks.has_shape(litter, dir_fd, name, status, world.mappings)


def _as_we_found_it(finding: Finding, measure: Measure, world: World) -> Measure:
    """Our own takes make a parent look young; an emptied one is as old as it was before."""
    before = world.untouched_ns.get((finding.device, finding.inode))
    return replace(measure, newest_ns=before) if before is not None and measure.entries == 1 else measure


def with_claims(claims: tuple[Witness, ...], users: Users) -> Users:
    """The same answer with the witnesses that records and environments give."""
    match users:
        case Held(by):
            return Held(claims + by)
        case Nobody() | NotMeasured():
            return Held(claims) if claims else users


def _users(finding: Finding, measure: Measure, owner: Owner, world: World, dir_fd: int) -> Users:
    match world.users_in(finding.path, measure, owner):
        case Held() as users:
            return users
        case Nobody() | NotMeasured() as users:
            match socket_users(measure, dir_fd, finding.name):
                case Nobody():
                    pass
                case Held() | NotMeasured() as at_sockets:
                    return at_sockets
    files = measure.entries - measure.directories
    return users if isinstance(users, Nobody) else world.askable(users, finding.path, files)


def socket_users(measure: Measure, dir_fd: int, name: str) -> Users:
    """Whether anybody has a socket of this unit bound."""
    for relative in measure.sockets:
        match listens(dir_fd, f"{name}/{relative}".rstrip("/")):
            case Nobody():
                continue
            case Held() | NotMeasured() as answer:
                return answer
    return Nobody()


def listens(dir_fd: int, relative: str) -> Users:
    """Whether anybody has the socket bound that lies there, below an open directory."""
    parent, _, name = relative.rpartition("/")
    if not parent:
        return locks.listeners(dir_fd, name)
    try:
        with closing(descend(dir_fd, parent)) as fd:
            return locks.listeners(fd, name)
    except OSError as error:
        return NotMeasured(f"a socket in it could not be checked: {error.strerror}")
