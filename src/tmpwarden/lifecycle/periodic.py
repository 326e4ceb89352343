"""A clean inside a server process: once at the start, then by the clock, in a thread that never gets in the way."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from ..catalogue.settings import load_settings
from ..errors import LockHeld
from ..model.request import Request, Thresholds
from ..oskit.files import places
from ..sweep.compose import cleaned
from ..sweep.prepared import CleanResult
from ..sweep.weigh.consent import is_due
from ..text import parse_duration

_JITTER = 0.1  # of the interval, so that many hosts do not sweep in the same second
_RUN_LIMIT_S = 300.0
_HALF = 0.5  # of the interval: who cleaned that lately, a timer, a hook or another server, cleaned for us too


class Periodic:
    """Clean up now and then, in a thread of your server: once at the start, then by the clock.

    Use it as a context manager, or call `start()` and `stop()`. It never raises, and never runs twice at once, in this
    process or another. `[periodic] enabled = false` in config.toml switches it off; `every` and `max_age` there count
    where you give none.

    every      how often, such as "1h"
    max_age    age limit for items without a known owner, such as "3d" (72h if nobody says otherwise)
    roots      temp roots to clean, instead of the machine's
    on_result  called with each CleanResult, in the cleaner's thread

    Attributes: `runs` and `skipped` count clean-ups, `last_error` is the last failure in one sentence, or None.

    Example:

        import tmpwarden


        def show(result: tmpwarden.CleanResult) -> None:
            print(f"removed {len(result.removed)} items")


        with tmpwarden.Periodic(every="1h", on_result=show) as cleaner:
            ...  # your server's work
            print(cleaner.runs, cleaner.skipped, cleaner.last_error)
    """

    def __init__(
        self,
        every: str | None = None,
        *,
        max_age: str | None = None,
        roots: tuple[str, ...] = (),
        on_result: Callable[[CleanResult], None] | None = None,
    ) -> None:
        self._every_s = parse_duration(every) if every is not None else None
        self._max_age_s = parse_duration(max_age) if max_age is not None else None
        self._roots = roots
        self._on_result = on_result
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.runs = 0
        self.skipped = 0
        self._has_begun = False
        self.last_error: str | None = None

    def start(self) -> Periodic:
        """Begin. A second call while it runs changes nothing."""
        if self._thread is None or not self._thread.is_alive() or self._stopping.is_set():
            self._stopping = threading.Event()  # its own: one that was stopped may still be on its way out
            self._thread = threading.Thread(
                target=self._loop, args=(self._stopping,), name="tmpwarden-periodic", daemon=True
            )
            self._thread.start()
        return self

    def stop(self, wait_s: float = 0.0) -> None:
        """End it, at once. A clean-up under way stops between two items; `wait_s` is how long to wait for that."""
        self._stopping.set()
        if self._thread is not None and wait_s:
            self._thread.join(wait_s)

    def __enter__(self) -> Periodic:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _loop(self, stopping: threading.Event) -> None:
        while not stopping.is_set():
            pause_s = self._once(stopping)
            stopping.wait(pause_s * (1 + random.uniform(-_JITTER, _JITTER)))

    def _once(self, stopping: threading.Event | None = None) -> float:
        """One clean, whatever happens in it; how long to wait for the next."""
        pause_s = float(self._every_s or 3600)
        try:
            settings = load_settings()
            pause_s = float(self._every_s or settings.periodic_every_s)
            if settings.periodic_enabled and self._is_due(pause_s):
                self._clean(stopping or self._stopping)
        except LockHeld:
            self.skipped += 1
        except Exception as error:  # a server must not notice
            self.last_error = f"{type(error).__name__}: {error}"
        return pause_s

    def _is_due(self, pause_s: float) -> bool:
        """Always at the start; then unless somebody else has just done it."""
        if self._has_begun and not is_due(places.state_dir(), pause_s * _HALF, time.time_ns()):
            self.skipped += 1
            return False
        self._has_begun = True
        return True

    def _clean(self, stopping: threading.Event) -> None:
        request = Request(
            roots=self._roots,
            thresholds=Thresholds(general_s=self._max_age_s),
            unattended=True,
            time_limit_s=_RUN_LIMIT_S,
        )
        result = cleaned(request, should_stop=stopping.is_set)
        self.runs += 1
        if self._on_result is not None:
            self._on_result(result)
