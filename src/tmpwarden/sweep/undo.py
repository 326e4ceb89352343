"""Bring back what lies in quarantine, to where it was or elsewhere."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Any

from ..errors import NameTaken, NotFound, UnsafeRoot
from ..oskit import places, purge, take, walk
from ..text import shown
from .journal import Journal, restorable


@dataclass(frozen=True, slots=True)
class Restored:
    id: str
    path: str  # where it is now
    bytes: int
    entries: int


def undo(token: str | None = None, to: str | None = None) -> tuple[Restored, ...]:
    """Bring back one unit by its id (a unique beginning will do), or all that the last run took."""
    journal = Journal(places.state_dir())
    known = restorable(journal.state)
    chosen = _chosen(known, token)
    if not chosen:
        raise NotFound(_nothing(token), hint="`tmpwarden log` lists what was removed and what can come back")
    return tuple(_bring_back(journal, entry, to) for entry in chosen)


def _chosen(known: dict[str, dict[str, Any]], token: str | None) -> list[dict[str, Any]]:
    if token is not None:
        found = [entry for name, entry in known.items() if name.startswith(token) and token]
        return found if len(found) == 1 else []
    last = next(reversed(known.values()), None)
    return [entry for entry in known.values() if last and entry["run"] == last["run"]]


def _nothing(token: str | None) -> str:
    if token is None:
        return "nothing is left to bring back"
    return f"nothing that can be brought back is called {shown(token)}"


def _bring_back(journal: Journal, entry: dict[str, Any], to: str | None) -> Restored:
    token, path = str(entry["id"]), str(entry["path"])
    directory = _directory_of(entry)
    target = os.path.join(to, os.path.basename(path)) if to else path
    fd = walk.open_dir(directory)
    try:
        if to:
            _move(fd, directory, token, target)
        else:
            parent_fd = _parent(str(entry["root"]), os.path.dirname(path))
            try:
                if not take.put_back(fd, token, parent_fd, os.path.basename(path)):
                    raise NameTaken(shown(path))
            finally:
                os.close(parent_fd)
    finally:
        os.close(fd)
    journal.open()
    journal.note("undone", id=token, path=target)
    return Restored(token, target, int(entry["bytes"]), int(entry["entries"]))


def _directory_of(entry: dict[str, Any]) -> str:
    """The quarantine that holds the entry; NotFound if it has expired there."""
    root = str(entry["root"])
    for directory in (places.quarantine(root), f"{places.state_dir()}/q"):
        if os.path.lexists(f"{directory}/{entry['id']}"):
            return directory
    raise NotFound(f"{shown(str(entry['path']))} is not in quarantine any more")


def _parent(root: str, directory: str) -> int:
    """Open the parent below its root, making again what went because it had become empty. No link is followed."""
    fd = walk.open_dir(root)
    for component in directory[len(root) :].split("/"):
        if not component:
            continue
        try:
            try:
                deeper = walk.open_dir(component, dir_fd=fd)
            except FileNotFoundError:
                os.mkdir(component, 0o700, dir_fd=fd)
                deeper = walk.open_dir(component, dir_fd=fd)
        finally:
            os.close(fd)
        fd = deeper
    if os.fstat(fd).st_uid not in (0, places.uid()):
        os.close(fd)
        raise UnsafeRoot(shown(directory), "it belongs to another user now")
    return fd


def _move(fd: int, directory: str, token: str, target: str) -> None:
    """Into any directory the user names: a rename on the same file system, a copy and then a purge on another."""
    if os.path.lexists(target):
        raise NameTaken(shown(target), hint="choose another directory for --to")
    parent_fd = os.open(os.path.dirname(target) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if take.put_back(fd, token, parent_fd, os.path.basename(target)):
            return
    finally:
        os.close(parent_fd)
    source = f"{directory}/{token}"
    if os.path.isdir(source) and not os.path.islink(source):
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)
    purge.purge(fd, token)
