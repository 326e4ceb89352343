"""What would be lost with a repository: work that exists nowhere else."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ..lazy_dataclass import dataclass
from ..oskit import system
from ..oskit.files.opening import closing, descend
from ..text import is_within
from . import history, origins
from .gitdir import OF_A_WORKTREE, Directory, Unclear, branch_in, head_in, refs_in
from .makers import unique
from .repository import Repository, Shape, Unit, module, opened
from .status import TreeStatus, lfs_objects_may_be_only_here, status_of

_MOST_BRANCHES_SHOWN = 5
_MOST_MODULES = 200
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "BISECT_LOG": "bisect",
}
# True whatever the remotes are: none, one that was not told yet, one in a temp directory that has the commit for now.
_ALONE = "that no remote is known to have"
STAYS = ("--branches", "--tags", "--remotes", "--glob=refs/tmpwarden/")  # refs that outlive a worktree


@dataclass(frozen=True, slots=True)
class Found:
    """What an inspection saw."""

    losses: tuple[str, ...] = ()  # sentences about what exists only here
    worktree_of: str | None = None  # a repository elsewhere that keeps an administrative entry of what goes
    rests_on: tuple[str, ...] = ()  # repositories on this machine that hold what nothing else does


class Excuse:
    """What does not keep a repository although it looks like something to lose. This one excuses nothing."""

    __slots__ = ()

    def is_harmless(self, name: str, is_ignored: bool) -> bool:
        """Of a file that git does not track, relative to the tree."""
        return False

    def objection(self, reason: str) -> str:
        """To the lock of a worktree: "" if it does not count any more."""
        return f"locked: {reason}".removesuffix(": ")


Excuses = Callable[[Repository], Excuse]


def no_excuse(repository: Repository) -> Excuse:
    return Excuse()


def inspect(
    dir_fd: int,
    name: str,
    inside: str = "",
    *,
    was: str | None = None,
    excuses: Excuses = no_excuse,
    temp_root: str = "",
) -> Found:
    """What exists only in the repository `inside` the unit `name` of an open directory; raises Unclear, which keeps it.

    `was`: the path that the unit had, if it was moved. Files that git ignores count too, unless their maker's evidence
    says that they can be made again: the same test as in a worktree's proof. `excuses`: what such a proof has excused.
    `temp_root`: where it lies, if an origin outside may be asked; the answer rests on that then.
    """
    unit = Unit(dir_fd, name, was or f"{system.descriptors.path_of(dir_fd)}/{name}", temp_root)
    try:
        with opened(unit, inside) as repository:
            if repository is None:
                return Found()
            entry = repository.main if repository.shape is Shape.WORKTREE and _lies_outside(repository) else None
            losses = tuple(_losses(repository, excuses(repository)))
            return Found(losses, entry, tuple(dict.fromkeys(unit.rests_on)))
    except (OSError, ValueError) as error:
        raise Unclear(str(error)) from None


def _lies_outside(repository: Repository) -> bool:
    now = repository.unit.now(repository.unit.was)
    return not f"{repository.common.path}/".startswith(f"{now}/")


def _losses(repository: Repository, excuse: Excuse) -> Iterator[str]:
    yield from unfinished(repository)
    if repository.shape is not Shape.BARE:
        yield from uncommitted(repository, excuse)
    if repository.shape is Shape.WORKTREE:
        yield from _only_of_this_worktree(repository, excuse)
    else:
        yield from needed_elsewhere(repository)
        yield from stashes(repository)
        yield from unpublished(repository)
    yield from in_modules(repository)


def unfinished(repository: Repository) -> Iterator[str]:
    for name in sorted({work for mark, work in _UNFINISHED.items() if repository.own.has(mark)}):
        yield f"an unfinished {name}"


def uncommitted(repository: Repository, excuse: Excuse) -> Iterator[str]:
    status = status_of(repository, is_harmless=excuse.is_harmless)
    if changed := len(status.changed):
        yield counted(changed, "modified file")
    names = check_flags(repository)
    top = system.descriptors.way_to(repository.tree.fd)
    if count := sum(_has_unique(top, name, status, excuse) for name in names):
        yield counted(count, "untracked file")
    if hidden := [path for path in status.ignored if not any(is_within(path, name) for name in names)]:
        yield f"{counted(len(hidden), 'ignored file')} that cannot be created again: {hidden[0]}"


def _has_unique(top: str, name: str, status: TreeStatus, excuse: Excuse) -> bool:
    paths = (os.path.relpath(path, top) for path in unique(f"{top}/{name}", with_repositories=True))
    return any(not excuse.is_harmless(each, status.is_hidden(each)) for each in paths)


def check_flags(repository: Repository) -> list[str]:
    """What git does not track and no .gitignore hides. Unclear where git was told not to look; what a sparse checkout
    left out is not there and cannot be lost."""
    words = ("-v", "-z", "--cached", "--others", "--exclude-per-directory=.gitignore", "--directory")
    others, tracked = [], 0
    for line in filter(None, repository.git.output("ls-files", *words).split(b"\0")):
        flag, name = line[:1], os.fsdecode(line[2:])
        tracked += flag != b"?"
        if flag == b"?":
            others.append(name.rstrip("/"))
        elif flag.islower():
            raise Unclear(f"git is set to ignore changes in {name} (assume-unchanged)")
        elif flag == b"S" and repository.tree.has(name):
            raise Unclear(f"git is set to ignore changes in {name} (skip-worktree)")
    if tracked < repository.own.check_index():
        raise Unclear("git listed only some of the files in its index")
    return others


def _only_of_this_worktree(repository: Repository, excuse: Excuse) -> Iterator[str]:
    """Its branch and stashes are the main repository's, and stay there."""
    if repository.own.has("locked") and excuse.objection(repository.own.line("locked")):
        yield f"a worktree locked by {repository.main}"
    if is_detached(repository) and (count := commits(repository, "HEAD", "--not", *STAYS)):
        yield f"detached HEAD with {counted(count, 'commit')} that no branch has"
    yield from own_refs(repository)
    yield from only_logged(repository)


