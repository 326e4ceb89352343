"""One worktree or clone with all that is known about it, and the proof that nothing would be lost with it: a list of
items, each yes, no, or not measured, with words."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Finding, Measure, Witness
from ...text import plural
from .. import work
from ..gitdir import Unclear
from ..history import Merged
from ..repository import Repository, Shape
from ..status import TreeStatus

_MOST_NAMED = 3
ITEMS = {  # what people read of each, and the reason to keep a worktree of which it does not hold
    "inspectable": ("can be inspected", "uninspectable"),
    "clean": ("clean, untracked files included", "dirty"),
    "reached": ("its commits have a ref that is kept", "unreached"),
    "own-refs": ("no refs of its own", "own-refs"),
    "stash": ("no stash of its own", "stash"),
    "unfinished": ("no merge, rebase or bisect going on", "unfinished"),
    "locked": ("not locked, or by a process that has ended", "locked"),
    "needed": ("no other worktree needs it", "needed-elsewhere"),
    "ignored": ("ignored files can be created again or are copies", "ignored-files"),
    "submodules": ("nothing unique in submodules", "nested-work"),
    "unused": ("it is unused", "in-use"),
    "idle": ("idle", "too-young"),
}


class Holds(Enum):
    YES = "yes"
    NO = "no"
    NOT_MEASURED = "not-measured"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that must be so."""

    name: str
    holds: Holds
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Subject:
    """What the items are asked about."""

    repository: Repository
    status: TreeStatus
    branches: frozenset[str]  # of its repository, short names
    nested: tuple[str, ...]  # directories in it that hold repositories of their own
    stashes: tuple[str, ...]  # what the repository's stashes were made on, as their messages say
    forgotten: tuple[str, ...] = ()  # commits that only the log of its HEAD has
    differing: tuple[str, ...] = ()  # ignored files that the main checkout has with other contents
    excuse: work.Excuse = field(default_factory=work.Excuse)


Check = Callable[[Subject], str]  # "" if it holds, else why not


def items(subject: Subject) -> Iterator[Item]:
    """Every item that git and the files can answer, in the order in which they are told."""
    for name, check in CHECKS.items():
        try:
            wrong = check(subject)
        except (Unclear, OSError) as error:
            yield Item(name, Holds.NOT_MEASURED, str(error))
        else:
            yield Item(name, Holds.NO if wrong else Holds.YES, wrong)


def _is_clean(subject: Subject) -> str:
    status = subject.status
    parts = [_with_names("modified file", status.changed), _with_names("untracked file", status.untracked)]
    if not any(parts):
        work.check_flags(subject.repository)
    return "; ".join(filter(None, parts))


def _has_only_derived_files(subject: Subject) -> str:
    other = " (the main checkout's differs)"
    names = [name + other * (name in subject.differing) for name in subject.status.ignored]
    return _with_names("ignored file", names, " that cannot be created again")


def _is_reached(subject: Subject) -> str:
    """HEAD by a ref that stays when the worktree is gone; in a clone everything by another machine."""
    repository, status = subject.repository, subject.status
    if repository.shape is not Shape.WORKTREE:
        return "; ".join(work.unpublished(repository))
    if not status.head:
        return ""
    count = 0 if status.branch in subject.branches else work.commits(repository, status.head, "--not", *work.STAYS)
    parts = [f"detached HEAD with {work.counted(count, 'commit')} that no branch has"] if count else []
    if subject.forgotten:
        names = ", ".join(oid[:12] for oid in subject.forgotten[:_MOST_NAMED])
        parts.append(f"commits that only the reflog of this worktree has ({names})")
    return "; ".join(parts)


def _has_no_refs_of_its_own(subject: Subject) -> str:
    return "; ".join(work.own_refs(subject.repository)) if subject.repository.own.names("refs") else ""


def _has_no_stash(subject: Subject) -> str:
    """A clone's are lost with it; a worktree's stay in the repository, but tell that somebody means to come back."""
    if subject.repository.shape is not Shape.WORKTREE:
        return "; ".join(work.stashes(subject.repository))
    branch = subject.status.branch or "(no branch)"
    count = sum(made_on == branch for made_on in subject.stashes)
    return f"{plural(count, 'stash', 'stashes')} made on {branch}" if count else ""


