"""Every check of the doctor, in the order in which they are shown when they are equally bad."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...model.sweep import Diagnosis
from ..patient import Patient
from . import installation, processes, space, temp_directories

Check = Callable[[Patient], Iterator[Diagnosis]]
ALL: tuple[tuple[str, Check], ...] = (
    ("frozen", temp_directories.check_frozen),
    ("squatted", temp_directories.check_squatted),
    ("tmpdir", temp_directories.check_tmpdir),
    ("tempdirs", temp_directories.check_tempdirs),
    ("ghosts", space.check_ghosts),  # before room: a failure only where it fills a root, and then no clean helps
    ("runaway", space.check_runaway),
    ("room", space.check_room),
    ("forecast", space.check_forecast),
    ("probe", space.check_probe),
    ("consumers", space.check_consumers),
    ("stuck", space.check_stuck),
    ("orphans", processes.check_orphans),
    ("rivals", installation.check_rivals),
    ("hooks", installation.check_hooks),
    ("guard", installation.check_guard),
    ("silent", installation.check_silent),
    ("inherited", processes.check_inherited),
    ("unseen", processes.check_unseen),
    ("memory", temp_directories.check_memory),
    ("mounts", temp_directories.check_mounts),
    ("journal", installation.check_journal),
    ("timer", installation.check_timer),
)
