"""A file that grows while somebody writes it, and processes that the brake has stopped."""

import time
from collections.abc import Iterator

from ...model.processes import GrowingFile
from ...model.sweep import Diagnosis
from ...oskit.files import space
from ...processes import end, runaway
from ...processes.find import observe, question
from ...text import plural, shown
from ..patient import Patient

_BETWEEN_TWO_LOOKS_S = 0.5


def check(patient: Patient) -> Iterator[Diagnosis]:
    asked = question(patient.roots, config_file=patient.request.config_file)
    first = runaway.sample(observe(asked), asked.roots)
    found: tuple[GrowingFile, ...] = ()
    if first:  # most machines have none: no time is spent on a second look
        began_s = time.monotonic()
        time.sleep(_BETWEEN_TWO_LOOKS_S)
        second = runaway.sample(observe(asked), asked.roots)
        before = {key: file.allocated_bytes for key, file in first.items()}
        spaces = [space.space_of(root) for root in asked.roots]
        found = runaway.growth(before, second.values(), time.monotonic() - began_s, spaces)
    told = [one for one in found if runaway.is_runaway(one)]
    for one in told:
        remedy = f"tmpwarden brake --stop {one.file.writers[0].pid}" if one.file.writers else "tmpwarden brake"
        yield Diagnosis("runaway", "fail", shown(runaway.sentence(one)) + ".", "", remedy)
    if waiting := end.stopped():
        words = plural(len(waiting), "process is stopped by the brake", "processes are stopped by the brake")
        detail = "; ".join(f"{one.pid} {shown(one.command)}" for one in waiting[:3])
        yield Diagnosis("runaway", "warn", f"{words} and waits.", detail, f"tmpwarden brake --resume {waiting[0].pid}")
    elif not told:
        yield Diagnosis("runaway", "ok", "no file runs away.")
