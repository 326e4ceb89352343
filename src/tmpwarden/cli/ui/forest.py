"""What the view shows: roots, agents, sessions, units, each with its size and what may go. Pure."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Keep, Remove, Space, Verdict
from ...model.terms import Reason
from ...text import plural, shown
from .. import documents, render
from ..wording import explained_all, owner_short

Key = tuple[str, ...]  # the same thing in the next look has the same one
MANY = 1000  # units: with more of them, what looks at each takes longer than a key may


@dataclass(slots=True)
class TreeLine:
    """One line of the tree. A leaf is a unit; above it, all that its children hold."""

    key: Key
    title: str
    kind: str  # root, agent, session, litter or unit
    verdicts: list[Verdict] = field(default_factory=list)
    children: list[TreeLine] = field(default_factory=list)
    bytes: int = 0
    removable_bytes: int = 0
    offered: int = 0  # units in it that can be marked
    state: str = ""  # of a unit, a word for the column: never by colour alone
    summary: str = ""  # `why` of a branch, once it was asked for

    @property
    def is_unit(self) -> bool:
        return self.kind == "unit"

    def weigh(self) -> None:
        """Once, when all is in it: a line is drawn often."""
        if self.is_unit:
            self.bytes, self.removable_bytes = documents.bytes_of(self.verdicts), documents.bytes_of(self.removable)
            self.offered = int(all(is_offered(each) for each in self.verdicts))
            self.state = "removable" if self.removable else "ask" if self.offered else "kept"
            return
        self.bytes = sum(child.bytes for child in self.children)
        self.removable_bytes = sum(child.removable_bytes for child in self.children)
        self.offered = sum(child.offered for child in self.children)

    @property
    def removable(self) -> list[Remove]:
        return [each for each in self.verdicts if isinstance(each, Remove)]

    def units(self) -> Iterator[TreeLine]:
        if self.is_unit:
            yield self
        for child in self.children:
            yield from child.units()

    @property
    def why(self) -> str:
        if self.is_unit:
            return explained_all(self.verdicts)
        if not self.summary:  # a look at all that is in it; the cursor passes here often
            removable, kept = self.removable, [each for each in self.verdicts if isinstance(each, Keep)]
            self.summary = f"removable: {render.counted(removable)}; kept: {render.counted(kept)}"
        return self.summary

    @property
    def path(self) -> str | None:
        """Of a unit or a root; an agent lies nowhere."""
        if self.is_unit:
            return self.verdicts[0].finding.path
        return self.key[0] if self.kind == "root" else None


class MarkCounts:
    """What is marked, counted once for each change: a line is drawn often, and 100,000 may be marked."""

    def __init__(self, roots: Iterable[TreeLine] = (), marks: Container[Key] = ()) -> None:
        self.by_branch: dict[Key, int] = {}
        self._verdicts: list[Verdict] = []
        for root in roots if marks else ():
            self._count(root, marks)
        self.summary = f"marked: {render.counted(self._verdicts)}" if self._verdicts else ""
        self._verdicts.clear()

    def _count(self, branch: TreeLine, marks: Container[Key]) -> int:
        count = 0
        for child in branch.children:
            if not child.is_unit:
                count += self._count(child, marks)
            elif child.key in marks:
                self._verdicts += child.verdicts
                count += 1
        self.by_branch[branch.key] = count
        return count

    def is_whole(self, branch: TreeLine) -> bool | None:
        """None: some of it."""
        count = self.by_branch.get(branch.key, 0)
        return None if 0 < count < branch.offered else bool(count)


@dataclass(frozen=True, slots=True)
class Forest:
    """All trees of one look, for one filter."""

    words: str = ""
    only_going: bool = False
    roots: tuple[TreeLine, ...] = ()
    units: dict[Key, TreeLine] = field(default_factory=dict)

    @classmethod
    def of(cls, verdicts: Iterable[Verdict], spaces: Sequence[Space], words: str, only_going: bool) -> Forest:
        roots = tuple(grown(verdicts, spaces, words=words, only_going=only_going))
        return cls(words, only_going, roots, {unit.key: unit for root in roots for unit in root.units()})

    def looks_like(self, other: Forest) -> bool:
        """Whether a person would see the same."""
        return self.units.keys() == other.units.keys() and all(
            (mine.bytes, mine.state) == (theirs.bytes, theirs.state)
            for mine, theirs in zip(self.units.values(), map(other.units.__getitem__, self.units), strict=True)
        )


def is_offered(verdict: Verdict) -> bool:
    """What can be removed now, and what goes only when somebody says so: a mark says so."""
    return isinstance(verdict, Remove) or verdict.reason is Reason.ASK_ONLY


def grown(
    verdicts: Iterable[Verdict], spaces: Sequence[Space], *, words: str = "", only_going: bool = False
) -> list[TreeLine]:
    """One tree a root, the biggest first; `words` must all occur in a unit's path, agent, kind or session."""
    wanted = [each.lower() for each in words.split()]
    known: dict[Key, TreeLine] = {}
    roots = {space.path: TreeLine((space.path,), shown(space.path), "root") for space in spaces}
    for unit in render.by_unit(verdicts):
        if only_going and not any(is_offered(each) for each in unit):
            continue
        text = _text(unit) if wanted else ""
        if not all(word in text for word in wanted):
            continue
        leaf = _leaf(unit)
        root = roots.setdefault(leaf.key[0], TreeLine((leaf.key[0],), shown(leaf.key[0]), "root"))
        _plant(known, root, leaf)
    for root in roots.values():
        _tidy(root)
    return sorted(roots.values(), key=lambda node: -node.bytes)


