"""What people read of a sweep: tables of units, and the sentences around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..model.sweep import Finding, Keep, Reason, Remove, Space, Verdict
from ..oskit.space import percent_of_bytes, percent_of_inodes, percent_of_quota
from ..text import plural, shown, size
from . import documents
from .table import Column, Row, draw
from .words import age_words, explained, explained_all, owner_short

_GOES, _STAYS = "", "dim"
_GROUPS = (
    Column("AGENT"),
    Column("LITTER"),
    Column("ITEMS", right=True),
    Column("SIZE", right=True),
    Column("AGE"),
    Column(""),
    Column("WHY"),
)
_UNITS = (Column("SIZE", right=True), Column("AGE"), Column("LITTER"), Column(""), Column("OWNER"), Column("WHY"))
_GOING = (Column("SIZE", right=True), Column("AGE"), Column("LITTER"), Column("WHY"))


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


def place(finding: Finding) -> str:
    """The path as people read it; a swarm names its directory and one of its files."""
    if not finding.members:
        return shown(finding.path)
    return f"{shown(finding.parent)}/ ({plural(len(finding.members), 'file')} such as {shown(finding.members[0])})"


def groups(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """By agent, litter, verdict and reason; the biggest first."""
    found: dict[tuple[str, str, bool, str], list[Verdict]] = {}
    for each in verdicts:
        litter = each.finding.litter
        found.setdefault((litter.agent, litter.id, isinstance(each, Remove), each.reason.value), []).append(each)
    return sorted(found.values(), key=lambda group: (-documents.bytes_of(group), -items(group)))


def biggest_first(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda each: (-documents.bytes_of([each]), each.finding.path))


def ages(group: Sequence[Verdict], now_ns: int) -> str:
    known = [seconds for each in group if (seconds := documents.age_s(each, now_ns)) is not None]
    if not known:
        return "?"
    low, high = age_words(min(known)), age_words(max(known))
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
                amount([each]),
                age_words(documents.age_s(each, now_ns)),
                each.finding.litter.key,
                _word(each),
                owner_short(each.evidence.owner),
                explained(each),
            ),
            place(each.finding),
            _style(each),
        )
        for each in biggest_first(verdicts)
    ]
    return draw(_UNITS, rows, for_a_person=for_a_person)


def scan_end(verdicts: Sequence[Verdict]) -> str:
    going = [each for each in verdicts if isinstance(each, Remove)]
    kept = [each for each in verdicts if isinstance(each, Keep)]
    end = "Next: tmpwarden clean" if going else "Nothing to do."
    return f"Can go now: {counted(going)}. Kept: {counted(kept)}. {end}"


def going(verdicts: Sequence[Verdict], *, now_ns: int, for_a_person: bool, most: int | None = None) -> Iterator[str]:
    """The list before the question: size, age, row, path and reason of what would go."""
    ordered = biggest_first(verdicts)
    rows = [
        Row(
            (
                amount([each]),
                age_words(documents.age_s(each, now_ns)),
                each.finding.litter.key,
                explained(each),
            ),
            place(each.finding),
        )
        for each in ordered[:most]
    ]
    yield from draw(_GOING, rows, for_a_person=for_a_person)
    if rest := ordered[len(rows) :]:
        yield f"... and {counted(rest)} more; tmpwarden scan --each lists all"


def kept(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """One line for each reason. What is never litter was never in question, so it is not told here."""
    for group in groups(each for each in verdicts if each.reason is not Reason.NEVER):
        one = group[0].finding
        where = place(one) if len(group) == 1 else one.litter.key
        yield f"Kept {where}, {counted(group)}: {explained_all(group)}"


def used(space: Space) -> str:
    """`/tmp (tmpfs) is 81% full: 3.2 GB of 4.0 GB; inodes 12%`."""
    words = f"{shown(space.path)} ({space.filesystem}) is {percent_of_bytes(space)}% full: "
    words += f"{size(space.bytes_total - space.bytes_free)} of {size(space.bytes_total)}"
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
