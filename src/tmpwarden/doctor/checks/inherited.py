"""Big units of dead sessions that stay only because some process inherited their TMPDIR or session id."""

from collections.abc import Iterator

from ...model.answers import Held
from ...model.sweep import Diagnosis, Keep
from ...model.terms import OwnerState, Reason
from ...text import shown, size
from ..patient import Patient

_WORTH_TELLING = 100 << 20
_BY_ENVIRONMENT = (Reason.TMPDIR, Reason.SESSION)


def check(patient: Patient) -> Iterator[Diagnosis]:
    kept = [
        verdict
        for verdict in patient.verdicts
        if isinstance(verdict, Keep)
        and verdict.reason in _BY_ENVIRONMENT
        and verdict.evidence.owner.state is not OwnerState.ALIVE
        and verdict.evidence.measure is not None
        and verdict.evidence.measure.bytes >= _WORTH_TELLING
    ]
    for verdict in sorted(kept, key=lambda v: -(v.evidence.measure.bytes if v.evidence.measure else 0))[:3]:
        users, measure = verdict.evidence.users, verdict.evidence.measure
        witness = users.by[0] if isinstance(users, Held) else None
        if witness is None or measure is None or witness.pid is None:
            continue
        summary = (
            f"{size(measure.bytes)} in {shown(verdict.finding.path)} stay because"
            f" {shown(witness.command or 'a process')} (pid {witness.pid}) still carries its session."
        )
        yield Diagnosis("inherited", "warn", summary, witness.detail, f"kill {witness.pid}; tmpwarden clean")
    if not kept:
        yield Diagnosis("inherited", "ok", "no large unit is kept by an inherited environment alone.")
