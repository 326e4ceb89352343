"""From rows to directories: which to look into, and which row an entry belongs to. One pass over a name decides.

All rows together form one automaton over path components, so a directory that several rows speak of (`{tmp}/*-{uid}`,
`{tmp}/claude-{uid}`) is opened once and each entry has one answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ..lazy_dataclass import dataclass
from ..model.sweep import Litter
from ..model.terms import Kind, Tier
from ..oskit.files.places import CARRIED
from .compiled import hint_of
from .patterns import BASES, FLAGS, Component, Hint, component, name_pattern, split_place

_FOUND_KINDS = (Kind.FILE, Kind.DIR, Kind.SOCKET, Kind.OTHER)
_HIGHEST_PID = 1 << 22
IsMarked = Callable[[str, str], bool]  # (directory relative to the unit, "" for itself; name) -> a never row's?


@dataclass(frozen=True, slots=True)
class Match:
    litter: Litter
    session: str | None = None
    pid: int | None = None

    @property
    def is_never(self) -> bool:
        return self.litter.tier is Tier.NEVER

    @property
    def only_if_empty(self) -> bool:
        """The row means a left-over empty directory: one with entries is no unit, look into it instead."""
        return "empty-dir" in self.litter.checks


@dataclass(frozen=True, slots=True)
class _Route:
    """One row's way from its base to the directory that holds its units."""

    row: Litter
    components: tuple[Component, ...]
    pattern: str
    hint: Hint  # what all its names have


class _State:
    """What is known after walking some components: rows that end here, routes that go on."""

    def __init__(
        self, routes: tuple[_Route, ...], depth: int, family: dict[tuple[int, frozenset[int]], _State]
    ) -> None:
        self.depth = depth
        self.routes = routes
        self.here = tuple(route for route in routes if len(route.components) == depth)
        self.onward = tuple(route for route in routes if len(route.components) > depth)
        self._family = family
        self._classifiers: dict[tuple[Kind, str, bool], _Classifier] = {}

    def step(self, name: str) -> _State | None:
        depth = self.depth
        routes = tuple(route for route in self.onward if route.components[depth].matches(name))
        if not routes:
            return None
        key = (depth + 1, frozenset(map(id, routes)))
        if key not in self._family:
            self._family[key] = _State(routes, depth + 1, self._family)
        return self._family[key]

    def classify(self, name: str, kind: Kind, *, has_entries: bool = False) -> Match | None:
        if not self.here:
            return None
        classifier = self._classifiers.get((kind, name[:1], has_entries))
        return (classifier or self._classifier(kind, name[:1], has_entries)).classify(name)

    def _classifier(self, kind: Kind, letter: str, has_entries: bool) -> _Classifier:
        """Rows for this kind whose names may start with that letter: a root has a hundred rows, few share a letter."""
        rows = (route for route in self.here if route.row.kind in (kind, Kind.ANY))
        if has_entries:
            rows = (route for route in rows if "empty-dir" not in route.row.checks)
        classifier = _Classifier(
            tuple(route for route in rows if {"", letter} & {each[:1] for each in route.hint.starts})
        )
        self._classifiers[(kind, letter, has_entries)] = classifier
        return classifier

    def only_never(self) -> _State | None:
        routes = tuple(route for route in self.routes if route.row.tier is Tier.NEVER)
        return _State(routes, self.depth, {}) if routes else None

    def is_never(self, name: str) -> bool:
        """Whatever its kind: a never row protects a name."""
        return any(self.classify(name, kind) for kind in _FOUND_KINDS)


class _Classifier:
    """Rows of one directory and one kind as one regular expression; the first alternative that fits wins.

    It is compiled for the first name that looks like one of theirs: most letters of a /tmp have no such name.
    """

    def __init__(self, routes: tuple[_Route, ...]) -> None:
        self._routes = routes
        self._starts = tuple(dict.fromkeys(start for route in routes for start in route.hint.starts))
        self._plain: dict[str, Match] = {}
        self._naming: dict[str, tuple[Litter, str, str]] = {}  # the row, and the groups that name its owner
        self._match: Callable[[str], re.Match[str] | None] | None = None

    def _compiled(self) -> Callable[[str], re.Match[str] | None]:
        alternatives = []
        for number, route in enumerate(self._routes):
            pattern = route.pattern
            if "(?P<" in pattern:
                groups = []
                for group in ("session", "pid"):
                    groups.append(f"{group}_{number}" if f"(?P<{group}>" in pattern else f"row_{number}")
                    pattern = pattern.replace(f"(?P<{group}>", f"(?P<{group}_{number}>")
                self._naming[f"row_{number}"] = (route.row, groups[0], groups[1])
            else:
                self._plain[f"row_{number}"] = Match(route.row)
            # The empty group at the end tells which alternative it was, and leaves its first letter to sre's fast path.
            alternatives.append(f"(?:{pattern})(?P<row_{number}>)")
        self._match = re.compile("|".join(alternatives), FLAGS).fullmatch
        return self._match

    def classify(self, name: str) -> Match | None:
        if not name.startswith(self._starts):
            return None
        if self._match is None and not any(route.hint.fits(name) for route in self._routes):
            return None
        match = (self._match or self._compiled())(name)
        if match is None or match.lastgroup is None:
            return None
        plain = self._plain.get(match.lastgroup)
        if plain is not None:
            return plain
        row, session, pid = self._naming[match.lastgroup]  # where there is no such group, that of the row: it is empty
        return Match(row, match[session] or None, _pid(match[pid]))


