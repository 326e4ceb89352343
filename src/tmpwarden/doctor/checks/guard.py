"""The guard's config: a file with a mistake does not come into force."""

from collections.abc import Iterator

from ...guard.rules.verify import complaint_now
from ...model.sweep import Diagnosis
from ...oskit.files import places
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    said = complaint_now(places.config_dir(), places.state_dir())
    if said:
        yield Diagnosis("guard", "warn", f"{said[0].upper()}{said[1:]}.", "", "tmpwarden guard verify")
    else:
        yield Diagnosis("guard", "ok", "no mistake in the guard's rules.")
