"""What could not be put back: safe in quarantine, never expiring, and waiting for a person."""

import os
import time
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit.files import places
from ...sweep.store import quarantine
from ...sweep.store.expiry import directories
from ...text import quoted, shown
from ..patient import Patient

_LONG_NS = 24 * 3600 * 10**9


def check(patient: Patient) -> Iterator[Diagnosis]:
    pinned = [
        entry.path
        for directory, _ in directories(patient.prepared)
        for entry in quarantine.stored(directory)
        if entry.name.endswith(quarantine.PINNED) or _was_forgotten(entry)
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


def _was_forgotten(entry: quarantine.Stored) -> bool:
    """Taken, never judged, and not put back by the runs since: the journal that told of it is lost."""
    return entry.name.endswith(quarantine.UNDECIDED) and time.time_ns() - entry.taken_ns > _LONG_NS
