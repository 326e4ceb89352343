"""Bring back what lies in quarantine, to where it was or elsewhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator

from ...errors import NameTaken, NotFound, TmpwardenError, UnsafeScratch
from ...lazy_dataclass import dataclass
from ...model.answers import Nobody
from ...oskit.files import copying, kernel_word, own_files, places, take, walk
from ...oskit.files.doomed import Bound
from ...oskit.files.opening import closing
from ...oskit.proc.holders import Holders
from ...oskit.race import race_window as _race_window
from ...text import plural, shown
from ..packed import Packed
from . import labels, quarantine, way_back
from .journal import Journal, Waiting
from .labels import quarantined, restorable
from .way_back import open_parent, remove_left, staging

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    _Match = tuple[dict[str, Any], tuple[str, int] | None]  # an entry, and the quarantine that holds it

_TOGETHER = 32  # units that are told of with one write; who is killed before has brought them back untold


@dataclass(frozen=True, slots=True)
class Restored:
    id: str
    path: str  # where it is now
    bytes: int
    entries: int


def undo(token: str | None = None, to: str | None = None) -> Packed[Restored]:
    """Bring back one unit by its id (a unique beginning will do), or all that the last run took."""
    journal = Journal(places.state_dir())
    way_back.mend(journal)
    for _ in remove_left(journal):
        pass  # the next clean says so
    known = restorable(journal.state, must_read=True)
    with _Doors(journal.state) as doors, journal.together():
        restored = Packed(_each(journal, _chosen(known, token, doors), to, doors))
    if not restored:
        raise _nothing_to_undo(token, journal.state)
    return restored


class _Doors:
    """What one undo has open: the quarantines, each once, and the directory that the last unit went back to."""

    def __init__(self, state: str) -> None:
        self._fds: dict[str, int] = {}
        self._labels: dict[int, dict[str, tuple[str, ...]]] = {}
        self._of_home = quarantine.of_home(state)
        self._parent, self._parent_fd = ("", ""), -1

    def __enter__(self) -> _Doors:
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (*self._fds.values(), self._parent_fd):
            if fd >= 0:
                os.close(fd)

    def holding(self, entry: dict[str, Any]) -> tuple[str, int] | None:
        """The quarantine that holds the entry; None if it has expired there. Raises OSError where that cannot be looked
        at: it is not gone then."""
        name = str(entry["id"])
        for directory in (quarantine.beside(str(entry["root"])), self._of_home):
            fd = self._opened(directory)
            if fd < 0 or not quarantine.is_token(name):
                continue
            try:
                os.lstat(name, dir_fd=fd)
            except FileNotFoundError:
                continue
            return directory, fd
        return None

    def parent_of(self, root: str, path: str) -> int:
        """The directory that `path` was in, open until another one is asked for."""
        place = root, os.path.dirname(path)
        if place != self._parent or self._parent_fd < 0:
            if self._parent_fd >= 0:
                os.close(self._parent_fd)
            self._parent_fd = -1
            self._parent, self._parent_fd = place, open_parent(root, path)
        return self._parent_fd

    def unlabel(self, fd: int, token: str) -> None:
        """It does not lie in that quarantine any more."""
        if fd not in self._labels:
            self._labels[fd] = labels.by_token(os.listdir(fd))
        labels.remove(fd, self._labels[fd].get(token[:16], ()))

    def _opened(self, directory: str) -> int:
        """-1: there is none, or it is not ours."""
        if directory not in self._fds:
            try:
                self._fds[directory] = quarantine.opened(directory)
            except (FileNotFoundError, UnsafeScratch):
                self._fds[directory] = -1
        return self._fds[directory]


def of_the_last_run() -> list[dict[str, Any]]:
    """What `undo` without an id would bring back."""
    state = places.state_dir()
    with _Doors(state) as doors:
        return [entry for entry, _ in _chosen(restorable(state), None, doors)]


def _each(journal: Journal, chosen: Iterable[_Match], to: str | None, doors: _Doors) -> Iterator[Restored]:
    """One that cannot come back keeps no other from coming; the first such is told once all were tried."""
    problems: list[TmpwardenError | OSError] = []
    others = 0
    for entry, place in chosen:
        try:
            restored = _bring_back(journal, entry, place, to, doors)
        except (TmpwardenError, OSError) as problem:
            problems.append(problem)
            continue
        others += 1
        if others % _TOGETHER == 0:
            journal.flush()
        yield restored
    if problems:
        first = problems[0]
        if others and isinstance(first, TmpwardenError):
            first.hint = f"{plural(others, 'other item')} came back; {first.hint}"
        raise first


def _chosen(known: Waiting, token: str | None, doors: _Doors) -> Iterator[_Match]:
    if token is not None:
        matches = [name for name in known if name.startswith(token) and token]
        for entry in (known[name] for name in (matches if len(matches) == 1 else ())):
            yield entry, doors.holding(entry)
        return
    # a run of which nothing is left in quarantine would make `undo` a step that does nothing
    last = next((entry["run"] for entry in known.newest_first() if doors.holding(entry)), None)
    for entry in known.values():
        if entry["run"] == last and (place := doors.holding(entry)):
            yield entry, place


def _nothing_to_undo(token: str | None, state: str) -> NotFound:
    """What lies there and is in no story is not nothing."""
    hint = "`tmpwarden log` lists what was removed and what can come back"
    for directory, names in quarantined(state):
        if token is None or any(name.startswith(token) for name in names):
            summary = f"{plural(len(names), 'item')} in quarantine cannot be brought back: their places are not known"
            return NotFound(summary, hint=f"check {shown(directory)}, and move out what you need")
    if token is None:
        return NotFound("there is nothing to bring back", hint=hint)
    return NotFound(f"nothing in quarantine has the ID {shown(token)}", hint=hint)


def _bring_back(
    journal: Journal, entry: dict[str, Any], place: tuple[str, int] | None, to: str | None, doors: _Doors
) -> Restored:
    token, path = str(entry["id"]), str(entry["path"])
    if not place:
        raise NotFound(f"{shown(path)} is not in quarantine any more")
    directory, fd = place
    target = os.path.join(to, os.path.basename(path)) if to else path
    # first: a run that dies during the move leaves a line from which the next one restores the mode
    way_back.begin(journal, fd, token, directory, target)
    if to:
        _move(journal, fd, directory, token, target)
    else:
        parent_fd = doors.parent_of(str(entry["root"]), path)
        if not take.put_back(fd, token, parent_fd, os.path.basename(path)):
            raise _refusal(entry, doors)
    doors.unlabel(fd, token)
    journal.open()
    known = {name: entry[name] for name in ("row", "agent", "bytes", "entries", "count") if name in entry}  # for `log`
    journal.note("undone", id=token, path=target, **known)
    return Restored(token, target, int(entry["bytes"]), int(entry["entries"]))


def _refusal(entry: dict[str, Any], doors: _Doors) -> TmpwardenError:
    """Two may bring back the same unit at once, or its time may be over just now: then nobody has its name."""
    path = shown(str(entry["path"]))
    return NameTaken(path) if doors.holding(entry) else NotFound(f"{path} is not in quarantine any more")


def _move(journal: Journal, fd: int, directory: str, token: str, target: str) -> None:
    """Into any directory the user names: a rename on the same file system, a copy and then a purge on another."""
    parent, name = os.path.split(target)
    with closing(walk.open_dir(os.path.realpath(parent))) as parent_fd:
        if take.put_back(fd, token, parent_fd, name):
            return
        if own_files.exists(name, parent_fd):
            raise NameTaken(shown(target), hint="choose another directory for --to")
        with Bound(fd, token) as bound:
            _copy_over(journal, fd, token=token, parent_fd=parent_fd, parent=parent, name=name)
            users = kernel_word.confirmed(Holders.look().within(f"{directory}/{token}"), fd, token)
            if isinstance(users, Nobody):  # else what is written into it meanwhile would be lost: it stays for its time
                quarantine.destroy(quarantine.Stored(directory, token, 0), bound, users)


def _copy_over(journal: Journal, fd: int, token: str, parent_fd: int, parent: str, name: str) -> None:
    """All or nothing: the copy is made where only we can enter, compared, and moved into place whole."""
    with staging(journal, parent_fd, parent) as staging_fd:
        before = walk.measure(fd, token, uid=places.uid(), count_atime=False)
        copied = copying.copy(fd, token, staging_fd, name)
        # before the original is destroyed the copy has to be on the disk, not in memory
        os.sync()
        after = walk.measure(fd, token, uid=places.uid(), count_atime=False)
        if before is None or before.at_least or copied != before.entries or before != after:
            raise OSError(errno.ESTALE, "it changed while it was copied", f"{parent}/{name}")
        _race_window("copied, not yet in place")
        if not take.put_back(staging_fd, name, parent_fd, name):
            raise NameTaken(shown(f"{parent}/{name}"), hint="choose another directory for --to")
