"""Where each temp root is heading, by the history of its usage, and what was given back so far."""

from collections.abc import Iterator

from ...model.sweep import Diagnosis, Space
from ...sweep.store import books, history
from ...sweep.store.history import Growing, Steady, TooFew, Trend
from ...text import about, plural, shown, size
from .. import relief
from ..patient import Patient

_SOON_S = 24 * 3600.0


def check(patient: Patient) -> Iterator[Diagnosis]:
    state = patient.prepared.state
    known = history.read(state, lately=True)
    for room, heading in zip(patient.spaces, history.trends(known, patient.spaces, patient.now_ns()), strict=True):
        yield _told(patient, room, heading)
    if (so_far := books.saved_so_far(state)).entries:
        freed = f"{size(so_far.bytes)}, {plural(so_far.entries, 'entry', 'entries')}"
        yield Diagnosis("forecast", "ok", f"tmpwarden gave back {freed} so far.")


def _told(patient: Patient, room: Space, heading: Trend) -> Diagnosis:
    match heading:
        case Growing(what, _, full_in_s, over_s):
            summary = f"{shown(room.path)} {history.sentence(heading)}."
            pace = f"by the pace of the last {about(over_s)}"
            if full_in_s is None or full_in_s > _SOON_S:
                return Diagnosis("forecast", "ok", summary, pace)
            help_ = relief.relief(patient, room, counts="inodes" if what == "inodes" else "bytes")
            return Diagnosis("forecast", "warn", summary, "; ".join(filter(None, (pace, help_.words))), help_.command)
        case Steady():
            return Diagnosis("forecast", "ok", f"{shown(room.path)} does not grow.")
        case TooFew():
            return Diagnosis("forecast", "ok", f"{shown(room.path)}: how fast it grows is not known yet.")
