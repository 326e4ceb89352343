"""What may happen to a unit that somebody may use unseen: the kernel is asked, and it only waits in quarantine.

Open and mapped files are all that the kernel can be asked about. A directory may still be somebody's working
directory, so it goes where it can come back from; a single worthless file cannot be, and its answer is whole.
"""

from __future__ import annotations

from ...model.answers import Held, Nobody, NotMeasured, Users
from ...model.sweep import Finding, Receipt, Remove
from ...model.terms import Kind, Outcome, Reason, Worth
from ...oskit.files import kernel_word


def may_only_wait(finding: Finding) -> bool:
    """In doubt: whether it may go into quarantine and no further, whatever was asked for."""
    return finding.kind is not Kind.FILE or finding.litter.worth is Worth.SOME


def refusal(verdict: Remove, dir_fd: int, name: str = "", *, in_place: bool = False) -> Receipt | None:
    """Why the unit (or that member of a swarm) is kept after all; None if there is no doubt or the kernel resolved it.
    The last question before the deed: every law has said that it may go. `in_place`: none will follow."""
    finding = verdict.finding
    if not verdict.doubt and not (in_place and finding.litter.worth is Worth.SOME):
        return None
    unseen = NotMeasured(verdict.doubt, askable=True) if verdict.doubt else Nobody()
    match kernel_word.confirmed(unseen, dir_fd, name or finding.name):
        case Nobody():
            return None
        case Held(by):
            return Receipt(finding, Outcome.KEPT, Reason(by[0].kind.value), detail=by[0].detail)
        case NotMeasured(why):
            return Receipt(finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=why)


def answered(verdict: Remove) -> Users:
    """Who uses a unit that `refusal` does not keep: the doubt, if there was one, is resolved."""
    return Nobody() if verdict.doubt else verdict.evidence.users


def nowhere_to_wait(verdict: Remove) -> Receipt:
    detail = f"{verdict.doubt}, and there is no quarantine that it could come back from"
    return Receipt(verdict.finding, Outcome.KEPT, Reason.NOT_MEASURED, detail=detail)
