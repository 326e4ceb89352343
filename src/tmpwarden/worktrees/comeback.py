"""Bring worktrees back whole: the directory, its entry in the repository, its branch; and let both find each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..oskit.files import places
from ..repos.gitdir import Unclear
from ..sweep.packed import Packed
from ..sweep.store.journal import entries, restorable
from ..sweep.store.undo import Restored, undo
from . import repository_changes as changes
from .removal import NOTE

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
    found: dict[str, dict[str, str]] = {}
    for line in entries(state, NOTE):
        if line.get("t") == NOTE and all(isinstance(line.get(name), str) for name in _FIELDS):
            found[line["id"]] = {name: line[name] for name in (*_FIELDS, "run")} | {"references": _references(line)}
    waiting = restorable(state) if found else {}
    return {token: tie for token, tie in found.items() if token in waiting or tie["entry"] in waiting}


def _references(line: Mapping[str, Any]) -> str:
    """As JSON. An older note names one, of its HEAD."""
    if line.get("reference"):
        return json.dumps({str(line["reference"]): line["head"]})
    found = line.get("references")
    pairs = found.items() if isinstance(found, dict) else ()
    return json.dumps({name: oid for name, oid in pairs if isinstance(name, str) and isinstance(oid, str)})


def _chosen(ties: dict[str, dict[str, str]], token: str | None) -> list[dict[str, str]]:
    if token is not None:
        return [tie for tie in ties.values() if any(tie[name].startswith(token) for name in ("id", "entry"))][:1]
    last = next((entry["run"] for entry in restorable(places.state_dir()).newest_first()), None)
    return [tie for tie in ties.values() if tie["run"] == last]


def _is_anything_left(chosen: list[dict[str, str]]) -> bool:
    waiting = restorable(places.state_dir())
    return any(tie["id"] in waiting for tie in chosen)


def _after_care(chosen: Iterable[dict[str, str]], restored: Iterable[Restored]) -> Iterable[str]:
    back = {each.id: each.path for each in restored}
    for tie in chosen:
        if tie["id"] not in back:
            continue
        try:
            if tie["branch"]:
                changes.bring_back_branch(tie["common"], tie["branch"], tie["head"])
            changes.repair(tie["common"], back[tie["id"]])
            for reference, oid in json.loads(tie["references"]).items():
                changes.drop_reference(tie["common"], reference, oid)
        except (Unclear, OSError) as error:
            yield f"{back[tie['id']]} is back, but its repository could not be told: {error}"
