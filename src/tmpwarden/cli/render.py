"""What people read of a sweep: tables of units, and the sentences around them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..model.sweep import Finding, Keep, Remove, Space, Verdict
from ..model.terms import Reason
from ..oskit.files.space import percent_of_bytes, percent_of_inodes, percent_of_quota
from ..sweep.packed import Packed
from ..text import plural, shown, size
from . import documents
from .table import Row, draw
from .wording import age_told, explained_all, owner_short

_GOES, _STAYS = "", "dim"
_GROUPS = ("AGENT", "LITTER", ">ITEMS", ">SIZE", "AGE", "", "WHY")
_UNITS = (">SIZE", "AGE", "LITTER", "", "OWNER", "WHY")
_GOING = (">SIZE", "AGE", "LITTER", "WHY")


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
    found: dict[tuple[str, str, bool, str], Packed[Verdict]] = {}
    for each in verdicts:
        litter = each.finding.litter
        found.setdefault((litter.agent, litter.id, isinstance(each, Remove), each.reason.value), Packed()).append(each)
    return sorted(found.values(), key=lambda group: (-documents.bytes_of(group), -items(group)))


def units(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """Each by itself, the biggest first."""
    return sorted(by_unit(verdicts), key=lambda unit: (-documents.bytes_of(unit), unit[0].finding.path))


def by_unit(verdicts: Iterable[Verdict]) -> Collection[list[Verdict]]:
    """A swarm of more than 1,000 files is several verdicts, to people one unit."""
    found: dict[object, list[Verdict]] = {}
    for each in verdicts:
        found.setdefault(_unit(each), []).append(each)
    return found.values()


def _unit(verdict: Verdict) -> object:
    """What verdicts about the same thing have in common."""
    finding = verdict.finding
    return (finding.parent, finding.litter.key, verdict.reason) if finding.members else finding.path


def ages(group: Sequence[Verdict], now_ns: int) -> str:
    known = [seconds for each in group if (seconds := documents.age_s(each, now_ns)) is not None]
    if not known:
        return "?"
    low, high = age_told(min(known)), age_told(max(known))
    return low if low == high else f"{low}-{high}"


def scan_groups(verdicts: Sequence[Verdict], *, now_ns: int, for_a_person: bool) -> Iterable[str]:
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
    going, kept = each_kind.where(Remove), each_kind.where(Keep)
    end = f"Next: {command}" if going else older or "Nothing to do."
    return f"Can go now: {counted(going)}. Kept: {counted(kept)}. {end}"


def going(verdicts: Sequence[Verdict], *, now_ns: int, for_a_person: bool, most: int | None = None) -> Iterator[str]:
    """The list before the question: size, age, row, path and reason of what would go."""
    ordered = units(verdicts)
    rows = [
        Row(
            (amount(unit), ages(unit, now_ns), unit[0].finding.litter.key, explained_all(unit)),
            place(*(each.finding for each in unit)),
        )
        for unit in ordered[:most]
    ]
    yield from draw(_GOING, rows, for_a_person=for_a_person)
    if rest := [each for unit in ordered[len(rows) :] for each in unit]:
        yield f"... and {counted(rest)} more; tmpwarden scan --each lists all"


def kept(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One line for each reason. What is never litter was never in question, so it is not told here."""
    for group in groups(each for each in verdicts if each.reason is not Reason.NEVER):
        one, is_one = group[0].finding, all(_unit(each) == _unit(group[0]) for each in group)
        where = place(*(each.finding for each in group)) if is_one else one.litter.key
        yield f"Kept {where}, {counted(group)}: {explained_all(group)}"


def used(space: Space) -> str:
    """`/tmp (tmpfs) is 81% full: 3.2 GB of 4.0 GB; inodes 12%`."""
    words = f"{shown(space.path)} ({space.filesystem}) is {percent_of_bytes(space)}% full: "
    words += f"{size(space.bytes_used)} of {size(space.bytes_total)}"
    if space.inodes_total:
        words += f"; inodes {percent_of_inodes(space)}%"
    quota = percent_of_quota(space)
    return words if quota is None else f"{words}; your quota {quota}%"


def _word(verdict: Verdict) -> str:
    match verdict:
        case Remove():
            return "can go"
        case Keep():
            return "kept"


def _style(verdict: Verdict) -> str:
    return _GOES if isinstance(verdict, Remove) else _STAYS
