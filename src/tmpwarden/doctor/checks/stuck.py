"""What could not be put back: safe in quarantine, never expiring, and waiting for a person."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...sweep import quarantine
from ...sweep.expiry import directories
from ...text import plural, shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    pinned = [
        entry.path
        for directory, _ in directories(patient.prepared)
        for entry in quarantine.stored(directory)
        if entry.name.endswith(quarantine.PINNED)
    ]
    if not pinned:
        yield Diagnosis("stuck", "ok", "nothing is waiting to be put back by hand.")
        return
    summary = f"{plural(len(pinned), 'unit', 'units')} could not be put back and is kept safe in quarantine."
    detail = ", ".join(shown(path) for path in pinned[:5])
    yield Diagnosis("stuck", "fail", summary, detail, f"ls -la {pinned[0]}; move it where it belongs")
