"""Somebody who cannot be looked at: what that costs, and where it keeps everything."""

from collections.abc import Iterator

from ...model.answers import Nobody, NotMeasured
from ...model.sweep import Diagnosis
from ...oskit.files import kernel_word
from ...text import shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    world = patient.prepared.weigher.world
    match world.holders.unseen:
        case Nobody():
            yield Diagnosis("unseen", "ok", "every process that could use your files can be looked at.")
        case NotMeasured(why) as doubt if not doubt.askable:
            summary = f"nobody can say who uses your files, so they stay: {shown(why)}."
            yield Diagnosis("unseen", "warn", summary)
        case NotMeasured(why):
            yield from _in_doubt(patient, shown(why))


def _in_doubt(patient: Patient, why: str) -> Iterator[Diagnosis]:
    mounts = patient.prepared.weigher.world.mounts
    mute = [root for root in patient.roots if kernel_word.foreseen(mounts.filesystem(root) if mounts else None, 1)]
    for root in mute:
        kind = (mounts.filesystem(root) if mounts else None) or "its file system"
        summary = f"nothing in {shown(root)} goes by itself: {why}, and on {kind} the kernel cannot be asked instead."
        detail = "mount a tmpfs or a volume there, as `docker run --tmpfs /tmp` does; a teardown by name still works"
        yield Diagnosis("unseen", "warn", summary, detail)
    if not mute:
        summary = "where somebody cannot be looked at, the kernel is asked, and units go into quarantine only."
        yield Diagnosis("unseen", "ok", summary, why)
