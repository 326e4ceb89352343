"""What is told of a deed, or of a unit that was spared."""

from __future__ import annotations

from ...lazy_dataclass import replace
from ...model.sweep import Keep, Receipt
from ...model.terms import Outcome
from ..store import quarantine
from .taking import Deed


def kept(verdict: Keep) -> Receipt:
    return Receipt(verdict.finding, Outcome.KEPT, verdict.reason, detail=verdict.detail)


def receipt_of(deed: Deed) -> Receipt:
    finding, measure = deed.verdict.finding, deed.verdict.evidence.measure
    size, entries = (measure.bytes, measure.entries) if measure else (0, 1)
    if finding.members:
        finding = replace(finding, members=tuple(deed.names.values()))
        size, entries = deed.member_bytes, len(deed.names)
    token = next(iter(deed.names)) if finding.members else deed.token
    is_kept = token.endswith(quarantine.KEPT)
    outcome = Outcome.QUARANTINED if is_kept else Outcome.REMOVED
    git_entries = deed.verdict.evidence.git_entries
    return Receipt(
        *(finding, outcome, deed.verdict.reason, token, size, entries), undoable=is_kept, git_entries=git_entries
    )
