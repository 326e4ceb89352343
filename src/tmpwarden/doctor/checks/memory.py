"""Temp roots that live in memory: what lies there is taken from every program."""

import os
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...text import shown, size
from .. import relief
from ..patient import Patient

_MUCH_PERCENT = 25


def check(patient: Patient) -> Iterator[Diagnosis]:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    seen = False
    for room in patient.spaces:
        used = room.bytes_used
        if room.memory_backed and used * 100 >= total * _MUCH_PERCENT:
            seen = True
            summary = f"{shown(room.path)} lives in memory and holds {used * 100 // total} % of it ({size(used)})."
            help_ = relief.relief(patient, room)
            yield Diagnosis("memory", "warn", summary, help_.words, help_.command)
    if not seen:
        yield Diagnosis("memory", "ok", "no temp root takes much of the memory.")
