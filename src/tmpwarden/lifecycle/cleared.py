"""What an unattended clean did, in sentences for a session's first message or a timer's journal."""

from __future__ import annotations

from collections.abc import Sequence

from ..lazy_dataclass import dataclass
from ..model.sweep import Keep
from ..model.terms import Reason
from ..sweep.prepared import CleanResult
from ..text import plural, shown, size


@dataclass(frozen=True, slots=True)
class Cleared:
    """ "" where there is nothing to tell."""

    every_s: float  # until the next one is due
    sentence: str = ""
    held_back: str = ""  # until somebody says yes
    failed: str = ""
    warnings: tuple[str, ...] = ()
    relief: str = ""  # of a root that was short of room: what was done, or what a person has to do

    @classmethod
    def of(cls, result: CleanResult, every_s: float, growing: Sequence[str] = (), relief: str = "") -> Cleared:
        sentence = "; ".join(filter(None, (relief or _sentence(result), *growing)))
        held_back_text = "" if relief else held_back(result)
        return cls(
            every_s,
            sentence,
            held_back=held_back_text,
            failed=_failed(result),
            warnings=tuple(result.warnings),
            relief=relief,
        )


def _sentence(result: CleanResult) -> str:
    if not result.removed:
        return ""
    amount = size(result.freed_bytes + result.quarantined_bytes)
    undo = " (`tmpwarden undo` brings back what is in quarantine)" if result.quarantined_bytes else ""
    return f"removed {plural(len(result.removed), 'leftover item')} of ended sessions, {amount}{undo}"


def held_back(result: CleanResult) -> str:
    """What waits for a person's word."""
    held = [kept for kept in result.kept if isinstance(kept, Keep) and kept.reason is Reason.BACKLOG]
    if not held:
        return ""
    amount = size(sum(kept.evidence.measure.bytes for kept in held if kept.evidence.measure))
    return f"{plural(len(held), 'older leftover')}, {amount}, need one `tmpwarden clean` from you first"


def _failed(result: CleanResult) -> str:
    if not result.failed:
        return ""
    first = result.failed[0]
    items = plural(len(result.failed), "item")
    return f"{items} could not be removed, such as {shown(first.finding.path)}: {first.detail}"
