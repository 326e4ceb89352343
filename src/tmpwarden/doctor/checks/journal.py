"""The journal: without it nothing of worth is removed, and undo knows nothing."""

import os
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...sweep.journal import NAME, open_intents
from ...text import plural, shown
from ..patient import Patient


def check(patient: Patient) -> Iterator[Diagnosis]:
    state = patient.prepared.state
    if not os.path.isdir(state):
        yield Diagnosis("journal", "ok", "tmpwarden has not removed anything here yet.")
        return
    if not os.access(state, os.W_OK | os.X_OK):
        summary = f"{shown(state)} cannot be written, so nothing that may be worth something is removed."
        yield Diagnosis("journal", "fail", summary, "", f"chown -R $(id -u) {state}")
        return
    waiting = len(open_intents(state)) if os.path.exists(f"{state}/{NAME}") else 0
    if waiting:
        summary = f"a run was interrupted: {plural(waiting, 'removal is', 'removals are')} to be settled."
        yield Diagnosis("journal", "warn", summary, "", "tmpwarden clean")
    else:
        yield Diagnosis("journal", "ok", "every removal is written down and settled.")
