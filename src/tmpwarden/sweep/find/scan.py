"""Find units: look into the directories that catalogue rows speak of, by descriptors, and match what lies there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ...catalogue.matcher import Match, Place
from ...lazy_dataclass import dataclass, field
from ...model.belongings import Birth
from ...model.sweep import Finding, Litter
from ...model.terms import Kind, OwnerRule, Tier, Worth
from ...oskit.files import opening, places, walk
from ...oskit.files.opening import closing, descend
from ...oskit.proc.reach import Reach

# What an entry is: by its mode, its path, or the listing that it stands in.


def kind_of(mode: int) -> Kind:
    return {0o100000: Kind.FILE, 0o040000: Kind.DIR, 0o140000: Kind.SOCKET}.get(mode & 0o170000, Kind.OTHER)


def kind_at(path: str) -> Kind:
    try:
        return kind_of(os.lstat(path).st_mode)
    except OSError:
        return Kind.OTHER


def kind_in(entry: os.DirEntry[str]) -> Kind:
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


# Owned births as units: what a session's own words named, no row knows, and nobody else has touched.
#
# Never unattended unless the user's settings say so, always quarantined, never hurried.

ID = "birth"
_WAITS_S = 72 * 3600
_NEVER_BY_AGE_S = 100 * 365 * 86400  # without a session that is provably gone nobody can say whose it is


def litter(agent: str, *, is_auto: bool) -> Litter:
    return Litter(
        agent=agent,
        id=ID,
        place="{tmp}",
        name=".+",
        kind=Kind.ANY,
        tier=Tier.AUTO if is_auto else Tier.ASK,
        worth=Worth.SOME,
        owner=OwnerRule.SESSION,
        grace_s=_WAITS_S,
        min_age_s=_WAITS_S,
        max_age_s=_NEVER_BY_AGE_S,
        why="appeared while a command of this session ran that names it",
    )


def finding(birth: Birth, root: str, kind: Kind, *, is_auto: bool) -> Finding:
    parent, name = os.path.split(birth.path)
    row = litter(birth.agent, is_auto=is_auto)
    return Finding(
        litter=row,
        root=root,
        parent=parent,
        name=name,
        kind=kind,
        device=birth.device,
        inode=birth.inode,
        session=birth.session,
    )


SWARM = 1000  # members of one swarm: one finding, one receipt
IsMarked = Callable[[str, str], bool]
See = Callable[[Place, str, os.stat_result], None]
FindUnknown = Callable[[Place, str, Kind, os.stat_result], "Finding | None"]


@dataclass(slots=True)
class Finder:
    """Walks places and remembers them, so that a unit can be asked which of its members a `never` row protects."""

    starts: tuple[Place, ...]
    wanted: Callable[[Litter], bool] = lambda litter: True
    unreadable: list[str] = field(default_factory=list)
    stranger: See | None = None  # told of every entry of a temp root that no row matches and no row's place leads into
    frozen: list[str] = field(default_factory=list)  # mounts that do not answer; nothing in there was looked at
    reach: Reach = field(default_factory=Reach.now)
    birth: Callable[[str], Birth | None] = lambda path: None  # during which call of whom that entry appeared
    takes_births: bool = False  # [births] tier = "auto"
    unknown: FindUnknown | None = None  # what no row knows is a unit, too
    _by_path: dict[str, Place] = field(default_factory=dict)
    _marked: dict[str, IsMarked] = field(default_factory=dict)  # by the path of a unit that no row speaks of

    def find(self) -> Iterator[Finding]:
        """Every unit, outermost matches only. Entries of `never` rows are passed over, and not looked into."""
        for start in self.starts:
            if point := self.reach.frozen(start.path):
                self._skip(point)
                continue
            try:
                fd = walk.open_dir(start.path)
            except FileNotFoundError:
                continue
            except OSError:
                self.unreadable.append(start.path)
                continue
            yield from self._in_place(start, fd)

    def _skip(self, point: str) -> None:
        if point not in self.frozen:
            self.frozen.append(point)

    def _is_frozen(self, place: Place, name: str) -> bool:
        """A mount right there that does not respond: skipped, and told."""
        if not self.reach.risky or not self.reach.is_frozen_at(path := f"{place.path.rstrip('/')}/{name}"):
            return False
        self._skip(path)
        return True

    def marks(self, finding: Finding) -> IsMarked | None:
        if finding.path in self._marked:
            return self._marked[finding.path]
        place = self._by_path.get(finding.parent)
        return place.never_inside(finding.name) if place else None

    def mark(self, path: str, is_marked: IsMarked) -> None:
        """What protects members of a unit that no row speaks of."""
        self._marked[path] = is_marked

    def birth_at(self, path: str, kind: Kind) -> Finding | None:
        """The unit that a session owns because its words named it, if nobody else has touched it since."""
        birth = self.birth(path)
        if birth is None or not birth.is_claimed:
            return None
        root = next((start.root for start in self.starts if start.path == os.path.dirname(path)), None)
        return finding(birth, root, kind, is_auto=self.takes_births) if root else None

    def _unknown_at(self, place: Place, entry: os.DirEntry[str], kind: Kind) -> Finding | None:
        if self.unknown is None or self._is_frozen(place, entry.name):
            return None
        try:
            unknown = self.unknown(place, entry.name, kind, entry.stat(follow_symlinks=False))
        except OSError:
            return None
        if unknown is not None and kind is Kind.DIR:
            ours, never = f"-{places.uid()}", place.never_inside(entry.name)
            self.mark(
                unknown.path,
                lambda directory, name: (
                    name == ".git"  # nobody named it, so no proof is worth a repository
                    or (name.endswith(ours) and place.child(name) is not None)  # it may be a temp root of its own
                    or (never is not None and never(directory, name))
                ),
            )
        return unknown

    def turned_down(self, finding: Finding) -> None:
        """It has the name of litter and not its shape, so no row knows it. What rows lead into is told of by itself."""
        place = self._by_path.get(finding.parent)
        if self.stranger is None or place is None or finding.members or place.child(finding.name) is not None:
            return
        try:
            self._tell_of(place, finding.name, os.lstat(finding.path))
        except OSError:
            return

    def unit_of(self, path: str, kind: Kind | None = None) -> tuple[Place, str] | None:
        """The place and name of the unit at or above `path`, if a row's place leads there (`why`, teardown).

        `kind`: what lay at `path`, if it does not any more."""
        for start in self.starts:
            if not path.startswith(start.path.rstrip("/") + "/"):
                continue
            place: Place | None = start
            for name in path[len(start.path.rstrip("/")) + 1 :].split("/"):
                if place is None:
                    break
                here = f"{place.path.rstrip('/')}/{name}"
                match = place.classify(name, kind if kind is not None and here == path else kind_at(here))
                if match and not (match.only_if_empty and path != here):
                    return place, name
                place = place.child(name)
        return None

    def finding_at(self, place: Place, name: str) -> Finding | None:
        """The unit `name` in `place`, looked at now."""
        self._by_path[place.path] = place
        try:
            parent = open_below(place.root, place.path)
        except OSError:
            return None
        with closing(parent) as fd:
            try:
                status = os.lstat(name, dir_fd=fd)
            except OSError:
                return None
            kind = kind_of(status.st_mode)
            match = place.classify(name, kind)
            if match is not None and match.only_if_empty and kind is Kind.DIR:
                match = _of_its_content(place, name, fd, match)
        return _finding(place, name, kind, match, status) if match else None

    def unit_that_was(self, path: str, status: os.stat_result) -> Finding | None:
        """The unit that lay at `path` and lies elsewhere now, where it looks like `status`."""
        kind = kind_of(status.st_mode)
        unit = self.unit_of(path, kind)
        if unit is None or f"{unit[0].path.rstrip('/')}/{unit[1]}" != path:
            return None
        place, name = unit
        self._by_path[place.path] = place
        match = place.classify(name, kind)
        return _finding(place, name, kind, match, status) if match and not match.is_never else None

    def _in_place(self, place: Place, fd: int) -> Iterator[Finding]:
        """A directory's own units, then those below it."""
        deeper: list[str] = []
        self.reach = Reach.now()  # of this moment: something may have been mounted since we set out
        try:
            if place.names is not None:
                deeper = sorted(place.names)
                self._tell_of_the_rest(place, fd)
            else:
                self._by_path[place.path] = place
                yield from self._listed(place, fd, deeper)
            for name in deeper:
                child = place.child(name)
                if child is None or self._is_frozen(place, name):
                    continue
                try:
                    child_fd = walk.open_dir(name, dir_fd=fd)
                except OSError:
                    continue  # vanished, a link, a file, or not ours to read
                if os.fstat(child_fd).st_uid == places.uid():
                    yield from self._in_place(child, child_fd)
                else:
                    self._tell_of(place, name, os.fstat(child_fd))
                    os.close(child_fd)
        finally:
            os.close(fd)

    def _tell_of_the_rest(self, place: Place, fd: int) -> None:
        """Of a directory in which rows speak of certain names alone: what else lies there."""
        if self.stranger is None or place.is_home:
            return
        with os.scandir(fd) as entries:
            for entry in entries:
                if entry.name not in (place.names or ()):
                    self._tell_of(place, entry.name, entry)

    def _tell_of(self, place: Place, name: str, seen: os.DirEntry[str] | os.stat_result) -> None:
        if self.stranger is None or place.is_home or self._is_frozen(place, name):
            return
        try:
            status = seen.stat(follow_symlinks=False) if isinstance(seen, os.DirEntry) else seen
        except OSError:
            return  # it vanished
        self.stranger(place, name, status)

    def _listed(self, place: Place, fd: int, deeper: list[str]) -> Iterator[Finding]:
        swarms: dict[str, tuple[Match, list[str]]] = {}
        classify, wanted = place.classify, self.wanted
        with os.scandir(fd) as entries:
            for entry in entries:
                kind = kind_in(entry)
                match = classify(entry.name, kind)
                if match is not None and match.only_if_empty and kind is Kind.DIR:
                    match = _of_its_content(place, entry.name, fd, match)
                if match is None or match.only_if_empty:
                    if kind is Kind.DIR and place.child(entry.name) is not None:
                        deeper.append(entry.name)
                    elif match is None and (born := self.birth_at(f"{place.path.rstrip('/')}/{entry.name}", kind)):
                        if wanted(born.litter):
                            yield born
                    elif match is None and (unknown := self._unknown_at(place, entry, kind)):
                        yield unknown
                    elif match is None:
                        self._tell_of(place, entry.name, entry)
                    if match is None:
                        continue
                if match.is_never or not wanted(match.litter):
                    continue  # what is never litter is not even measured: transcripts can be large
                if self.reach.risky and self._is_frozen(place, entry.name):
                    continue
                if kind is Kind.FILE and _swarms_together(match.litter):
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


