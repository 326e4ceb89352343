"""Entries of temp roots that no row knows: grouped by shape while they stream by, measured as far as a budget goes."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from stat import S_ISDIR

from ...catalogue.matcher import Place
from ...lazy_dataclass import dataclass, field
from ...model.sweep import Measure, Unmatched
from ...oskit.files import walk
from ...oskit.proc.reach import Reach
from .scan import Parents

# The shape of a name: `orch-4f2a` and `orch-91cc` are both `orch-*`. Pure.
#
# A shape is a glob that matches every name it was made of, so that what is shown can be named in a command.

_TEMPFILE = re.compile(r"(tmp)[a-z0-9_]{8}(?=\.|$)|(tmp\.)[A-Za-z0-9]{6,12}$")  # Python's and mktemp's
_ENDS = r"(?![A-Za-z0-9])"
_VARIES = re.compile(  # one pass in C: a root may hold a million names
    rf"""(?x)(?<![A-Za-z0-9])(?:
      [0-9][A-Za-z0-9]*                                       # 4711, 3f0e2c5a
    | (?=[0-9a-f]{{4,}}{_ENDS}) [a-f]+[0-9][0-9a-f]*          # a1b2
    | (?:[0-9a-f]{{8,}}|[0-9A-F]{{8,}}){_ENDS}                # long enough to be no word, even without a digit
    | [A-Za-z]+[0-9]+[A-Za-z][A-Za-z0-9]*                     # x8d9s0
    | ([A-Za-z]+)[0-9]+                                       # go-build1234: a word and a number
    )"""
)
_VARYING = re.compile(r"\*(?:[-_.:+@,]*\*)+")
_MAGIC = re.compile(r"[*?[]")
EVERYTHING = "*"
_FEW = 3  # names that say nothing of a shape by themselves, and share their beginning


def shape(name: str) -> str:
    """The part of a name that the next one of its kind will have too; `*` for what varies."""
    if "*" in name or "?" in name or "[" in name:
        name = literal(name)
    match = _TEMPFILE.match(name) if name.startswith("tmp") else None
    if match:
        pattern = f"{match[1] or match[2]}*" + _VARIES.sub(r"\1*", name[match.end() :])
    else:
        pattern = _VARIES.sub(r"\1*", name)
    if pattern.count("*") > 1:
        pattern = _VARYING.sub("*", pattern)
    return _first_letter(name) + "*" if pattern == "*" else pattern


def _first_letter(name: str) -> str:
    """For names that vary as a whole: a lone `*` would mean everything."""
    return "[0-9]" if name[0].isdigit() else "[0-9a-f]" if name[0] in "abcdef" else literal(name[0])


def literal(text: str) -> str:
    """The glob that matches `text` and nothing else."""
    return _MAGIC.sub(lambda magic: f"[{magic[0]}]", text)


def matcher(glob: str) -> re.Pattern[str]:
    """One path component against a glob, exactly: no case folding."""
    return re.compile(fnmatch.translate(glob))


def merged(shapes: Iterable[str]) -> dict[str, str]:
    """Shape -> the shape to tell it under: a name that a wider one covers, or one of several with one beginning."""
    known = list(dict.fromkeys(shapes))
    wide = [(each, matcher(each)) for each in sorted(known, key=len) if "*" in each and each != EVERYTHING]
    group_of = {each: next((by for by, covers in wide if covers.match(each)), each) for each in known}
    alone: dict[str, list[str]] = {}
    for each in known:
        if group_of[each] == each and "*" not in each:
            alone.setdefault(_prefix(each), []).append(each)
    for prefix, several in alone.items():
        if prefix and len(several) >= _FEW:
            group_of |= dict.fromkeys(several, f"{prefix}*")
    return group_of


def _prefix(shape_: str) -> str:
    """`orch-` of `orch-alpha`; nothing where the name does not begin with a word and a dash, dot or underscore."""
    match = re.match(r"[A-Za-z0-9]{2,}[-_.]", shape_)
    return match[0] if match else ""


_MOST_SHAPES, _MOST_WAITING = 2000, 20_000
_EXAMPLES = 3
_MANY = 64  # of one shape: the next one is asked whether it is of it before its own shape is worked out
_PART = 8  # of what is left of the budget may be spent on one directory


@dataclass(slots=True)
class _Group:
    count: int = 0
    bytes: int = 0
    entries: int = 0
    newest_ns: int = 0
    is_whole: bool = True
    examples: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)  # directories that nobody has looked into

    def add(self, name: str, status: os.stat_result, *, waits: bool) -> None:
        """`waits`: a directory that will be looked into; what it holds itself is counted then."""
        self.count += 1
        newest = status.st_ctime_ns
        if status.st_mtime_ns > newest:
            newest = status.st_mtime_ns
        if newest > self.newest_ns:
            self.newest_ns = newest
        if len(self.examples) < _EXAMPLES:
            self.examples.append(name)
        if waits:
            self.waiting.append(name)
        else:
            self.bytes += status.st_blocks * 512
            self.entries += 1

    def take_in(self, other: _Group) -> None:
        self.count += other.count
        self.bytes += other.bytes
        self.entries += other.entries
        self.newest_ns = max(self.newest_ns, other.newest_ns)
        self.is_whole &= other.is_whole
        self.examples = sorted([*self.examples, *other.examples])[:_EXAMPLES]
        self.waiting += other.waiting


@dataclass(slots=True)
class _Root:
    path: str
    groups: dict[str, _Group] = field(default_factory=dict)
    others_bytes: int = 0
    others_count: int = 0
    waiting: int = 0
    many: list[tuple[re.Pattern[str], _Group]] = field(default_factory=list)

    def add(self, name: str, status: os.stat_result) -> None:
        group = self._group_of(name)
        is_dir = S_ISDIR(status.st_mode)
        waits = is_dir and self.waiting < _MOST_WAITING
        self.waiting += waits
        group.is_whole &= waits or not is_dir
        group.add(name, status, waits=waits)

    def _group_of(self, name: str) -> _Group:
        for covers, group in self.many:
            if covers.match(name):
                return group
        name_shape = shape(name)
        if name_shape not in self.groups and len(self.groups) >= _MOST_SHAPES:
            name_shape = EVERYTHING
        group = self.groups.setdefault(name_shape, _Group())
        if group.count == _MANY and name_shape != EVERYTHING:
            self.many.append((matcher(name_shape), group))
        return group

    def named_groups(self) -> Iterator[tuple[str, _Group]]:
        """The groups under the names that people read: one entry alone is called what it is called."""
        into = merged(each if group.count > 1 else literal(group.examples[0]) for each, group in self.groups.items())
        joined: dict[str, _Group] = {}
        for group_shape, group in self.groups.items():
            name = group_shape if group.count > 1 else literal(group.examples[0])
            joined.setdefault(into[name], _Group()).take_in(group)
        yield from joined.items()


class Strangers:
    """Told of every entry that no row matched; afterwards asked what there was."""

    def __init__(self, roots: tuple[str, ...], uid: int) -> None:
        self.uid = uid
        self._roots = {root: _Root(root) for root in roots}
        self._place: Place | None = None  # the last one, with its root and what leads there from it
        self._here: tuple[_Root | None, str, str] = (None, "", "")
        self._group_names: dict[str, list[tuple[str, _Group]]] | None = None

    def see(self, place: Place, name: str, status: os.stat_result) -> None:
        """An entry of the directory `place`. Roots that lie in other roots are counted by themselves."""
        if place is not self._place:
            self._place, self._here = place, self._enter(place)
        root, full, relative = self._here
        if root is None or (len(self._roots) > 1 and full + name in self._roots):
            return
        if status.st_uid == self.uid:
            root.add(relative + name, status)
        else:
            root.others_count += 1
            root.others_bytes += status.st_blocks * 512

    def _enter(self, place: Place) -> tuple[_Root | None, str, str]:
        full = place.path.rstrip("/") + "/"
        return self._roots.get(place.root), full, full[len(place.root.rstrip("/")) + 1 :]

    def others(self, root: str) -> tuple[int, int]:
        """(bytes, entries) of other users, as far as they can be seen from the directories that were listed."""
        root_ = self._roots[root]
        return root_.others_bytes, root_.others_count

    def measure(self, budget: int | None) -> None:
        """Look into directories, of each group in turn, until so many entries were seen; None: into all of them."""
        groups = self._groups()
        todo = [[(root, group, name) for name in group.waiting] for root in groups for _, group in groups[root]]
        parents = Parents()  # most of a root's strangers have one
        for root, group, name in (each for row in zip_longest(*todo) for each in row if each is not None):
            limit = None if budget is None else budget // _PART
            seen = None if limit == 0 else _seen(parents, root, name, self.uid, limit)
            group.is_whole &= seen is not None and not seen.at_least
            if seen is not None:
                group.bytes += seen.bytes
                group.entries += seen.entries
                group.newest_ns = max(group.newest_ns, seen.newest_ns)
                budget = None if budget is None else budget - seen.entries
        for _, group in (each for groups_of_root in groups.values() for each in groups_of_root):
            group.waiting.clear()

    def unmatched(self) -> tuple[Unmatched, ...]:
        """Biggest first; where sizes are not known, the most numerous."""
        result = [
            Unmatched(
                root=root,
                shape=name,
                count=group.count,
                bytes=group.bytes,
                newest_ns=group.newest_ns,
                examples=tuple(sorted(group.examples)),
                entries=group.entries,
                at_least=not group.is_whole or bool(group.waiting),
            )
            for root, groups in self._groups().items()
            for name, group in groups
        ]
        return tuple(sorted(result, key=lambda each: (-each.bytes, -each.count, each.root, each.shape)))

    def _groups(self) -> dict[str, list[tuple[str, _Group]]]:
        if self._group_names is None:
            self._group_names = {path: list(root.named_groups()) for path, root in self._roots.items()}
        return self._group_names


def _seen(parents: Parents, root: str, name: str, uid: int, limit: int | None) -> Measure | None:
    """None: it vanished, cannot be looked at, or the walk would lead into a mount that may hang."""
    full, reach = f"{root.rstrip('/')}/{name}", Reach.now()
    if reach.frozen(full) or any(reach.inside(full)):
        return None
    parent, _, last = full.rpartition("/")
    try:
        return walk.measure(parents.open(root, parent), last, uid=uid, count_atime=False, limit=limit)
    except OSError:
        return None


def measure_below(root: str, name: str, uid: int) -> Measure | None:
    """One walk over `name`, relative to a root; None if there is none, or it cannot be looked at."""
    return _seen(Parents(), root, name, uid, None)
