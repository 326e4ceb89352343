"""Run every check and put the worst first. A check that breaks is "unknown", never a crash of the doctor."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ..model.sweep import Diagnosis
from ..oskit.proc import proven
from ..text import shown
from . import checks
from .patient import Patient

_RANK = {"fail": 0, "warn": 1, "unknown": 2, "ok": 3}
_CHECK_LIMIT_S = 20.0


def examine(patient: Patient, *, within_s: float = math.inf) -> tuple[Diagnosis, ...]:
    """All diagnoses, worst first; among equals in the order of the checks, which is the order of likelihood."""
    proven.tested()  # where that has to be tried out first, this is the command that does
    diagnoses, until_s = [], time.monotonic() + within_s
    for name, check in checks.ALL:
        is_late = time.monotonic() > until_s
        diagnoses += (
            [Diagnosis(name, "unknown", "there was no time left for this check")]
            if is_late
            else _run_check(name, check, patient)
        )
    return tuple(sorted(diagnoses, key=lambda diagnosis: _RANK[diagnosis.status]))


def _run_check(name: str, check: Callable[[Patient], Iterator[Diagnosis]], patient: Patient) -> list[Diagnosis]:
    try:
        with _time_limit(_CHECK_LIMIT_S):
            return list(check(patient))
    except _TooSlow:
        return [Diagnosis(name, "unknown", f"the check took longer than {_CHECK_LIMIT_S:.0f} seconds")]
    except OSError as error:
        where = f" ({shown(os.fsdecode(error.filename))})" if isinstance(error.filename, (str, bytes)) else ""
        return [Diagnosis(name, "unknown", f"could not be checked here: {error.strerror or error}{where}.")]
    except Exception as error:
        return [Diagnosis(name, "unknown", f"could not be checked: {type(error).__name__}: {error}")]


class _TooSlow(Exception):
    pass


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """A dead network mount must not keep the doctor. Only the main thread can be interrupted."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def too_slow(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    previous = signal.signal(signal.SIGALRM, too_slow)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
