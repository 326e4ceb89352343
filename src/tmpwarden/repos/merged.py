"""Whether the work on a branch has arrived elsewhere: reachable, or as the same patch (rebased, picked, squashed)."""

from __future__ import annotations

from enum import Enum

from ..lazy_dataclass import replace
from .git_program import NOBODY, Git
from .repository import Repository

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
