"""Things that a person names: files, directories, globs. Each is a unit to be judged, or a sentence why it cannot be.

Naming replaces age and nothing else, so what is named must lie where we sweep, and must be a whole unit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...catalogue import checks
from ...catalogue.matcher import Place
from ...errors import BadArgument, NotFound, NotYours, TmpwardenError
from ...lazy_dataclass import dataclass, field, replace
from ...model.sweep import Finding, Litter
from ...model.terms import Kind, OwnerRule, Tier, Worth
from ...oskit.files import places, walk
from ...oskit.files.opening import closing
from ...oskit.proc.reach import as_named
from ...text import plural, shown
from .scan import Finder, IsMarked, kind_of, open_below
from .strangers import matcher

LITTER = Litter(
    agent="named",
    id="by-you",
    place="{tmp}",
    name=".+",
    kind=Kind.ANY,
    tier=Tier.ASK,
    worth=Worth.SOME,  # always quarantined: nobody has measured what such a thing is
    owner=OwnerRule.NONE,
    why="named by you, not recognised",
)
_MAGIC = frozenset("*?[")


class OutsideRoots(BadArgument):
    wording = "{0}"


@dataclass(slots=True)
class Named:
    """What the words of a person mean. Raises where none of them means anything that may be judged."""

    finder: Finder
    roots: tuple[str, ...]
    only_unknown: bool = False  # a group that is not recognised was named: what is recognised has ages of its own
    warnings: list[str] = field(default_factory=list)
    refused: list[TmpwardenError] = field(default_factory=list)  # words that mean nothing to be judged, beside others
    _mappings: checks.Mappings = field(default_factory=checks.Mappings)
    _sessions: dict[str, IsMarked] = field(default_factory=dict)  # by root: one answer for all that is named there

    def findings(self, words: Iterable[str]) -> tuple[Finding, ...]:
        findings_by_path: dict[str, Finding] = {}
        for word in words:
            try:
                for finding in self._findings_of_word(word):
                    if not self.only_unknown or finding.litter is LITTER:
                        findings_by_path.setdefault(finding.path, finding)
            except (OutsideRoots, NotFound, NotYours) as refused:
                self.refused.append(refused)
        if self.refused and not findings_by_path:
            raise self.refused[0]
        return tuple(
            finding for path, finding in findings_by_path.items() if not _goes_with_another(path, findings_by_path)
        )

    def _findings_of_word(self, word: str) -> Iterator[Finding]:
        if not word or "\0" in word:
            raise BadArgument("a path cannot be empty or hold a null character")
        full = as_named(word)
        if os.path.lexists(full):
            yield from self._units(full, word)
        elif _MAGIC & set(word):
            yield from self._matches(word)
        else:
            raise NotFound(f"there is nothing at {shown(word)}")

    def _matches(self, pattern: str) -> Iterator[Finding]:
        """Other users' entries that a pattern takes in by the way are left out, with a sentence."""
        count = theirs = 0
        whole = pattern if pattern.startswith("/") else os.path.join(os.getcwd(), pattern)  # which may be gone
        for path in expanded(whole):
            count += 1
            try:
                yield from self._units(path, path)
            except NotYours:
                theirs += 1
            except NotFound:
                continue  # a directory in which nothing is litter now, or an entry that vanished
        if theirs == count > 0:
            raise NotYours(shown(pattern), "other users")
        if theirs:
            self.warnings.append(f"{plural(theirs, 'match', 'matches')} of {shown(pattern)} belong to other users")
        if not count:
            raise NotFound(f"nothing matches {shown(pattern)}")

    def _units(self, path: str, word: str) -> Iterator[Finding]:
        """The unit at `path`; for a directory that rows speak of, the units in it."""
        self._refuse_roots(path, word)
        match = self.finder.unit_of(path)
        if match is None:
            yield from self._stranger(path, word)
            return
        place, name = match
        finding, unit = self.finder.finding_at(place, name), f"{place.path.rstrip('/')}/{name}"
        if finding is None:
            raise NotFound(f"{shown(word)} no longer exists")
        if finding.litter.tier is Tier.NEVER:
            # right in a temp root an empty one may be in the way (a .git there), and nothing can be lost with it
            if unit == path and place.path == finding.root and _is_empty_directory(path):
                yield from self._stranger(path, word)
                return
            raise BadArgument(f"{shown(word)} is never removed: {finding.litter.why}")
        if unit != path:
            hint = f"name it as a whole:  {shown(unit)}"
            raise BadArgument(
                f"{shown(word)} is a part of {shown(unit)}, which is removed or kept as a whole", hint=hint
            )
        _refuse_others(path, word)
        if _has_shape(finding, self._mappings):
            yield finding
        else:
            yield from self._stranger(path, word)  # its name alone is that of litter

    def _stranger(self, path: str, word: str) -> Iterator[Finding]:
        root = next((root for root in sorted(self.roots, key=len, reverse=True) if _is_below(path, root)), None)
        if root is None:
            roots = ", ".join(map(shown, self.roots))
            hint = "`--root DIR` names another temp root"
            raise OutsideRoots(f"{shown(word)} is outside the temp roots ({roots})", hint=hint)
        _refuse_others(path, word)
        parent, name = os.path.split(path)
        status = os.lstat(path)
        if os.stat(parent).st_dev != os.stat(root).st_dev:
            raise BadArgument(f"{shown(word)} is on another file system than {shown(root)}: it could not be undone")
        place = self._place(root, parent)
        below = place.child(name) if place and kind_of(status.st_mode) is Kind.DIR else None
        if below is not None:
            findings = replace(self.finder, starts=(below,), stranger=None).find()
            units = tuple(unit for each in findings for unit in singles(each) if _has_shape(unit, self._mappings))
            if not units:
                raise NotFound(f"nothing in {shown(word)} is recognised as left by an agent")
            yield from units
            return
        if born := self.finder.birth_at(path, kind_of(status.st_mode)):
            yield born  # it has an owner, who may live
            return
        if kind_of(status.st_mode) is Kind.DIR:
            self.finder.mark(path, self._marks(root, place.never_inside(name) if place else None))
        yield Finding(
            litter=LITTER,
            root=root,
            parent=parent,
            name=name,
            kind=kind_of(status.st_mode),
            device=status.st_dev,
            inode=status.st_ino,
        )

    def _place(self, root: str, parent: str) -> Place | None:
        """What rows say about the directory `parent`, if they speak of it."""
        place = next((start for start in self.finder.starts if start.path == root), None)
        for name in parent[len(root) :].split("/"):
            place = place.child(name) if place and name else place
        return place

    def _marks(self, root: str, never: IsMarked | None) -> IsMarked:
        """Somebody's own temp root may lie in it: directories of sessions there are judged one by one, never whole."""
        holds_sessions = self._sessions.setdefault(root, self._holds_sessions(root))
        if never is None:
            return holds_sessions
        return lambda directory, name: holds_sessions(directory, name) or never(directory, name)

    def _holds_sessions(self, root: str) -> IsMarked:
        ours = f"-{places.uid()}"
        start = next(start for start in self.finder.starts if start.path == root)
        return lambda _, name: name.endswith(ours) and start.child(name) is not None

    def _refuse_roots(self, path: str, word: str) -> None:
        for root in self.roots:
            if path == root:
                raise BadArgument(f"{shown(word)} is a temp root", hint="name items in it")
            if _is_below(root, path):
                raise BadArgument(f"the temp root {shown(root)} is in {shown(word)}", hint="name the items to remove")