def only_logged(repository: Repository, *, leaving_out: str = "") -> Iterator[str]:
    """Commits that go with the log of its HEAD. `leaving_out`: a branch that is to be deleted with it."""
    if tips := history.only_in_its_own(repository, STAYS, leaving_out=leaving_out):
        yield f"commits that only the reflog of this worktree has ({', '.join(tip[:12] for tip in tips[:3])})"


def own_refs(repository: Repository) -> Iterator[str]:
    """Refs that go with the entry of their worktree, if they hold what no other has."""
    own = [name for name in refs(repository) if name.startswith(OF_A_WORKTREE)]
    if own and (count := commits(repository, *own, "--not", *STAYS)):
        yield f"{counted(count, 'commit')} that only this worktree's own refs have"


def needed_elsewhere(repository: Repository) -> Iterator[str]:
    """Worktrees outside the unit. One that is gone needs nothing; one inside goes or stays with it."""
    entries = [Directory(descend(repository.common.fd, f"worktrees/{name}"))
               for name in repository.common.names("worktrees")]  # fmt: skip
    try:
        count = sum(_is_used_elsewhere(repository, entry) for entry in entries)
    finally:
        for entry in entries:
            os.close(entry.fd)
    if count:
        yield f"{counted(count, 'worktree')} elsewhere that need{'s' if count == 1 else ''} this repository"


def _is_used_elsewhere(repository: Repository, entry: Directory) -> bool:
    path = os.path.normpath(os.path.join(entry.path, entry.line("gitdir")))
    if entry.has("locked"):
        return True  # perhaps on a medium that is not mounted now
    return not f"{path}/".startswith(f"{repository.unit.was}/") and os.path.lexists(path)


def stashes(repository: Repository) -> Iterator[str]:
    common = repository.common
    if common.has("logs/refs/stash"):
        count = common.read("logs/refs/stash").count(b"\n")
    else:
        count = int(common.has("refs/stash"))
    if count:
        yield "1 stash" if count == 1 else f"{count} stashes"


def unpublished(repository: Repository) -> Iterator[str]:
    """Commits that no tracking ref of a remote elsewhere reaches, and what they point to outside of git."""
    known = published(repository)
    if lfs_objects_may_be_only_here(repository.common):
        yield "objects of git-lfs, in a clone where commits were made: whether the server has them is not known"
    own = [name for name in refs(repository) if not name.startswith(("refs/remotes/", "refs/stash"))]
    own += _heads_of_worktrees(repository)
    heads = ["HEAD"] if is_detached(repository) else []
    near = (
        origins.held(repository, _listed(repository, *heads, *own, *known)) if own or heads else origins.AskedOrigins()
    )
    held, alone = near.commits, f"{_ALONE} ({near.not_asked[0]})" if near.not_asked else _ALONE
    if heads and (count := _missing(repository, held, "HEAD", *known, "--branches")):
        yield f"detached HEAD with {counted(count, 'commit')} {alone}"
    if not own or not _missing(repository, held, *own, *known):
        return
    branches = [(name, count) for name in own[:200] if (count := _missing(repository, held, name, *known))]
    for name, count in branches[:_MOST_BRANCHES_SHOWN]:
        yield f"{counted(count, 'commit')} on {_short_name(name)} {alone}"
    if len(branches) > _MOST_BRANCHES_SHOWN:
        more = counted(len(branches) - _MOST_BRANCHES_SHOWN, "more branch", "more branches")
        yield f"commits on {more} {alone}"


