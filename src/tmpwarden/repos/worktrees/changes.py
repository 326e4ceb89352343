"""The few things that are changed in a user's repository, each only because the user asked for that very worktree; and
the way back: the directory, its entry in the repository, its branch, all linked again.

The repository was opened and found harmless right before; hooks, filters and helpers are off as in every call of ours.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...oskit.files import places
from ...oskit.files.opening import closing
from ...sweep.packed import Packed
from ...sweep.store.journal import entries, restorable
from ...sweep.store.undo import Restored, undo
from .. import gitdir
from ..git_program import Git
from ..gitdir import Unclear

NOTE = "worktree"  # the kind of line in the journal that ties a directory to its entry
REFERENCES = "refs/tmpwarden/worktrees"


@contextmanager
def _git(common: str) -> Iterator[Git]:
    with closing(os.open(common, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as fd:
        yield Git(fd, directory=".", work_tree=None)


def give_reference(common: str, name: str, head: str) -> str:
    """A ref of ours that keeps a detached HEAD's commits; its name."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in name)
    ref = f"{REFERENCES}/{plain.strip('-') or 'worktree'}-{head[:12]}"
    with _git(common) as git:
        git.output("update-ref", "--no-deref", ref, head)
    return ref


def drop_reference(common: str, ref: str, head: str) -> None:
    """Take it away again, if it still is what we made it."""
    with _git(common) as git:
        if git.succeeds("show-ref", "--verify", "--quiet", ref):
            git.output("update-ref", "--no-deref", "-d", ref, head)


def delete_branch(common: str, branch: str, head: str) -> bool:
    """False if it has moved on, or another worktree has it checked out."""
    if any(_branch_of(path) == branch for path in (common, *gitdir.entries(common))):
        return False
    with _git(common) as git:
        try:
            git.output("update-ref", "--no-deref", "-d", f"refs/heads/{branch}", head)
        except Unclear:
            return False
    return True


def bring_back_branch(common: str, branch: str, head: str) -> None:
    """Unless somebody has made it anew."""
    with _git(common) as git:
        if not git.succeeds("show-ref", "--verify", "--quiet", f"refs/heads/{branch}"):
            git.output("update-ref", "--no-deref", f"refs/heads/{branch}", head, "")


def repair(common: str, path: str) -> None:
    """Let the entry and a worktree that came back to another place find each other again."""
    with _git(common) as git:
        git.output("worktree", "repair", path)


def _branch_of(directory: str) -> str:
    """What the HEAD in a git directory stands on."""
    try:
        return gitdir.line_of(directory, "HEAD").removeprefix("ref: refs/heads/")
    except (OSError, Unclear):
        return ""


_FIELDS = ("id", "entry", "common", "head", "branch")


def undo_with_entries(token: str | None = None, to: str | None = None) -> tuple[Sequence[Restored], list[str]]:
    """As `undo`; what belongs to a worktree comes back with it, and a clean's units as ever. Also warnings."""
    ties = _ties()
    chosen = _chosen(ties, token) if ties else []
    if not chosen:
        return undo(token, to), []
    restored: Packed[Restored] = Packed()
    for tie in chosen:  # never to another place: an entry belongs into its repository
        if tie["entry"] in restorable(places.state_dir()):
            restored += undo(tie["entry"])
    if token is not None:
        restored += undo(chosen[0]["id"], to)
    elif _is_anything_left(chosen):
        restored += undo(token, to)
    return restored, list(_after_care(chosen, restored))


def _ties() -> dict[str, dict[str, str]]:
    """By the id of the directory, those that can still come back."""
    state = places.state_dir()
    ties: dict[str, dict[str, str]] = {}
    for line in entries(state, NOTE):
        if line.get("t") == NOTE and all(isinstance(line.get(name), str) for name in _FIELDS):
            ties[line["id"]] = {name: line[name] for name in (*_FIELDS, "run")} | {"references": _references(line)}
    restorable_ = restorable(state) if ties else {}
    return {token: tie for token, tie in ties.items() if token in restorable_ or tie["entry"] in restorable_}


def _references(line: Mapping[str, Any]) -> str:
    """As JSON. An older note names one, of its HEAD."""
    if line.get("reference"):
        return json.dumps({str(line["reference"]): line["head"]})
    references = line.get("references")
    pairs = references.items() if isinstance(references, dict) else ()
    return json.dumps({name: oid for name, oid in pairs if isinstance(name, str) and isinstance(oid, str)})


def _chosen(ties: dict[str, dict[str, str]], token: str | None) -> list[dict[str, str]]:
    if token is not None:
        return [tie for tie in ties.values() if any(tie[name].startswith(token) for name in ("id", "entry"))][:1]
    last = next((entry["run"] for entry in restorable(places.state_dir()).newest_first()), None)
    return [tie for tie in ties.values() if tie["run"] == last]


def _is_anything_left(chosen: list[dict[str, str]]) -> bool:
    restorable_ = restorable(places.state_dir())
    return any(tie["id"] in restorable_ for tie in chosen)


def _after_care(chosen: Iterable[dict[str, str]], restored: Iterable[Restored]) -> Iterable[str]:
    back = {each.id: each.path for each in restored}
    for tie in chosen:
        if tie["id"] not in back:
            continue
        try:
            if tie["branch"]:
                bring_back_branch(tie["common"], tie["branch"], tie["head"])
            repair(tie["common"], back[tie["id"]])
            for reference, oid in json.loads(tie["references"]).items():
                drop_reference(tie["common"], reference, oid)
        except (Unclear, OSError) as error:
            yield f"{back[tie['id']]} is back, but its repository not available: {error}"
