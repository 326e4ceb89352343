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
from . import documents, whole_roots
from .call import Call
from .progress import COUNTING_S, Progress


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
        } | whole_roots.document(self.unmatched, self.accounts, self.now_ns)


def look(call: Call, request: Request, *, in_full: bool) -> Seen:
    """Every unit with its verdict, then what is of no known kind. Complaints become warnings of the call."""
    survey = scan(request, now_ns=call.now_ns)
    with Progress(wanted=not call.json) as progress:
        total = survey.expected(within_s=COUNTING_S) if progress.is_shown else None
        verdicts = Packed(_told(survey, progress, total))
        progress.tell("Looking at what is of no known kind ...")
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
    } | whole_roots.document(unmatched, survey.accounts(unmatched), call.now_ns())


def _told(survey: Iterable[Verdict], progress: Progress, total: int | None) -> Iterator[Verdict]:
    count, of_how_many = 0, "" if total is None else f" of at most {total:,}"
    for verdict in survey:
        count += len(verdict.finding.members) or 1
        progress.tell(f"Looking: {count:,}{of_how_many} items ...")
        yield verdict
