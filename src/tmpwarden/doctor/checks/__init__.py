"""One file per check; here, the order in which they are told when they are equally bad."""

from collections.abc import Callable, Iterator

from ...model.sweep import Diagnosis
from ..patient import Patient
from . import (
    consumers,
    forecast,
    frozen,
    ghosts,
    guard,
    hooks,
    inherited,
    journal,
    memory,
    mounts,
    orphans,
    probe,
    rivals,
    room,
    runaway,
    silent,
    squatted,
    stuck,
    tempdirs,
    timer,
    tmpdir,
    unseen,
)

Check = Callable[[Patient], Iterator[Diagnosis]]

ALL: tuple[tuple[str, Check], ...] = (
    ("frozen", frozen.check),
    ("squatted", squatted.check),
    ("tmpdir", tmpdir.check),
    ("tempdirs", tempdirs.check),
    ("ghosts", ghosts.check),  # a failure only where it is what fills a root, and then no clean helps
    ("runaway", runaway.check),
    ("room", room.check),
    ("forecast", forecast.check),
    ("probe", probe.check),
    ("consumers", consumers.check),
    ("stuck", stuck.check),
    ("orphans", orphans.check),
    ("rivals", rivals.check),
    ("hooks", hooks.check),
    ("guard", guard.check),
    ("silent", silent.check),
    ("inherited", inherited.check),
    ("unseen", unseen.check),
    ("memory", memory.check),
    ("mounts", mounts.check),
    ("journal", journal.check),
    ("timer", timer.check),
)
