"""One look at the machine for the view: what `scan` sees, and who lives. It runs in a thread, so it forks nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import takewhile

from ...catalogue.load import load
from ...catalogue.settings import load_settings
from ...lazy_dataclass import dataclass
from ...lifecycle.living import living
from ...model.request import Request
from ...model.sweep import Space, Verdict
from ...oskit.files import places
from ...sweep.compose import prepare
from ...sweep.store import present


@dataclass(frozen=True, slots=True)
class Snapshot:
    verdicts: tuple[Verdict, ...]
    spaces: tuple[Space, ...]
    sessions: int  # alive
    undoable: int  # units that can come back
    warnings: tuple[str, ...]
    took_s: float


def look(request: Request, now_ns: Callable[[], int], is_unwanted: Callable[[], bool] = lambda: False) -> Snapshot:
    """Once nobody wants it any more, it ends between two units: whoever quits does not wait for 100,000."""
    began_s = time.monotonic()
    prepared = prepare(request, now_ns=now_ns)
    verdicts = tuple(takewhile(lambda _: not is_unwanted(), prepared.verdicts()))
    overrides = load_settings(request.config_file).rows
    sessions = living(load(overrides=overrides), prepared.roots)
    waiting = present.restorable(places.state_dir())
    took_s = time.monotonic() - began_s
    return Snapshot(verdicts, prepared.spaces(), len(sessions), len(waiting), tuple(prepared.warnings), took_s)
