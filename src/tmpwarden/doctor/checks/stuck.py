"""What could not be put back: safe in quarantine, never expiring, and waiting for a person."""

import os
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit import places
from ...sweep import quarantine
from ...sweep.expiry import directories
from ...text import quoted, shown
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
    summary = f"{len(pinned)} units that could not be put back lie safe in quarantine and never expire."
    if len(pinned) == 1:
        summary = "a unit that could not be put back lies safe in quarantine and never expires."
    detail = ", ".join(shown(path) for path in pinned[:5])
    home = quoted(f"{places.home()}/{os.path.basename(pinned[0])}")
    yield Diagnosis("stuck", "fail", summary, detail, f"mv {quoted(pinned[0])} {home}")