def _heads_of_worktrees(repository: Repository) -> list[str]:
    """Detached ones: what they hold may have no other name."""
    entries = [f"worktrees/{name}/HEAD" for name in repository.common.names("worktrees")]
    return [name for name in entries if not repository.common.line(name).startswith("ref: ")]


def published(repository: Repository) -> list[str]:
    """Words for rev-list that leave out what lies on another machine. The edge of a shallow clone was fetched too."""
    remotes = repository.config.published_by()
    if not remotes:
        return ["--not"]
    return ["--not", *(f"--remotes={name}" for name in remotes), *_shallow_commits(repository)]


def _shallow_commits(repository: Repository) -> list[str]:
    if not repository.common.has("shallow"):
        return []
    words = repository.common.read("shallow").decode("ascii", "replace").split()
    if len(words) > 1000 or not all(set(word) <= set("0123456789abcdef") for word in words):
        raise Unclear("its list of shallow commits is damaged")
    return words


def is_detached(repository: Repository) -> bool:
    return not branch_in(repository.own) and bool(head_in(repository.own.fd))


def refs(repository: Repository) -> dict[str, str]:
    """Every ref and its object, as git and the disk say alike."""
    return {name: oid for name, oid, *_ in _refs(repository, "")}


def dated_refs(repository: Repository) -> dict[str, tuple[str, str]]:
    """For every ref its object, and when that was committed ("" if it is no commit)."""
    return {name: (oid, date) for name, oid, date in _refs(repository, "%00%(committerdate:unix)")}


def _refs(repository: Repository, more: str) -> list[list[str]]:
    form = f"--format=%(refname)%00%(objectname){more}"
    lines = os.fsdecode(repository.git.output("for-each-ref", form)).split("\n")
    rows = [line.split("\0") for line in lines if line]
    if {name: oid for name, oid, *_ in rows} != refs_in(repository.own):
        raise Unclear("git does not list the refs that are on disk")
    return rows


def _listed(repository: Repository, *revisions: str) -> list[str]:
    return repository.git.output("rev-list", *revisions, "--").decode().split() if repository.unit.temp_root else []


def _missing(repository: Repository, held: set[str], *revisions: str) -> int:
    """How many of these commits no origin on this machine holds either."""
    if not held:
        return commits(repository, *revisions)
    return len(set(_listed(repository, *revisions)) - held)


def commits(repository: Repository, *revisions: str) -> int:
    """Raises ValueError if git prints no number."""
    return int(repository.git.output("rev-list", "--count", *revisions, "--"))


def in_modules(repository: Repository) -> Iterator[str]:
    """Repositories of submodules lie in the git directory, also of such that are not checked out just now."""
    for name in modules(repository):
        directory = Directory(descend(repository.own.fd, name))
        with closing(directory.fd):
            inner = module(repository.unit, f"{repository.path}/.git/{name}", directory)
            for sentence in (*stashes(inner), *unpublished(inner)):
                yield f"{sentence} in submodule {name.removeprefix('modules/')}"


def modules(repository: Repository) -> list[str]:
    """Directories of submodules' repositories below the git directory."""
    names = list(_modules(repository.own, "modules"))
    if len(names) > _MOST_MODULES:
        raise Unclear(f"it has more than {_MOST_MODULES} submodules")
    return names


def _modules(directory: Directory, name: str) -> Iterator[str]:
    for each in directory.names(name):
        below = f"{name}/{each}"
        if directory.has(f"{below}/HEAD") and directory.has_directory(f"{below}/objects"):
            yield below
            yield from _modules(directory, f"{below}/modules")
        elif directory.has_directory(below):
            yield from _modules(directory, below)
        else:
            raise Unclear(f"{below} in it is not a submodule")


def counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _short_name(ref: str) -> str:
    for prefix, word in (("refs/heads/", "branch "), ("refs/tags/", "tag ")):
        if ref.startswith(prefix):
            return word + ref.removeprefix(prefix)
    return ref
