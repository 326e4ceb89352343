"""Bring back what lies in quarantine, to where it was or elsewhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from ...errors import NameTaken, NotFound, TmpwardenError, UnsafeScratch
from ...lazy_dataclass import dataclass
from ...model.sweep import Measure
from ...oskit.files import copying, own_files, places, take, walk
from ...oskit.race import race_window as _race_window
from ...text import plural, shown
from . import quarantine, undoing
from .journal import Journal, restorable
from .staging import remove_left, staging
from .way_back import open_parent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True)
class Restored:
    id: str
    path: str  # where it is now
    bytes: int
    entries: int


def undo(token: str | None = None, to: str | None = None) -> tuple[Restored, ...]:
    """Bring back one unit by its id (a unique beginning will do), or all that the last run took."""
    journal = Journal(places.state_dir())
    undoing.mend(journal)
    for _ in remove_left(journal):
        pass  # the next clean says so
    known = restorable(journal.state, must_read=True)
    doors = _Doors()
    try:
        chosen = _chosen(known, token, doors)
        if not chosen:
            raise NotFound(_nothing(token), hint="`tmpwarden log` lists what was removed and what can come back")
        return tuple(_each(journal, chosen, to, doors))
    finally:
        doors.close()


class _Doors:
    """The quarantines of one undo, each opened once."""

    def __init__(self) -> None:
        self._fds: dict[str, int] = {}

    def holding(self, entry: dict[str, Any]) -> tuple[str, int] | None:
        """The quarantine that holds the entry; None if it has expired there. Raises OSError where that cannot be looked
        at: it is not gone then."""
        name = str(entry["id"])
        for directory in (quarantine.beside(str(entry["root"])), quarantine.of_home(places.state_dir())):
            fd = self._opened(directory)
            if fd < 0 or not quarantine.is_token(name):
                continue
            try:
                os.lstat(name, dir_fd=fd)
            except FileNotFoundError:
                continue
            return directory, fd
        return None

    def _opened(self, directory: str) -> int:
        """-1: there is none, or it is not ours."""
        if directory not in self._fds:
            try:
                self._fds[directory] = quarantine.opened(directory)
            except (FileNotFoundError, UnsafeScratch):
                self._fds[directory] = -1
        return self._fds[directory]

    def close(self) -> None:
        for fd in self._fds.values():
            if fd >= 0:
                os.close(fd)


def of_the_last_run() -> list[dict[str, Any]]:
    """What `undo` without an id would bring back."""
    doors = _Doors()
    try:
        return _chosen(restorable(places.state_dir()), None, doors)
    finally:
        doors.close()


def _each(journal: Journal, chosen: list[dict[str, Any]], to: str | None, doors: _Doors) -> Iterator[Restored]:
    """One that cannot come back keeps no other from coming; the first such is told once all were tried."""
    problems: list[TmpwardenError | OSError] = []
    for entry in chosen:
        try:
            yield _bring_back(journal, entry, to, doors)
        except (TmpwardenError, OSError) as problem:
            problems.append(problem)
    if problems:
        first, others = problems[0], len(chosen) - len(problems)
        if others and isinstance(first, TmpwardenError):
            first.hint = f"{plural(others, 'other item')} came back; {first.hint}"
        raise first


def _chosen(known: dict[str, dict[str, Any]], token: str | None, doors: _Doors) -> list[dict[str, Any]]:
    if token is not None:
        found = [entry for name, entry in known.items() if name.startswith(token) and token]
        return found if len(found) == 1 else []
    last = next((entry["run"] for entry in reversed(known.values()) if doors.holding(entry)), None)
    return [entry for entry in known.values() if entry["run"] == last and doors.holding(entry)]


def _nothing(token: str | None) -> str:
    if token is None:
        return "nothing is left to bring back"
    return f"nothing that can be brought back is called {shown(token)}"


def _bring_back(journal: Journal, entry: dict[str, Any], to: str | None, doors: _Doors) -> Restored:
    token, path = str(entry["id"]), str(entry["path"])
    found = doors.holding(entry)
    if not found:
        raise NotFound(f"{shown(path)} is not in quarantine any more")
    directory, fd = found
    target = os.path.join(to, os.path.basename(path)) if to else path
    undoing.begin(journal, fd, token, directory, target)
    if to:
        _move(journal, fd, directory, token, target)
    else:
        parent_fd = open_parent(str(entry["root"]), path)
        try:
            if not take.put_back(fd, token, parent_fd, os.path.basename(path)):
                raise _refusal(entry, doors)
        finally:
            os.close(parent_fd)
    journal.open()
    journal.note("undone", id=token, path=target)
    return Restored(token, target, int(entry["bytes"]), int(entry["entries"]))


def _refusal(entry: dict[str, Any], doors: _Doors) -> TmpwardenError:
    """Two may bring back the same unit at once, or its time may be over just now: then nobody has its name."""
    path = shown(str(entry["path"]))
    return NameTaken(path) if doors.holding(entry) else NotFound(f"{path} is not in quarantine any more")


def _move(journal: Journal, fd: int, directory: str, token: str, target: str) -> None:
    """Into any directory the user names: a rename on the same file system, a copy and then a purge on another."""
    parent, name = os.path.split(target)
    parent_fd = walk.open_dir(os.path.realpath(parent))
    try:
        if take.put_back(fd, token, parent_fd, name):
            return
        if own_files.exists(name, parent_fd):
            raise NameTaken(shown(target), hint="choose another directory for --to")
        _copy_over(journal, fd, token, parent_fd, parent, name)
    finally:
        os.close(parent_fd)
    quarantine.destroy(quarantine.Stored(directory, token, 0))


def _copy_over(journal: Journal, fd: int, token: str, parent_fd: int, parent: str, name: str) -> None:
    """All or nothing: the copy is made where only we can enter, compared, and moved into place whole."""
    with staging(journal, parent_fd, parent) as staging_fd:
        before = walk.measure(fd, token, uid=places.uid(), count_atime=False)
        copied = copying.copy(fd, token, staging_fd, name)
        os.sync()
        if before is None or before.at_least or copied != before.entries or before != _again(fd, token):
            raise OSError(errno.ESTALE, "it changed while it was copied", f"{parent}/{name}")
        _race_window("copied, not yet in place")
        if not take.put_back(staging_fd, name, parent_fd, name):
            raise NameTaken(shown(f"{parent}/{name}"), hint="choose another directory for --to")


def _again(fd: int, token: str) -> Measure | None:
    return walk.measure(fd, token, uid=places.uid(), count_atime=False)
