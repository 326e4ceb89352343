"""What people read of a sweep: tables of units, and the sentences around them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from ..lazy_dataclass import dataclass
from ..model.sweep import Finding, Keep, Remove, Space, Verdict
from ..model.terms import Reason
from ..oskit.files.space import percent_of_bytes, percent_of_inodes, percent_of_quota
from ..sweep.packed import Packed
from ..text import plural, shown, size
from . import documents
from .paint import Painter, percent_style
from .paint import bar as bar
from .table import Row, draw
from .wording import age_text, explained_all, owner_short

_GOES, _STAYS = "removable", "kept"
_GROUPS = ("AGENT", "KIND", ">ITEMS", ">SIZE", "AGE", "", "WHY")
_UNITS = (">SIZE", "AGE", "KIND", "", "OWNER", "WHY")
_GOING = (">SIZE", "AGE", "KIND", "WHY")
_BY_AGENT = (">SIZE", ">ITEMS", "KIND", "AGE", "WHY")  # for a person, below each agent's name
_INDENT = "  "
_MANY_PERCENT = 50  # of inodes: with less nobody needs to know


def items(verdicts: Iterable[Verdict]) -> int:
    return sum(items_in(each.finding) for each in verdicts)


def items_in(finding: Finding) -> int:
    return len(finding.members) or 1


def amount(verdicts: Sequence[Verdict]) -> str:
    """`612.0 MB`, or `at least 612.0 MB` when part of it could not be read."""
    words = size(documents.bytes_of(verdicts))
    return f"at least {words}" if documents.is_at_least(verdicts) else words


def counted(verdicts: Sequence[Verdict]) -> str:
    return f"{plural(items(verdicts), 'item')}, {amount(verdicts)}" if verdicts else "nothing"


def place(*findings: Finding) -> str:
    """The path as people read it; swarms of one directory name that and one of their files."""
    first = findings[0]
    if not first.members:
        return shown(first.path)
    count = plural(sum(map(items_in, findings)), "file")
    return f"{shown(first.parent)}/ ({count} such as {shown(min(first.members))})"


def groups(verdicts: Iterable[Verdict]) -> list[Packed[Verdict]]:
    """By agent, litter, verdict and reason; the biggest first."""
    group_by_key: dict[tuple[str, str, bool, str], Packed[Verdict]] = {}
    for each in verdicts:
        litter = each.finding.litter
        group_by_key.setdefault(
            (litter.agent, litter.id, isinstance(each, Remove), each.reason.value), Packed()
        ).append(each)
    return sorted(group_by_key.values(), key=lambda group: (-documents.bytes_of(group), -items(group)))


def units(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """Each by itself, the biggest first."""
    return sorted(by_unit(verdicts), key=lambda unit: (-documents.bytes_of(unit), unit[0].finding.path))


def by_unit(verdicts: Iterable[Verdict]) -> Collection[list[Verdict]]:
    """A swarm of more than 1,000 files is several verdicts, to people one unit."""
    verdicts_by_unit: dict[object, list[Verdict]] = {}
    for each in verdicts:
        verdicts_by_unit.setdefault(_unit(each), []).append(each)
    return verdicts_by_unit.values()


def _unit(verdict: Verdict) -> object:
    """What verdicts about the same thing have in common."""
    finding = verdict.finding
    return (finding.parent, finding.litter.key, verdict.reason) if finding.members else finding.path


def ages(group: Sequence[Verdict], now_ns: int) -> str:
    known = [seconds for each in group if (seconds := documents.age_s(each, now_ns)) is not None]
    if not known:
        return "?"
    low, high = age_text(min(known)), age_text(max(known))
    return low if low == high else f"{low}-{high}"


def scan_groups(verdicts: Sequence[Verdict], *, now_ns: int, for_a_person: bool) -> Iterable[str]:
    if for_a_person:
        return _by_agent(verdicts, now_ns)
    rows = [
        Row(
            (
                group[0].finding.litter.agent,
                group[0].finding.litter.id,
                f"{items(group):,}",
                amount(group),
                ages(group, now_ns),
                _word(group[0]),
                explained_all(group),
            ),
            style=_style(group[0]),
        )
        for group in groups(verdicts)
    ]
    return draw(_GROUPS, rows, for_a_person=for_a_person)


def _by_agent(verdicts: Sequence[Verdict], now_ns: int) -> Iterable[str]:
    """The agent with the most on top, and each of its kinds below it."""
    agents: dict[str, list[Packed[Verdict]]] = {}
    for group in groups(verdicts):
        agents.setdefault(group[0].finding.litter.agent, []).append(group)
    rows = [
        Row(
            (
                amount(group),
                f"{items(group):,}",
                group[0].finding.litter.id,
                ages(group, now_ns),
                f"{_word(group[0])}: {explained_all(group)}",
            ),
            style=_style(group[0]),
            group=agent,
        )
        for agent, verdicts in sorted(agents.items(), key=lambda pair: -sum(map(documents.bytes_of, pair[1])))
        for group in verdicts
    ]
    return draw(_BY_AGENT, rows, for_a_person=True)


def scan_units(verdicts: Sequence[Verdict], *, now_ns: int, for_a_person: bool) -> Iterable[str]:
    rows = [
        Row(
            (
                amount(unit),
                ages(unit, now_ns),
                unit[0].finding.litter.key,
                _word(unit[0]),
                owner_short(unit[0].evidence.owner),
                explained_all(unit),
            ),
            place(*(each.finding for each in unit)),
            _style(unit[0]),
        )
        for unit in units(verdicts)
    ]
    return draw(_UNITS, rows, for_a_person=for_a_person)


def scan_end(verdicts: Sequence[Verdict], command: str, older: str | None) -> str:
    each_kind = Packed(verdicts, type)
    removable, kept = each_kind.where(Remove), each_kind.where(Keep)
    end = f"Next: {command}" if removable else older or "Nothing to do."
    return f"{Painter()(f'Removable: {counted(removable)}.', 'removable')} Kept: {counted(kept)}. {end}"


def removable_lines(
    verdicts: Sequence[Verdict], *, now_ns: int, for_a_person: bool, most: int | None = None
) -> Iterator[str]:
    """The list before the question: size, age, row, path and reason of what would go."""
    ordered = units(verdicts)
    if for_a_person:
        lines = [
            Line(
                (unit[0].finding.litter.agent, unit[0].finding.litter.id, explained_all(unit)),
                (amount(unit), ages(unit, now_ns)),
                place(*(each.finding for each in unit)),
            )
            for unit in ordered[:most]
        ]
        yield from listed(lines)
        rest = [each for unit in ordered[len(lines) :] for each in unit]
        if rest:
            yield f"... and {counted(rest)} more. To list all: tmpwarden scan --each"
        return
    rows = [
        Row(
            (amount(unit), ages(unit, now_ns), unit[0].finding.litter.key, explained_all(unit)),
            place(*(each.finding for each in unit)),
        )
        for unit in ordered[:most]
    ]
    yield from draw(_GOING, rows, for_a_person=for_a_person)
    if rest := [each for unit in ordered[len(rows) :] for each in unit]:
        yield f"... and {counted(rest)} more. To list all: tmpwarden scan --each"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a list of what is removed."""

    heading: tuple[str, str, str]  # agent, kind, why: told once for all that share them
    cells: tuple[str, ...]  # size, age
    path: str


