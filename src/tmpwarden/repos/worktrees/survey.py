"""Find worktrees and clones that agents made, and every other worktree of their repositories; look who uses them, what
git says of them, what they weigh. Changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from ...catalogue.worktrees import Bases, WorktreeRow
from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import Held, Nobody, NotMeasured
from ...model.sweep import Evidence, Finding, Keep, Litter, Remove
from ...model.terms import Kind, OwnerRule, Reason, Tier, WitnessKind, Worth
from ...oskit.files import kernel_word, places, walk
from ...oskit.files.opening import closing, entry_names
from ...oskit.proc.reach import Reach
from ...sweep.find.scan import kind_of
from ...sweep.prepared import Prepared
from ...sweep.weigh.evidence import gather
from ...text import duration
from .. import gitdir, work
from ..gitdir import Unclear
from ..history import Merged, merged_into, only_in_its_own
from ..makers import NO_NAMES, derived_directories
from ..repository import Repository, Shape, Unit, opened
from ..status import TreeStatus, status_of
from .harmless import Locks, Spare
from .proof import Holds, Item, Subject, Tree, items, stash_origins


@dataclass(frozen=True, slots=True)
class Candidate:
    """One checkout that may be an agent's. `maker` is the row that found it; None: only its repository lists it."""

    path: str
    maker: str | None = None


def find(rows: Iterable[WorktreeRow], bases: Bases, beside: Iterable[str] = ()) -> list[Candidate]:
    """All candidates, each once. `beside`: directories whose repositories are looked at as well."""
    candidates: dict[str, Candidate] = {}
    repositories: dict[str, None] = {}
    rows = tuple(rows)
    for row in rows:
        for path in _checkouts(row.directories(bases)):
            candidates.setdefault(path, Candidate(path, row.key))
        repositories |= dict.fromkeys(_repositories(row.known_projects(bases)))
    repositories |= dict.fromkeys(_repositories((*candidates, *beside)))
    checkouts = tuple(filter(None, map(gitdir.checkout_of, repositories)))
    for row in rows:
        for path in _checkouts(row.beside(checkouts)):
            if path not in checkouts:
                candidates.setdefault(path, Candidate(path, row.key))
    for repository in repositories:
        for path in gitdir.linked_worktrees(repository):
            candidates.setdefault(path, Candidate(path))
    return [candidates[path] for path in sorted(candidates)]


def maker_of(path: str, rows: Iterable[WorktreeRow], bases: Bases) -> str | None:
    """The row whose place holds `path`, without looking at anything else there."""
    parent = os.path.dirname(path)
    common = gitdir.common_directory(path)
    checkout = gitdir.checkout_of(common) if common else None
    of_it = (checkout,) if checkout and checkout != path else ()
    places = ((row.key, directory) for row in rows for directory in (*row.directories(bases), *row.beside(of_it)))
    return next((key for key, directory in places if os.path.realpath(directory) == parent), None)


def _checkouts(directories: Iterable[str]) -> Iterator[str]:
    for directory in directories:
        for name in entry_names(directory):
            path = f"{directory}/{name}"
            if not os.path.islink(path) and gitdir.is_checkout(path) and places.owner_of(path) == places.uid():
                yield os.path.realpath(path)


