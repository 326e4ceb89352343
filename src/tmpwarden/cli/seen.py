"""One look at everything, as `scan` tells it and `report` draws it: both from the same document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..lazy_dataclass import dataclass
from ..model.request import Request
from ..model.sweep import Account, Space, Unmatched, Verdict
from ..oskit.files import places
from ..sweep.compose import scan
from ..sweep.packed import Packed
from ..sweep.store.quarantine import squatted
from ..text import duration, plural, shown, size
from . import advice, documents
from .call import Call
from .progress import COUNTING_S, Progress
from .table import Row, draw


@dataclass(frozen=True, slots=True)
class Seen:
    verdicts: Sequence[Verdict]
    roots: Sequence[Space]
    unmatched: tuple[Unmatched, ...]
    accounts: tuple[Account, ...]
    now_ns: int

    def document(self) -> documents.Document:
        return {
            "findings": [documents.verdict(each, self.now_ns) for each in self.verdicts],
            "roots": [documents.space(root) for root in self.roots],
            "totals": documents.totals(self.verdicts),
        } | whole_roots(self.unmatched, self.accounts, self.now_ns)


def look(call: Call, request: Request, *, in_full: bool) -> Seen:
    """Every unit with its verdict, then what is of no known kind. Complaints become warnings of the call."""
    survey = scan(request, now_ns=call.now_ns)
    with Progress(wanted=not call.json) as progress:
        total = survey.expected(within_s=COUNTING_S) if progress.is_shown else None
        verdicts = Packed(_with_progress(survey, progress, total))
        progress.tell("Measuring what is not recognised ...")
        unmatched = survey.unmatched(in_full=in_full)
    call.warn(*survey.warnings, *squatted((root.path for root in survey.roots), places.state_dir()))
    return Seen(verdicts, survey.roots, unmatched, survey.accounts(unmatched), call.now_ns())


def spooled(call: Call, request: Request, *, in_full: bool) -> documents.Document:
    """The same document for a program, which gets all of it: nothing of a verdict is kept but its text."""
    from .envelope import Spool

    survey, findings, totals = scan(request, now_ns=call.now_ns), Spool(), documents.Totals()
    for verdict in survey:
        findings.add(documents.verdict(verdict, call.now_ns()))
        totals.add(verdict)
    unmatched = survey.unmatched(in_full=in_full)
    call.warn(*survey.warnings, *squatted((root.path for root in survey.roots), places.state_dir()))
    return {
        "findings": findings,
        "roots": [documents.space(root) for root in survey.roots],
        "totals": totals.document(),
    } | whole_roots(unmatched, survey.accounts(unmatched), call.now_ns())


def _with_progress(survey: Iterable[Verdict], progress: Progress, total: int | None) -> Iterator[Verdict]:
    count, of_how_many = 0, "" if total is None else f" of at most {total:,}"
    for verdict in survey:
        count += len(verdict.finding.members) or 1
        progress.tell(f"Checking: {count:,}{of_how_many} items ...")
        yield verdict


_COLUMNS = (">ITEMS", ">SIZE", "NEWEST", "NAMES")
MOST_GROUPS = 8  # that a person reads below the table of litter


def whole_roots(unmatched: Sequence[Unmatched], accounts_: Sequence[Account], now_ns: int) -> documents.Document:
    return {
        "unmatched": [_group(each, now_ns) for each in unmatched],
        "accounts": [_account(each) for each in accounts_],
    }


def _group(value: Unmatched, now_ns: int) -> documents.Document:
    examples = [f"{value.root.rstrip('/')}/{name}" for name in value.examples]
    document = documents.of(value, "root", "shape", "count", "bytes", "entries")
    document |= {"newest_seconds": _age_s(value, now_ns), "examples": examples}
    return document | ({"at_least": True} if value.at_least else {})


def _account(value: Account) -> documents.Document:
    sizes = ("matched_bytes", "unmatched_bytes", "others_bytes", "quarantined_bytes", "other_bytes")
    document = documents.of(value, "root", *sizes, "unmatched_count", "others_count")
    return document | ({"at_least": True} if value.at_least else {})


def groups(unmatched: Sequence[Unmatched], *, now_ns: int, for_a_person: bool, most: int | None) -> Iterator[str]:
    """The table of what is the user's own and no row knows."""
    if not unmatched:
        return
    yield ""
    yield "Not recognised (yours, kept unless you name it):"
    shown_groups = unmatched[:most]
    rows = [
        Row((f"{each.count:,}", amount(each), duration(_age_s(each, now_ns)), shown(each.glob)))
        for each in shown_groups
    ]
    yield from draw(_COLUMNS, rows, for_a_person=for_a_person)
    if rest := unmatched[len(rows) :]:
        count, least = sum(each.count for each in rest), "at least " if any(each.at_least for each in rest) else ""
        yield f"... and {plural(count, 'item')} more, {least}{size(sum(each.bytes for each in rest))}; --each lists all"


def amount(value: Unmatched) -> str:
    return f"at least {size(value.bytes)}" if value.at_least else size(value.bytes)


def accounts(accounts_: Iterable[Account]) -> Iterator[str]:
    """One line for each root that holds more than agents' litter."""
    for each in accounts_:
        least = "at least " if each.at_least else ""
        parts = [
            (each.matched_bytes, "left by agents"),
            (each.unmatched_bytes, f"not recognised ({each.unmatched_count:,})"),
            (each.others_bytes, f"of other users, as far as visible ({each.others_count:,})"),
            (each.quarantined_bytes, "in quarantine"),
            (each.other_bytes or 0, "deleted but still open, or other users' private files"),
        ]
        if any(amount for amount, _ in parts[1:]):
            words = ", ".join(f"{size(amount)} {what}" for amount, what in parts if amount)
            yield f"  {shown(each.root)} holds {least}{words}."


def naming(call: Call, unmatched: Sequence[Unmatched]) -> str:
    """The command that judges the biggest group by name."""
    return advice.command(call, "clean", unmatched[0].glob)


def _age_s(value: Unmatched, now_ns: int) -> int:
    return max(0, (now_ns - value.newest_ns) // 10**9)
