"""Where else the commits of a repository are: what only a reflog remembers (after `reset --hard`, `commit --amend`),
and whether the work on a branch has arrived elsewhere, as commits or as the same patch (rebased, picked, squashed)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from enum import Enum

from ..lazy_dataclass import replace
from .git_program import NOBODY, Git
from .gitdir import Directory, Unclear, head_in, refs_in
from .repository import Repository, Shape

_NAMES = "refs/rescue/reflog"
_MOST = 500
_LONGEST = 64 << 20
_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def forgotten(repository: Repository, known: list[str], excluded: Iterable[str]) -> dict[str, str]:
    """Tips of commits that only a reflog has, under names of ours. `known`: objects that are saved anyway, `excluded`:
    words for rev-list that name what exists elsewhere."""
    tips = _tips(repository, _logged(_logs(repository)), (*excluded, *known))
    return {f"{_NAMES}/{number}": oid for number, oid in enumerate(tips)}


def only_in_its_own(repository: Repository, stays: Iterable[str], *, leaving_out: str = "") -> list[str]:
    """Tips of commits that only the HEAD log of this worktree has, which goes with it. The logs of the repository and
    of its branches stay, but that of the branch `leaving_out`, which is to be deleted."""
    own, common = repository.own, repository.common
    if repository.shape is not Shape.WORKTREE or not own.has("logs/HEAD"):
        return []
    logs = [(own, "logs/HEAD")]
    if leaving_out and common.has(f"logs/refs/heads/{leaving_out}"):
        logs.append((common, f"logs/refs/heads/{leaving_out}"))
    kept_logs = [(common, "logs/HEAD")] if common.has("logs/HEAD") else []
    kept_logs += [(common, path) for path in _below(common, "logs/refs/heads") if (common, path) not in logs]
    names, head = refs_in(own), head_in(own.fd)
    known = {*_logged(kept_logs), *names.values(), head}
    questionable = [oid for oid in _logged(logs) if oid not in known]
    own_refs = [
        oid for name, oid in names.items() if not name.startswith(("refs/heads/", "refs/tags/", "refs/remotes/"))
    ]
    return _tips(repository, questionable, ("--not", *stays, *own_refs, *filter(None, [head])))


def _tips(repository: Repository, logged: list[str], words: Iterable[str]) -> list[str]:
    if not logged:
        return []
    there = repository.git.output("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=_lines(logged))
    lines = there.decode().splitlines()
    # the object that git leaves out may be the very commit that exists nowhere else
    if len(lines) != len(logged):
        raise Unclear("git did not report every object in the reflogs")
    if not (commits := [line.split()[0] for line in lines if line.endswith(" commit")]):
        return []
    answer = repository.git.output("rev-list", "--parents", "--stdin", *words, stdin=_lines(commits))
    parents_of = [line.split() for line in answer.decode().splitlines()]
    parents = {parent for _, *above in parents_of for parent in above}
    tips = [oid for oid, *_ in parents_of if oid not in parents]
    if len(tips) > _MOST:
        raise Unclear(f"its reflogs contain more than {_MOST} lines of forgotten commits")
    return tips


def _logged(logs: Iterable[tuple[Directory, str]]) -> list[str]:
    """Object names in these logs."""
    objects: dict[str, None] = {}
    for directory, name in logs:
        for line in os.fsdecode(directory.read(name, _LONGEST)).splitlines():
            # only zeros: the ref did not exist before that line
            objects |= dict.fromkeys(oid for oid in line.split(" ", 2)[:2] if _OBJECT.fullmatch(oid) and oid.strip("0"))
    return list(objects)


def _logs(repository: Repository) -> Iterator[tuple[Directory, str]]:
    """Of a worktree its own alone."""
    own = repository.own
    if own.has("logs/HEAD"):
        yield own, "logs/HEAD"
    if repository.shape is not Shape.WORKTREE:
        yield from ((own, path) for path in _below(own, "logs/refs/heads"))


def _below(directory: Directory, top: str) -> Iterator[str]:
    todo = [top]
    while todo:
        here = todo.pop()
        for name in directory.names(here):
            path = f"{here}/{name}"
            if directory.has_directory(path):
                todo.append(path)
            else:
                yield path


def _lines(names: list[str]) -> bytes:
    return "".join(f"{name}\n" for name in names).encode()


# With a date that never changes, the same tree always becomes the same commit.
_NEVER = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "@0 +0000")


class Merged(Enum):
    REACHABLE = "reachable"
    SAME_PATCH = "same-patch"
    NO = "no"


def trunks(repository: Repository) -> list[str]:
    """Refs that work is merged into: what a remote calls its default, what the main checkout is on, main, master."""
    names = [f"refs/remotes/{remote}/HEAD" for remote in repository.config.published_by()]
    head = repository.common.line("HEAD")
    names += [head.removeprefix("ref: ")] if head.startswith("ref: ") else []
    names += ["refs/heads/main", "refs/heads/master"]
    return list(dict.fromkeys(names))


def merged_into(repository: Repository, head: str, branch: str, objects: str, known: dict[str, str]) -> Merged:
    """How `head`, on `branch`, is contained in the first trunks there are (`known`: ref -> object name).

    `objects`: a private directory of ours for the one commit that a squash merge is compared with."""
    there = [name for name in trunks(repository) if name in known and name != f"refs/heads/{branch}"]
    bases = list(dict.fromkeys(known[name] for name in there))[:3]
    git = repository.git
    for base in bases:
        if base == head or git.output("rev-list", "--count", "--max-count=1", head, "--not", base, "--") == b"0\n":
            return Merged.REACHABLE
    return Merged.SAME_PATCH if any(_has_same_patch(repository, head, base, objects) for base in bases) else Merged.NO


def _has_same_patch(repository: Repository, head: str, base: str, objects: str) -> bool:
    if _all_are_there(repository, head, base):
        return True
    fork = repository.git.output("merge-base", "--all", head, base).decode().split()
    # after merges in both directions there is no single commit from which a squash could have started
    if len(fork) != 1:
        return False
    squashed = replace(repository, git=_writing_to(repository, objects))
    message = ("-m", "what a squash merge would have made")
    commit = squashed.git.output("commit-tree", f"{head}^{{tree}}", "-p", fork[0], *message).decode().strip()
    return _all_are_there(squashed, commit, base)


def _all_are_there(repository: Repository, head: str, base: str) -> bool:
    """git compares patches without line numbers; `-` is a commit whose patch the other side has too."""
    lines = repository.git.output("cherry", base, head).splitlines()
    return bool(lines) and all(line.startswith(b"- ") for line in lines)


def _writing_to(repository: Repository, objects: str) -> Git:
    """The same git, whose new objects go to a directory of ours."""
    places = {
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{repository.common.path}/objects",
    }
    return replace(repository.git, environment=repository.git.environment | places | NOBODY | _NEVER)