def _leaf(unit: list[Verdict]) -> TreeLine:
    finding = unit[0].finding
    word = "go" if isinstance(unit[0], Remove) else unit[0].reason.value
    if finding.members:
        count = plural(sum(len(each.finding.members) for each in unit), "file")
        title = f"{count} such as {shown(min(finding.members))}"
    else:
        title = shown(finding.path.removeprefix(finding.root.rstrip("/") + "/"))
    return TreeLine((finding.root, finding.litter.agent, finding.path, finding.litter.key, word), title, "unit", unit)


def _text(unit: list[Verdict]) -> str:
    finding = unit[0].finding
    parts = (finding.path, finding.litter.key, session_of(unit[0]) or "", *finding.members[:50])
    return " ".join(parts).lower()


def session_of(verdict: Verdict) -> str | None:
    return verdict.finding.session or verdict.evidence.owner.session


def _plant(known: dict[Key, TreeLine], root: TreeLine, leaf: TreeLine) -> None:
    verdict = leaf.verdicts[0]
    agent = _child(known, root, verdict.finding.litter.agent, "agent", verdict.finding.litter.agent)
    session = session_of(verdict)
    if session:
        branch = _child(known, agent, f"session {session}", "session", f"session {shown(session)[:8]}")
    else:
        branch = _child(known, agent, f"kind {verdict.finding.litter.id}", "litter", verdict.finding.litter.id)
    for node in (root, agent, branch):
        node.verdicts += leaf.verdicts
    branch.children.append(leaf)


def _child(known: dict[Key, TreeLine], parent: TreeLine, name: str, kind: str, title: str) -> TreeLine:
    key = (*parent.key, name)
    if key not in known:
        known[key] = TreeLine(key, title, kind)
        parent.children.append(known[key])
    return known[key]


def _tidy(node: TreeLine) -> None:
    """The biggest first; a branch with one unit is that unit; a session says who it is."""
    for number, child in enumerate(node.children):
        _tidy(child)
        if child.kind in ("session", "litter") and len(child.children) == 1:
            node.children[number] = child.children[0]
        elif child.kind == "session":
            child.title += f", {owner_short(child.verdicts[0].evidence.owner).partition(' ')[0]}"
    node.weigh()
    node.children.sort(key=lambda child: (-child.bytes, child.title))
