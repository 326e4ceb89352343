"""The optional timer."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    if patient.timer is None:
        summary = "no timer clears by itself; hooks or a call now and then do."
        yield Diagnosis("timer", "ok", summary, "", patient.instead_of_timer or "tmpwarden install timer")
    elif patient.timer == "installed":
        yield Diagnosis("timer", "ok", "the timer is installed and active.")
    else:
        yield Diagnosis("timer", "warn", f"the timer is installed but {patient.timer}.", "", "tmpwarden install timer")