def expanded(pattern: str) -> Iterator[str]:
    """What a glob matches: as a shell does it (no hidden names unless asked for), entering no symbolic link."""
    literal: list[str] = []
    components = [part for part in pattern.split("/") if part not in ("", ".")]
    while components and not _MAGIC & set(components[0]):
        literal.append(components.pop(0))
    here = os.path.realpath("/" + "/".join(literal))
    yield from _below(here, components)


def _below(directory: str, components: list[str]) -> Iterator[str]:
    first, *rest = components
    fits = matcher(first)
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if not fits.match(entry.name) or (entry.name.startswith(".") and not first.startswith(".")):
            continue
        path = f"{directory.rstrip('/')}/{entry.name}"
        if not rest:
            yield path
        elif entry.is_dir(follow_symlinks=False):
            yield from _below(path, rest)


def _refuse_others(path: str, word: str) -> None:
    try:
        owner = os.lstat(path).st_uid
    except FileNotFoundError:
        raise NotFound(f"{shown(word)} no longer exists") from None
    if owner != places.uid():
        raise NotYours(shown(word), places.user_name(owner))


def _is_empty_directory(path: str) -> bool:
    try:
        with closing(walk.open_dir(path)) as fd, os.scandir(fd) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def singles(finding: Finding) -> Iterator[Finding]:
    """The members of a swarm one by one: each is named by its own path."""
    if not finding.members:
        yield finding
    for name in finding.members:
        try:
            status = os.lstat(f"{finding.parent}/{name}")
        except OSError:
            continue
        yield replace(finding, name=name, members=(), device=status.st_dev, inode=status.st_ino)


def _has_shape(finding: Finding, mappings: checks.Mappings) -> bool:
    """Whether the entry is inside what its row says; what cannot be looked at is for the judge to say."""
    try:
        with closing(open_below(finding.root, finding.parent)) as fd:
            status = os.lstat(finding.name, dir_fd=fd)
            return checks.has_shape(finding.litter, fd, finding.name, status, mappings) is not False
    except OSError:
        return True


def _is_below(path: str, directory: str) -> bool:
    return path.startswith(directory.rstrip("/") + "/")


def _goes_with_another(path: str, others: dict[str, Finding]) -> bool:
    """In something else that was named, and goes with it."""
    parent = os.path.dirname(path)
    while parent != "/":
        if parent in others:
            return True
        parent = os.path.dirname(parent)
    return False
