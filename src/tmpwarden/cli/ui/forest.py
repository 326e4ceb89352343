"""What the view shows: all that a root holds, each with its size and what can be removed of it. Pure.

Below a root lie the agents with their sessions and items, then what is not recognised in groups of one name pattern,
and single lines for what tmpwarden does not look into (other users, quarantine): together as many bytes as `df` says.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from ...lazy_dataclass import dataclass, field
from ...model.sweep import Account, Keep, Remove, Space, Unmatched, Verdict
from ...model.terms import Reason
from ...sweep.find.named import LITTER
from ...text import plural, shown, size
from .. import documents, render
from ..wording import explained_all, owner_short

Key = tuple[str, ...]  # the same thing in the next look has the same one
MANY = 1000  # units: with more of them, what looks at each takes longer than a key may


@dataclass(slots=True)
class TreeLine:
    """One line of the tree. A leaf is a unit; above it, all that its children hold."""

    key: Key
    title: str
    kind: str  # root, agent, session, litter or unit; unrecognised, group or account
    verdicts: list[Verdict] = field(default_factory=list)
    children: list[TreeLine] = field(default_factory=list)
    bytes: int = 0
    removable_bytes: int = 0
    offered: int = 0  # units in it that can be marked
    state: str = ""  # of a unit, a word for the column: never by colour alone
    summary: str = ""  # `why`, where it is no reason of a verdict, or once it was asked for
    glob: str = ""  # of a group: what names all of it in a command

    @property
    def is_unit(self) -> bool:
        return self.kind == "unit"

    def weigh(self) -> None:
        """Once, when all is in it: a line is drawn often."""
        if self.is_unit:
            self.bytes, self.removable_bytes = documents.bytes_of(self.verdicts), documents.bytes_of(self.removable)
            self.offered = int(all(is_offered(each) for each in self.verdicts))
            self.state = "removable" if self.removable else "ask" if self.offered else "kept"
            if self.removable and self.verdicts[0].finding.litter.key == LITTER.key:  # the mark is what names it
                self.state, self.removable_bytes, self.summary = (
                    "ask",
                    0,
                    "not recognised, unused; removed only if marked",
                )
            return
        if self.kind not in ("group", "account"):  # those were measured as a whole
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

    def lines(self) -> Iterator[TreeLine]:
        yield self
        for child in self.children:
            yield from child.lines()

    @property
    def why(self) -> str:
        if self.is_unit:
            return self.summary or explained_all(self.verdicts)
        if not self.summary:  # a look at all that is in it; the cursor passes here often
            removable, kept = self.removable, [each for each in self.verdicts if isinstance(each, Keep)]
            self.summary = f"removable: {render.counted(removable)}; kept: {render.counted(kept)}"
        return self.summary

    @property
    def path(self) -> str | None:
        """Of an item or a root; an agent has no place of its own."""
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
class Rest:
    """What a root holds besides the items that were recognised."""

    unmatched: Sequence[Unmatched] = ()
    accounts: Sequence[Account] = ()
    judged: Mapping[str, Sequence[Verdict]] = field(default_factory=dict)  # the items of a group, by its glob


@dataclass(frozen=True, slots=True)
class Forest:
    """All trees of one look, for one filter."""

    words: str = ""
    only_removable: bool = False
    roots: tuple[TreeLine, ...] = ()
    units: dict[Key, TreeLine] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        verdicts: Iterable[Verdict],
        spaces: Sequence[Space],
        words: str,
        only_removable: bool,
        rest: Rest,
    ) -> Forest:
        roots = tuple(grown(verdicts, spaces, words=words, only_removable=only_removable, rest=rest))
        return cls(words, only_removable, roots, {unit.key: unit for root in roots for unit in root.units()})

    def looks_like(self, other: Forest) -> bool:
        """Whether a person would see the same."""
        return set(self._looks()) == set(other._looks())

    def _looks(self) -> Iterator[tuple[Key, str, str]]:
        return ((line.key, line.state, size(line.bytes)) for root in self.roots for line in root.lines())


def is_offered(verdict: Verdict) -> bool:
    """What can be removed now, and what goes only when somebody says so: a mark says so."""
    return isinstance(verdict, Remove) or verdict.reason is Reason.ASK_ONLY


def grown(
    verdicts: Iterable[Verdict],
    spaces: Sequence[Space],
    *,
    words: str = "",
    only_removable: bool = False,
    rest: Rest | None = None,
) -> list[TreeLine]:
    """One tree a root, the biggest first; `words` must all occur in a unit's path, agent, kind or session."""
    wanted = [each.lower() for each in words.split()]
    known: dict[Key, TreeLine] = {}
    roots = {space.path: TreeLine((space.path,), shown(space.path), "root") for space in spaces}
    for unit in render.by_unit(verdicts):
        if only_removable and not any(is_offered(each) for each in unit):
            continue
        text = _text(unit) if wanted else ""
        if not all(word in text for word in wanted):
            continue
        leaf = _leaf(unit)
        root = roots.setdefault(leaf.key[0], TreeLine((leaf.key[0],), shown(leaf.key[0]), "root"))
        _plant(known, root, leaf)
    if rest is not None and not only_removable:
        for root in roots.values():
            root.children += _not_recognised(root, rest, wanted)
            root.children += [] if wanted else _accounts(root, rest)
    for root in roots.values():
        _tidy(root)
    return sorted(roots.values(), key=lambda node: -node.bytes)


_UNRECOGNISED = "not recognised"


def _not_recognised(root: TreeLine, rest: Rest, wanted: Sequence[str]) -> Iterator[TreeLine]:
    """One branch with all groups of names that no row knows; a group that was opened holds its items."""
    branch = TreeLine((*root.key, _UNRECOGNISED), _UNRECOGNISED, "unrecognised", summary=_YOURS)
    for group in rest.unmatched:
        if group.root != root.path or not all(word in group.glob.lower() for word in wanted):
            continue
        title = f"{shown(group.shape)} ({group.count:,})" if group.count > 1 else shown(group.examples[0])
        line = TreeLine((*branch.key, group.glob), title, "group", bytes=group.bytes, glob=group.glob, summary=_A_GROUP)
        line.children = leaves(rest.judged.get(group.glob, ()))
        is_alone = group.count == len(line.children) == 1
        branch.children.append(line.children[0] if is_alone else line)
    if branch.children:
        yield branch


def leaves(verdicts: Iterable[Verdict]) -> list[TreeLine]:
    """The items of a group that is not recognised, once they were checked one by one."""
    lines = [_leaf(unit) for unit in render.by_unit(verdicts)]
    for leaf in lines:
        leaf.weigh()
    return lines


_YOURS = "yours, but no agent known to tmpwarden makes such names: kept unless you mark it"
_A_GROUP = "not recognised. Enter checks each item, space marks what is unused, p teaches tmpwarden this name"


def _accounts(root: TreeLine, rest: Rest) -> Iterator[TreeLine]:
    """What tmpwarden does not look into, so that the sum is what `df` says."""
    for account in (each for each in rest.accounts if each.root == root.path):
        for name, amount, why in (
            ("other users", account.others_bytes, "other users' files, as far as they are visible: never touched"),
            (
                "in quarantine",
                account.quarantined_bytes,
                "removed, but can still be brought back: u, or tmpwarden undo",
            ),
            (
                "not visible",
                account.other_bytes or 0,
                "deleted files that are still open, or other users' private files",
            ),
        ):
            if amount:
                yield TreeLine((*root.key, f"account {name}"), name, "account", bytes=amount, summary=why)


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