def _of_its_content(place: Place, name: str, dir_fd: int, match: Match) -> Match:
    """A directory of this name is another row's unit where it is not empty, if a row says so."""
    other = place.classify_with_entries(name)
    if other is None:
        return match
    try:
        with closing(walk.open_dir(name, dir_fd=dir_fd)) as fd, os.scandir(fd) as entries:
            return match if next(entries, None) is None else other
    except OSError:
        return match


def open_below(root: str, directory: str) -> int:
    """Open `directory`, which lies at or below `root`, one component at a time, following no link on the way."""
    with closing(walk.open_dir(root)) as fd:
        return descend(fd, directory[len(root) :])


def _swarms_together(litter: Litter) -> bool:
    return litter.worth is Worth.NONE and litter.owner is OwnerRule.NONE


def _swarm(place: Place, fd: int, match: Match, names: list[str]) -> Finding:
    status = os.fstat(fd)
    return Finding(
        litter=match.litter,
        root=place.root,
        parent=place.path,
        name="",
        kind=Kind.FILE,
        device=status.st_dev,
        inode=status.st_ino,
        members=tuple(names),
    )


def _finding(place: Place, name: str, kind: Kind, match: Match, status: os.stat_result) -> Finding:
    device, inode = status.st_dev, status.st_ino
    return Finding(
        litter=match.litter,
        root=place.root,
        parent=place.path,
        name=name,
        kind=kind,
        device=device,
        inode=inode,
        session=match.session,
        pid=match.pid,
    )


# The directories that units lie in, each opened once: what is found together lies together.


class Parents:
    """Opens a unit's parent, component by component, unless it still is open. `most`: that many stay open."""

    __slots__ = ("_fds", "_newest", "most")

    def __init__(self, most: int = 1) -> None:
        self.most = most
        self._fds: dict[tuple[str, str], int] = {}
        self._newest = -1

    def __contains__(self, place: tuple[str, str]) -> bool:
        return place in self._fds

    @property
    def are_many(self) -> bool:
        return len(self._fds) >= self.most or (bool(self._fds) and opening.are_few_after(self._newest))

    def open(self, root: str, path: str) -> int:
        """The descriptor belongs to us, and lives at least until another directory is asked for. Raises OSError."""
        fd = self._fds.get((root, path), -1)
        if fd < 0:
            if self.are_many:
                self.close()
            fd = self._newest = self._fds[root, path] = open_below(root, path)
        return fd

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds.clear()

    def __del__(self) -> None:
        self.close()