def _pid(digits: str | None) -> int | None:
    """A number that no process can have names nobody."""
    return int(digits) if digits and digits.isdecimal() and 0 < int(digits) <= _HIGHEST_PID else None


@dataclass(frozen=True, slots=True)
class Place:
    """A directory to look into. Start with those of `Catalogue.places`; `child` leads below."""

    path: str  # absolute
    root: str  # the temp root, home or XDG directory it lies below
    is_home: bool
    _state: _State

    @property
    def depth(self) -> int:
        return self._state.depth

    @property
    def names(self) -> frozenset[str] | None:
        """The only entries worth opening; None: the whole directory has to be listed."""
        if self._state.here or any(route.components[self.depth].glob for route in self._state.onward):
            return None
        return frozenset(route.components[self.depth].text for route in self._state.onward)

    def classify(self, name: str, kind: Kind) -> Match | None:
        """The row that an entry belongs to. A `never` row wins over all: keep that entry and do not look into it."""
        return None if name.startswith(CARRIED) else self._state.classify(name, kind)

    def classify_with_entries(self, name: str) -> Match | None:
        """The row of a directory that is not empty, where the first that fits means empty ones only."""
        return self._state.classify(name, Kind.DIR, has_entries=True)

    def child(self, name: str) -> Place | None:
        """The directory `name` in here, if rows speak of what is below it. Ask only when `classify` gave no unit."""
        state = None if name.startswith(CARRIED) else self._state.step(name)
        return None if state is None else Place(f"{self.path.rstrip('/')}/{name}", self.root, self.is_home, state)

    def never_inside(self, name: str) -> IsMarked | None:
        """For a unit `name` in here: tells members that a `never` row protects. None: there can be none."""
        below = self._state.step(name)
        start = below.only_never() if below else None
        return None if start is None else _marker(start)


def _marker(start: _State) -> IsMarked:
    known: dict[str, _State | None] = {"": start}

    def state_of(directory: str) -> _State | None:
        if directory not in known:
            parent, _, last = directory.rpartition("/")
            above = state_of(parent)
            known[directory] = above.step(last) if above else None
        return known[directory]

    def is_marked(directory: str, name: str) -> bool:
        state = state_of(directory)
        return state is not None and state.is_never(name)

    return is_marked


def places(rows: Iterable[Litter], bases: Mapping[str, tuple[str, ...]], uid: int) -> tuple[Place, ...]:
    """One place for each directory that a row's `in` may start from. `bases`: "tmp" -> the temp roots, "home" -> ..."""
    routes: list[tuple[str, _Route]] = []
    wanted = tuple(f"{{{base}}}" for base, paths in bases.items() if paths)
    for row in in_order(row for row in rows if row.place.startswith(wanted)) if wanted else ():
        base, parts = split_place(row.place)
        steps = tuple(component(part, uid) for part in parts)
        routes.append((base, _Route(row, steps, name_pattern(row.name, uid), hint_of(row.name))))
    roots, mac_temps = bases.get("tmp", ()), bases.get("darwin_temp", ())
    result = []
    for base in BASES:
        for path in bases.get(base, ()):
            if base == "darwin_temp" and path in roots:
                continue  # one place for both, or an entry would be found twice
            both = {base, "darwin_temp"} if base == "tmp" and path in mac_temps else {base}
            if mine := tuple(route for its, route in routes if its in both):
                top = path.rstrip("/") or "/"
                result.append(Place(top, top, base not in ("tmp", "darwin_temp"), _State(mine, 0, {})))
    return tuple(result)


def in_order(rows: Iterable[Litter]) -> tuple[Litter, ...]:
    """Never rows first, then each row before those it beats. Raises graphlib.CycleError."""
    from graphlib import TopologicalSorter

    by_key = {row.key: row for row in rows}
    graph: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(by_key, ()))
    for row in by_key.values():
        for loser in row.beats:
            if loser in by_key:
                graph.add(loser, row.key)
    ordered = [by_key[key] for key in graph.static_order()]
    return tuple(sorted(ordered, key=lambda row: row.tier is not Tier.NEVER))
