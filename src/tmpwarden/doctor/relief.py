"""What helps against a full root: a clean where anything may go, else what a person can decide about."""

from __future__ import annotations

from ..errors import TmpwardenError
from ..model.answers import Nobody
from ..model.sweep import OwnerState, Remove, Space, Verdict
from ..sweep.store.expiry import waiting
from ..text import quoted
from .patient import Patient

_GOES_SOON = (OwnerState.DEAD, OwnerState.ABSENT)  # under pressure: as soon as it is a minute old
_MUCH = 4  # a quarter of what is used


def remedy(patient: Patient, room: Space, *, is_unseen: bool = False) -> str:
    """One command, runnable as it stands. `is_unseen`: full by a limit that no number shows; clean is told of it."""
    clean = f"tmpwarden clean --yes{_budget(patient) if is_unseen else ''}{_common_options(patient)}"
    try:
        here = [verdict for verdict in patient.verdicts if verdict.finding.root == room.path]
    except TmpwardenError:
        return clean
    if not patient.saw_all or any(map(_may_go, here)) or any(waiting(room.path)):
        return clean
    largest = max(here, key=bytes_of, default=None)
    if largest and bytes_of(largest) * _MUCH >= room.bytes_used:
        return f"tmpwarden why {quoted(largest.finding.path)}" + _common_options(patient)
    return f"du -xh -d 1 {quoted(room.path)} | sort -h | tail"


def _budget(patient: Patient) -> str:
    """As much as pressure would bring it down to, by what agents hold."""
    try:
        held = sum(map(bytes_of, patient.verdicts))
    except TmpwardenError:
        return ""
    return f" --budget {held * patient.prepared.settings.pressure_low_percent // 100 >> 10}K"


def bytes_of(verdict: Verdict) -> int:
    return verdict.evidence.measure.bytes if verdict.evidence.measure else 0


def _may_go(verdict: Verdict) -> bool:
    is_gone = verdict.evidence.owner.state in _GOES_SOON and isinstance(verdict.evidence.users, Nobody)
    return isinstance(verdict, Remove) or is_gone


def _common_options(patient: Patient) -> str:
    """Those of the call: a clean of other roots would not help."""
    words = [word for root in patient.request.roots for word in ("--root", root)]
    if patient.request.config_file:
        words += ["--config", patient.request.config_file]
    return "".join(f" {quoted(word)}" for word in words)
