"""Find units: look into the directories that catalogue rows speak of, by descriptors, and match what lies there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...catalogue.matcher import Match, Place
from ...model.sweep import Claim, Finding, Kind, Litter, Worth
from ...oskit.files import places, walk

SWARM = 1000  # members of one swarm: one finding, one receipt
IsMarked = Callable[[str, str], bool]


@dataclass(slots=True)
class Finder:
    """Walks places and remembers them, so that a unit can be asked which of its members a `never` row protects."""

    starts: tuple[Place, ...]
    wanted: Callable[[Litter], bool] = lambda litter: True
    unreadable: list[str] = field(default_factory=list)
    _by_path: dict[str, Place] = field(default_factory=dict)

    def find(self) -> Iterator[Finding]:
        """Every unit, outermost matches only. Entries of `never` rows are passed over, and not looked into."""
        for start in self.starts:
            try:
                fd = walk.open_dir(start.path)
            except FileNotFoundError:
                continue
            except OSError:
                self.unreadable.append(start.path)
                continue
            yield from self._in_place(start, fd)

    def marks(self, finding: Finding) -> IsMarked | None:
        place = self._by_path.get(finding.parent)
        return place.never_inside(finding.name) if place else None

    def unit_of(self, path: str) -> tuple[Place, str] | None:
        """The place and name of the unit at or above `path`, if a row's place leads there (`why`, teardown)."""
        for start in self.starts:
            if not path.startswith(start.path.rstrip("/") + "/"):
                continue
            place: Place | None = start
            for name in path[len(start.path.rstrip("/")) + 1 :].split("/"):
                if place is None:
                    break
                match = place.classify(name, _kind_at(f"{place.path.rstrip('/')}/{name}"))
                if match and not (match.only_if_empty and path != f"{place.path.rstrip('/')}/{name}"):
                    return place, name
                place = place.child(name)
        return None

    def finding_at(self, place: Place, name: str) -> Finding | None:
        """The unit `name` in `place`, looked at now."""
        self._by_path[place.path] = place
        try:
            fd = open_below(place.root, place.path)
        except OSError:
            return None
        try:
            status = os.lstat(name, dir_fd=fd)
        except OSError:
            return None
        finally:
            os.close(fd)
        kind = kind_of(status.st_mode)
        match = place.classify(name, kind)
        return _finding(place, name, kind, match, status) if match else None

    def _in_place(self, place: Place, fd: int) -> Iterator[Finding]:
        """A directory's own units, then those below it."""
        deeper: list[str] = []
        try:
            if place.names is not None:
                deeper = sorted(place.names)
            else:
                self._by_path[place.path] = place
                yield from self._listed(place, fd, deeper)
            for name in deeper:
                child = place.child(name)
                if child is None:
                    continue
                try:
                    child_fd = walk.open_dir(name, dir_fd=fd)
                except OSError:
                    continue  # vanished, a link, a file, or not ours to read
                if os.fstat(child_fd).st_uid == places.uid():
                    yield from self._in_place(child, child_fd)
                else:
                    os.close(child_fd)
        finally:
            os.close(fd)

    def _listed(self, place: Place, fd: int, deeper: list[str]) -> Iterator[Finding]:
        swarms: dict[str, tuple[Match, list[str]]] = {}
        classify, wanted = place.classify, self.wanted
        with os.scandir(fd) as entries:
            for entry in entries:
                kind = _kind(entry)
                match = classify(entry.name, kind)
                if match is None or match.only_if_empty:
                    if kind is Kind.DIR:
                        deeper.append(entry.name)
                    if match is None:
                        continue
                if match.is_never or not wanted(match.litter):
                    continue  # what is never litter is not even measured: transcripts can be large
                if _swarms_together(match.litter, kind):
                    names = swarms.setdefault(match.litter.key, (match, []))[1]
                    names.append(entry.name)
                    if len(names) == SWARM:
                        yield _swarm(place, fd, match, names)
                        del swarms[match.litter.key]
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                yield _finding(place, entry.name, kind, match, status)
        for match, names in swarms.values():
            yield _swarm(place, fd, match, names)


def open_below(root: str, directory: str) -> int:
    """Open `directory`, which lies at or below `root`, one component at a time, following no link on the way."""
    fd = walk.open_dir(root)
    for component in directory[len(root) :].split("/"):
        if component:
            try:
                deeper = walk.open_dir(component, dir_fd=fd)
            finally:
                os.close(fd)
            fd = deeper
    return fd


def kind_of(mode: int) -> Kind:
    return {0o100000: Kind.FILE, 0o040000: Kind.DIR, 0o140000: Kind.SOCKET}.get(mode & 0o170000, Kind.OTHER)


def _kind_at(path: str) -> Kind:
    try:
        return kind_of(os.lstat(path).st_mode)
    except OSError:
        return Kind.OTHER


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_file(follow_symlinks=False):
        return Kind.FILE
    if entry.is_dir(follow_symlinks=False):
        return Kind.DIR
    if entry.is_symlink():
        return Kind.OTHER
    try:
        return kind_of(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return Kind.OTHER


def _swarms_together(litter: Litter, kind: Kind) -> bool:
    return kind is Kind.FILE and litter.worth is Worth.NONE and litter.owner is Claim.NONE


def _swarm(place: Place, fd: int, match: Match, names: list[str]) -> Finding:
    status = os.fstat(fd)
    return Finding(
        match.litter, place.root, place.path, "", Kind.FILE, status.st_dev, status.st_ino, members=tuple(names)
    )


def _finding(place: Place, name: str, kind: Kind, match: Match, status: os.stat_result) -> Finding:
    device, inode = status.st_dev, status.st_ino
    return Finding(match.litter, place.root, place.path, name, kind, device, inode, match.session, match.pid)
