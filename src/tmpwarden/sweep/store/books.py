"""What every run leaves in the books when it ends: what it freed, and how full the roots were. Never stops anybody."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

from ...errors import TmpwardenError
from ...lazy_dataclass import dataclass, field
from ...model.sweep import Receipt
from ...model.terms import Outcome
from ...oskit.files import own_dirs, places, space, state_file
from ...oskit.files.opening import closing
from ...oskit.proc import locks
from ..find import known_roots
from ..prepared import CleanResult, Prepared
from . import history

# What was given back to the file system so far, in all: one small file, for the journal forgets.

_SAVED = "saved"


@dataclass(frozen=True, slots=True)
class Saved:
    bytes: int = 0
    entries: int = 0
    runs: int = 0  # that freed something


def saved_so_far(state: str) -> Saved:
    """Nothing, where nothing was written down or it cannot be read."""
    try:
        saved = state_file.read(f"{state}/{_SAVED}")
        numbers = [saved[name] for name in ("bytes", "entries", "runs")]
    except (KeyError, TypeError):
        return Saved()
    are_counts = all(isinstance(number, int) and number >= 0 for number in numbers)
    return Saved(*numbers) if are_counts else Saved()


def add_saved(state: str, freed_bytes: int, freed_entries: int) -> None:
    """Called by `books`, one run at a time. A full disk forgets, and harms nothing."""
    if not freed_entries:
        return
    before = saved_so_far(state)
    sums = {"bytes": before.bytes + freed_bytes, "entries": before.entries + freed_entries, "runs": before.runs + 1}
    state_file.write(f"{state}/{_SAVED}", sums)


_LOCK = "books.lock"
_WAIT_S, _POLL_S = 2.0, 0.01


def close(prepared: Prepared, by: str, freed_bytes: int, freed_entries: int) -> None:
    """Add what a run freed to what was saved so far, and this hour's line to the history if it has none yet."""
    _write(
        prepared.state,
        by,
        roots=prepared.roots,
        now_ns=prepared.now_ns(),
        freed_bytes=freed_bytes,
        freed_entries=freed_entries,
    )


def close_by_receipts(prepared: Prepared, by: str, receipts: Iterable[Receipt]) -> None:
    """The same where receipts are all there is. What only changed its place has freed nothing, and counts no entry."""
    removed = [receipt for receipt in receipts if receipt.outcome is Outcome.REMOVED]
    entries = sum(receipt.entries for receipt in removed)
    close(prepared, by, sum(receipt.freed_bytes for receipt in removed), entries)


def note_usage(by: str) -> None:
    """Only how full the roots are: of a tick that found nothing due."""
    _write(
        places.state_dir(),
        by,
        roots=places.temp_roots(extra=known_roots.remembered()),
        now_ns=time.time_ns(),
        freed_bytes=0,
        freed_entries=0,
    )


def _write(state: str, by: str, roots: Iterable[str], now_ns: int, freed_bytes: int, freed_entries: int) -> None:
    try:
        with alone(state) as is_alone:
            if is_alone:
                add_saved(state, freed_bytes, freed_entries)
                if roots_without_line := history.without_a_line(
                    state, roots, now_ns
                ):  # most runs find one, and measure nothing
                    so_far, seen = saved_so_far(state), _measured(roots_without_line)
                    history.note(state, history.Moment(now_ns, by, seen, so_far.bytes, so_far.entries))
    except (OSError, TmpwardenError):
        return  # a full disk forgets, and harms nothing; who squats our state is told by others


def _measured(roots: Iterable[str]) -> dict[str, history.Usage]:
    seen = {}
    for root in roots:
        with suppress(OSError):
            seen[root] = history.usage(space.space_of(root))
    return seen


@contextmanager
def alone(state: str) -> Iterator[bool]:
    """Many sessions may end at once. Who is stopped in the middle makes the others give up, not wait."""
    own_dirs.make_private_dir(state)
    with closing(os.open(f"{state}/{_LOCK}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)) as fd:
        until = time.monotonic() + _WAIT_S
        while not (is_alone := locks.try_flock(fd)) and time.monotonic() < until:
            time.sleep(_POLL_S)
        yield is_alone


# How often, with what result and for how long we cleaned: counters that only grow, for the monitoring of many hosts.

RESULTS = ("ok", "partial", "stopped")
_COUNTS = "tally"


@dataclass(slots=True)
class CleanCounts:
    """A file that is lost or broken begins at zero again, as any counter may."""

    removed_units: int = 0
    cleans: dict[str, int] = field(default_factory=dict)  # by result
    failures: dict[str, int] = field(default_factory=dict)  # by the code of an error
    last_result: str = ""  # of the last clean of everything; "" before the first one
    last_duration_s: float = 0.0


def counts_so_far(state: str) -> CleanCounts:
    counts = state_file.read(f"{state}/{_COUNTS}")
    try:
        return CleanCounts(
            _count(counts["removed_units"]),
            {str(result): _count(number) for result, number in counts["cleans"].items() if result in RESULTS},
            {str(code): _count(number) for code, number in counts["failures"].items()},
            counts["last_result"] if counts["last_result"] in RESULTS else "",
            max(0.0, float(counts["last_duration_s"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return CleanCounts()


def note_clean(state: str, result: CleanResult, duration_s: float, *, is_of_all: bool) -> None:
    """One clean that came to its end. What was not confirmed is none."""
    if not result.confirmed:
        return
    outcome = "stopped" if result.stopped else "partial" if result.failed else "ok"
    units = result.receipts.sums.units

    def add(counts: CleanCounts) -> None:
        counts.removed_units += units
        if result.failed:
            counts.failures["partial"] = counts.failures.get("partial", 0) + 1
        if is_of_all:
            counts.cleans[outcome] = counts.cleans.get(outcome, 0) + 1
            counts.last_result, counts.last_duration_s = outcome, round(duration_s, 3)

    if units or result.failed or is_of_all:
        _change(state, add)


def note_failure(state: str, code: str) -> None:
    """A clean that could not be done at all."""

    def add(counts: CleanCounts) -> None:
        counts.failures[code] = counts.failures.get(code, 0) + 1

    _change(state, add)


def _change(state: str, add: Callable[[CleanCounts], None]) -> None:
    """A full disk forgets, and harms nothing."""
    try:
        with alone(state) as is_alone:  # a run that failed has no clean's lock
            if is_alone:
                counts = counts_so_far(state)
                add(counts)
                fields = {name: getattr(counts, name) for name in CleanCounts.__slots__}
                state_file.write(f"{state}/{_COUNTS}", fields)
    except (OSError, TmpwardenError):
        return  # who squats our state is told by others


def _count(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError
    return number
