"""Mounts that do not answer: whoever touches one waits for ever, so sweeps pass over them."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit.files import places
from ...oskit.proc.reach import Reach
from ...text import is_within, quoted, shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    reach = Reach.now()
    frozen = [point for point in reach.risky if _matters(point, patient) and reach.is_frozen_at(point)]
    for point in frozen:
        kind = reach.risky[point].filesystem
        summary = (
            f"the {kind} file system mounted at {shown(point)} does not answer: whatever touches it waits for ever."
        )
        detail = "scan and clean pass over it; a server or daemon that comes back wakes everybody who waits"
        yield Diagnosis("frozen", "fail", summary, detail, f"umount -l {quoted(point)}")
    if not frozen:
        yield Diagnosis("frozen", "ok", "every mount in or above the temp roots and your home answers.")


def _matters(point: str, patient: Patient) -> bool:
    """In, at or above a place where agents leave something."""
    named = [root for root in patient.environ.get("TMPWARDEN_ROOTS", "").split(":") if root]
    here = (*patient.request.roots, *named, *patient.roots, places.home())
    return any(is_within(point, place) or is_within(place, point) for place in here)