def _repositories(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        common = gitdir.common_directory(path)
        if common and places.owner_of(common) == places.uid():
            yield common


_DEEPEST, _MOST_DIRECTORIES = 8, 50_000
_NO_CODE = frozenset(("node_modules", "target", "venv", "__pycache__", "vendor", "dist", "build"))


def checkouts_below(
    roots: Iterable[str], on_look: Callable[[int, int], None] = lambda directories, checkouts: None
) -> tuple[list[str], str]:
    """Directories of ours below these that hold a `.git`, and "" or what was left out. A checkout is not entered, nor a
    link, a hidden directory, another file system, or what holds packages and builds by its name."""
    checkouts: list[str] = []
    number_of_directories, reach = 0, Reach.now()
    for root in dict.fromkeys(os.path.realpath(path) for path in roots if not reach.frozen(path)):
        todo = [(root, 0)]
        device = _device(root)
        while todo:
            here, depth = todo.pop()
            if number_of_directories >= _MOST_DIRECTORIES:
                return (
                    checkouts,
                    f"only {_MOST_DIRECTORIES} directories below {root} were searched: name smaller directories",
                )
            number_of_directories += 1
            on_look(number_of_directories, len(checkouts))
            if gitdir.is_checkout(here):
                checkouts.append(here)
            elif depth < _DEEPEST and _device(here) == device:
                names = (each for each in entry_names(here) if not each.startswith(".") and each not in _NO_CODE)
                todo += [(f"{here.rstrip('/')}/{name}", depth + 1) for name in names if _is_own_dir(here, name)]
    return checkouts, ""


def _is_own_dir(parent: str, name: str) -> bool:
    try:
        status = os.lstat(f"{parent}/{name}")
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == places.uid()


def _device(path: str) -> int | None:
    try:
        return os.lstat(path).st_dev
    except OSError:
        return None


# No row of the catalogue: its age is judged here, by the caller.
LITTER = Litter(
    agent="git",
    id="worktree",
    place="",
    name="",
    kind=Kind.DIR,
    tier=Tier.ASK,
    worth=Worth.SOME,
    owner=OwnerRule.NONE,
    grace_s=0,
    min_age_s=0,
    max_age_s=0,
    why="a worktree",
)
_IN_USE = {Reason(kind.value) for kind in WitnessKind} | {Reason.OWNER_ALIVE}
_WORKERS = 4
_MOST_DERIVED = 2000  # names on one command line


@dataclass(frozen=True, slots=True)
class Known:
    """What all worktrees of one repository share; asked once."""

    refs: dict[str, str]  # ref -> object name
    dates: dict[str, int]  # object name of a ref -> when it was committed
    stashes: tuple[str, ...]

    @property
    def branches(self) -> frozenset[str]:
        return frozenset(name.removeprefix("refs/heads/") for name in self.refs if name.startswith("refs/heads/"))


@dataclass(slots=True)
class Surveyor:
    """One look at many worktrees."""

    prepared: Prepared
    objects: str  # a private directory of ours, for what git must write to compare a squash merge
    min_idle_s: int = 0  # what changed more recently is somebody's
    asks_kernel: bool = False  # it takes a lock on every file for a moment
    with_branches: bool = False  # they are to be deleted with it, and their logs with them
    also: frozenset[str] = NO_NAMES  # names of directories that a person calls derived
    unknown_idle_s: int = 0  # the same as min_idle_s, of what no row's place holds: it may be a person's own
    locks: Locks = field(default_factory=Locks)
    temp_roots: tuple[str, ...] = ()
    droppings: tuple[Litter, ...] = ()
    _known: dict[str, Known] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def look(self, candidates: Iterable[Candidate]) -> Iterator[Tree]:
        """In their order; several at once, because most of the time is git's."""
        with ThreadPoolExecutor(_WORKERS) as pool:
            try:
                yield from pool.map(self.examine, candidates)
            finally:  # Ctrl-C, or nobody wants more: the rest is not even begun
                pool.shutdown(cancel_futures=True)

    def examine(self, candidate: Candidate) -> Tree:
        """Everything about one."""
        parent, name = os.path.split(candidate.path)
        try:
            with closing(walk.open_dir(parent)) as dir_fd:
                return self._examined(candidate, dir_fd, parent, name)
        except OSError as error:
            return Tree(candidate.path, candidate.maker, (Item("inspectable", Holds.NOT_MEASURED, str(error)),))

    def _examined(self, candidate: Candidate, dir_fd: int, parent: str, name: str) -> Tree:
        status = os.lstat(name, dir_fd=dir_fd)
        finding = Finding(
            litter=LITTER,
            root=parent,
            parent=parent,
            name=name,
            kind=kind_of(status.st_mode),
            device=status.st_dev,
            inode=status.st_ino,
        )
        evidence = gather(finding, self.prepared.weigher.world, dir_fd)
        if evidence is None or evidence.measure is None:
            what = Item("inspectable", Holds.NOT_MEASURED, "its contents could not be read")
            return Tree(candidate.path, candidate.maker, (what,), finding)
        tree = Tree(candidate.path, candidate.maker, (), finding, measure=evidence.measure)
        tree = replace(tree, held_by=evidence.users.by if isinstance(evidence.users, Held) else ())
        used = self._used(finding, evidence, dir_fd)
        try:
            with opened(Unit(dir_fd, name, candidate.path)) as repository:
                if repository is None or repository.shape is Shape.BARE:
                    raise Unclear("there is no checkout in it")
                tree = self._told_by_git(tree, repository)
        except (Unclear, OSError, ValueError) as unclear:
            items = (Item("inspectable", Holds.NOT_MEASURED, str(unclear)), used)
            return replace(tree, items=items)
        return replace(tree, items=(Item("inspectable", Holds.YES), *tree.items, used, *self._idle(tree)))

    def _used(self, finding: Finding, evidence: Evidence, dir_fd: int) -> Item:
        """No process, lease or session in it, and no other law that keeps it; git is asked elsewhere."""
        verdict = self.prepared.weigher.judge(finding, evidence)
        if not isinstance(verdict, Keep):
            return self._question(verdict, dir_fd) if verdict.doubt else Item("unused", Holds.YES)
        answer = Holds.NOT_MEASURED if verdict.reason is Reason.NOT_MEASURED else Holds.NO
        what = "in use" if verdict.reason in _IN_USE else verdict.reason.value
        return Item("unused", answer, f"{what}: {_who(evidence) or verdict.detail}".removesuffix(": "))

    def _question(self, verdict: Remove, dir_fd: int) -> Item:
        """Somebody cannot be looked at: the kernel knows whether any file of it is open. A mere look does not ask."""
        if not self.asks_kernel:
            return Item("unused", Holds.YES, "removable if the kernel confirms that no process has it open")
        match kernel_word.ask(dir_fd, verdict.finding.name):
            case Nobody():
                return Item("unused", Holds.YES, "the kernel confirms that no process has a file of it open")
            case Held(by):
                return Item("unused", Holds.NO, f"in use: {by[0].detail}")
            case NotMeasured(why):
                return Item("unused", Holds.NOT_MEASURED, f"{verdict.doubt}, and {why}")

    def _idle(self, tree: Tree) -> Iterator[Item]:
        needed_s = self.min_idle_s if tree.maker else max(self.min_idle_s, self.unknown_idle_s)
        if not needed_s or tree.measure is None:
            return
        age_s = max(0, self.prepared.now_ns() - tree.measure.newest_ns) // 10**9
        is_idle = age_s >= needed_s
        words = "" if is_idle else f"changed {duration(age_s)} ago; removable after {duration(needed_s)}"
        yield Item("idle", Holds.YES if is_idle else Holds.NO, words)

    def excuse(self, repository: Repository) -> Spare:
        """What of a worktree counts as nothing to lose: at the look, and again at the deed."""
        mappings = self.prepared.weigher.world.mappings
        return Spare(repository, self.temp_roots, self.locks, self.droppings, mappings)

    def _told_by_git(self, tree: Tree, repository: Repository) -> Tree:
        spare = self.excuse(repository)
        status = status_of(repository, self.also, spare.is_harmless)
        known = self._known_of(repository)
        nested = tuple(inside for inside in (tree.measure.git if tree.measure else ()) if inside)
        deleted = status.branch if self.with_branches else ""
        forgotten = tuple(only_in_its_own(repository, work.STAYS, leaving_out=deleted)) if status.head else ()
        subject = Subject(
            repository=repository,
            status=status,
            branches=known.branches,
            nested=nested,
            stashes=known.stashes,
            forgotten=forgotten,
            differing=tuple(spare.differing),
            excuse=spare,
        )
        return replace(
            tree,
            repository=repository.main,
            is_linked=repository.shape is Shape.WORKTREE,
            branch=status.branch,
            head=status.head,
            forgotten=forgotten,
            committed_s=_committed(repository, status, known),
            is_dirty=bool(status.changed or status.untracked),
            unpushed=_unpushed(repository, status),
            merged=self._merged(repository, status, known),
            items=tuple(items(subject)),
            derived=self._derived(repository, tree.path),
        )

    def _merged(self, repository: Repository, status: TreeStatus, known: Known) -> Merged | None:
        if not status.head:
            return None
        try:
            return merged_into(repository, status.head, status.branch, self.objects, known.refs)
        except Unclear:
            return None

    def _known_of(self, repository: Repository) -> Known:
        path = repository.common.path
        with self._lock:
            if path not in self._known:
                self._known[path] = _known(repository)
            return self._known[path]

    def _derived(self, repository: Repository, path: str) -> tuple[tuple[str, int], ...]:
        """Directories that can be made again; one with a file that git tracks was put there on purpose."""
        directories = list(derived_directories(path, self.also))
        if not directories:
            return ()
        names = [os.path.relpath(directory, path) for directory in directories]
        tracked = os.fsdecode(repository.git.output("ls-files", "-z", "--", *names[:_MOST_DERIVED])).split("\0")
        kept = [name for name in names[:_MOST_DERIVED] if not any(file.startswith(f"{name}/") for file in tracked)]
        return tuple((f"{path}/{name}", walk.bytes_at(f"{path}/{name}") or 0) for name in kept)


def _known(repository: Repository) -> Known:
    dated_refs = work.dated_refs(repository)
    refs = {name: oid for name, (oid, _) in dated_refs.items()}
    dates = {oid: int(date) for oid, date in dated_refs.values() if date.isdecimal()}
    log = repository.common.read("logs/refs/stash") if repository.common.has("logs/refs/stash") else b""
    return Known(refs, dates, stash_origins(log))


def _committed(repository: Repository, status: TreeStatus, known: Known) -> int | None:
    if not status.head:
        return None
    if status.head in known.dates:
        return known.dates[status.head]
    return int(repository.git.output("rev-list", "--max-count=1", "--timestamp", status.head, "--").split()[0])


def _unpushed(repository: Repository, status: TreeStatus) -> int | None:
    if not status.head or not repository.config.published_by():
        return None
    return work.commits(repository, status.head, *work.published(repository))


def _who(evidence: Evidence) -> str:
    """`node (4711)`: the first process that uses it."""
    first = evidence.users.by[0] if isinstance(evidence.users, Held) else None
    if first is None or first.pid is None:
        return ""
    return f"{first.command or 'a process'} ({first.pid})"