def listed(lines: Sequence[Line]) -> Iterator[str]:
    """For a person: one line an item, grouped by agent, kind and reason, which are told once."""
    paint = Painter()
    groups: dict[str, dict[tuple[str, str, str], list[Line]]] = {}
    for each in lines:
        groups.setdefault(each.heading[0], {}).setdefault(each.heading, []).append(each)
    widths = [max(map(len, cells)) for cells in zip(*(each.cells for each in lines), strict=True)]
    for agent, headings in groups.items():
        yield paint(agent, "head")
        for (_, kind, why), items_ in headings.items():
            above = _directory_of(items_)
            yield f"{_INDENT}{kind}{f' in {above}' if above else ''}: {why}"
            for each in items_:
                path = each.path.removeprefix(above)
                cells = [cell.rjust(width) for cell, width in zip(each.cells, widths, strict=True)]
                head = _INDENT * 2 + "  ".join(cells)
                if len(head) + 2 + len(path) <= paint.width:
                    yield f"{head}  {paint(path, 'command')}"
                else:  # a path is never cut: it is there to be copied
                    yield head
                    is_path = not each.path.endswith(")")  # else `DIR/ (12 files such as NAME)`, which may be folded
                    yield paint(_INDENT * 2 + path, "command") if is_path else _INDENT * 2 + path


def _directory_of(lines: Sequence[Line]) -> str:
    """What the paths of several items begin with, told once above them: `/tmp/claude-1000/`."""
    if len(lines) < 2 or not all(each.path.startswith("/") for each in lines):
        return ""
    common = os.path.commonpath([os.path.dirname(each.path) for each in lines])
    return "" if common == "/" else f"{common}/"


def kept(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One line for each reason. What is never litter was never in question, so it is not told here."""
    for group in groups(each for each in verdicts if each.reason is not Reason.NEVER):
        one, is_one = group[0].finding, all(_unit(each) == _unit(group[0]) for each in group)
        where = place(*(each.finding for each in group)) if is_one else one.litter.key
        yield f"Kept {where}, {counted(group)}: {explained_all(group)}"


def limits(space: Space) -> str:
    """What may be used up while there are bytes: inodes, from half on, and the user's quota."""
    text = (
        [f"inodes {percent}%"] if space.inodes_total and (percent := percent_of_inodes(space)) >= _MANY_PERCENT else []
    )
    quota = percent_of_quota(space)
    return ", ".join([*text, *([] if quota is None else [f"your quota {quota}%"])])


def used(space: Space) -> str:
    """`/tmp (tmpfs) is 81% full: 3.2 GB of 4.0 GB; inodes 12%`."""
    percent = percent_of_bytes(space)
    full = Painter()(f"{percent}% full", percent_style(percent))
    words = f"{shown(space.path)} ({space.filesystem}) is {full}: "
    words += f"{size(space.bytes_used)} of {size(space.bytes_total)}"
    if space.inodes_total:
        words += f"; inodes {percent_of_inodes(space)}%"
    quota = percent_of_quota(space)
    return words if quota is None else f"{words}; your quota {quota}%"


def _word(verdict: Verdict) -> str:
    match verdict:
        case Remove():
            return "removable"
        case Keep():
            return "kept"


def _style(verdict: Verdict) -> str:
    return _GOES if isinstance(verdict, Remove) else _STAYS