def _is_finished(subject: Subject) -> str:
    at_work = ["git is running in it, or was killed (index.lock)"] if subject.repository.own.has("index.lock") else []
    return "; ".join((*work.unfinished(subject.repository), *at_work))


def _is_not_locked(subject: Subject) -> str:
    own = subject.repository.own
    if subject.repository.shape is not Shape.WORKTREE or not own.has("locked"):
        return ""
    return subject.excuse.objection(own.line("locked"))


def _is_needed_by_nobody(subject: Subject) -> str:
    if subject.repository.shape is Shape.WORKTREE:
        return ""
    return "; ".join(work.needed_elsewhere(subject.repository))


def _nested_have_nothing(subject: Subject) -> str:
    """Submodules and other repositories inside, and submodules that are not checked out just now."""
    unit = subject.repository.unit
    problems = [f"{sentence} in {inside}" for inside in subject.nested
             for sentence in work.inspect(unit.dir_fd, unit.name, inside, was=unit.was).losses]  # fmt: skip
    return "; ".join((*problems, *work.in_modules(subject.repository)))


CHECKS: dict[str, Check] = {
    "clean": _is_clean,
    "reached": _is_reached,
    "own-refs": _has_no_refs_of_its_own,
    "stash": _has_no_stash,
    "unfinished": _is_finished,
    "locked": _is_not_locked,
    "needed": _is_needed_by_nobody,
    "ignored": _has_only_derived_files,
    "submodules": _nested_have_nothing,
}


def stash_origins(log: bytes) -> tuple[str, ...]:
    """The branch that each line of the stash's log was made on: `WIP on topic: 1a2b3c4 subject`, `On topic: words`."""
    origins = []
    for line in os.fsdecode(log).splitlines():
        message = line.partition("\t")[2]
        _, _, rest = message.partition("on " if message.startswith("WIP on ") else "On ")
        origins.append(rest.partition(":")[0])
    return tuple(origins)


def _with_names(what: str, names: Iterable[str], more: str = "") -> str:
    names = tuple(names)
    if not names:
        return ""
    names_text = ", ".join(names[:_MOST_NAMED]) + (", ..." if len(names) > _MOST_NAMED else "")
    return f"{plural(len(names), what)}{more}: {names_text}"


NOTHING_TO_LOSE = "nothing-to-lose"


@dataclass(frozen=True, slots=True)
class Tree:
    path: str
    maker: str | None  # the row of the catalogue that knows the place
    items: tuple[Item, ...]
    finding: Finding | None = None  # None: it vanished
    repository: str | None = None  # what to give to `git -C`; None: it could not be inspected
    is_linked: bool = True  # False: a clone, which is a repository of its own
    branch: str = ""  # "" where HEAD is detached
    head: str = ""
    forgotten: tuple[str, ...] = ()  # tips of commits that only the log of its HEAD has
    committed_s: int | None = None
    is_dirty: bool | None = None
    unpushed: int | None = None  # None: not measured, or there is no remote to push to
    merged: Merged | None = None
    held_by: tuple[Witness, ...] = ()
    measure: Measure | None = None
    derived: tuple[tuple[str, int], ...] = ()  # directories that can be made again, and their bytes

    @property
    def failing(self) -> Item | None:
        return next((item for item in self.items if item.holds is not Holds.YES), None)

    @property
    def is_proven(self) -> bool:
        return self.failing is None

    @property
    def reason(self) -> str:
        return ITEMS[self.failing.name][1] if self.failing else NOTHING_TO_LOSE

    @property
    def derived_bytes(self) -> int:
        return sum(size for _, size in self.derived)

    @property
    def may_lose_derived(self) -> bool:
        """Whether what can be made again may go: nobody uses the worktree, whatever else it holds."""
        in_the_way = ("unused", "idle", "inspectable")
        return bool(self.derived) and all(i.holds is Holds.YES for i in self.items if i.name in in_the_way)

    @property
    def lacks_only_a_name(self) -> bool:
        """Some of its commits have no branch and nothing else is wrong: references of ours make them safe."""
        failing = [item for item in self.items if item.holds is not Holds.YES]
        is_unreached = [item.name for item in failing] == ["reached"] and failing[0].holds is Holds.NO
        return self.is_linked and is_unreached and bool(self.head)
