"""How often, with what result and for how long we cleaned: counters that only grow, for whoever watches many hosts."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import TmpwardenError
from ...lazy_dataclass import dataclass, field
from ...oskit.files import state_file
from ..prepared import CleanResult
from . import books

RESULTS = ("ok", "partial", "stopped")
_NAME = "tally"


@dataclass(slots=True)
class CleanCounts:
    """A file that is lost or broken begins at zero again, as any counter may."""

    removed_units: int = 0
    cleans: dict[str, int] = field(default_factory=dict)  # by result
    failures: dict[str, int] = field(default_factory=dict)  # by the code of an error
    last_result: str = ""  # of the last clean of everything; "" before the first one
    last_duration_s: float = 0.0


def read(state: str) -> CleanCounts:
    told = state_file.read(f"{state}/{_NAME}")
    try:
        return CleanCounts(
            _count(told["removed_units"]),
            {str(result): _count(number) for result, number in told["cleans"].items() if result in RESULTS},
            {str(code): _count(number) for code, number in told["failures"].items()},
            told["last_result"] if told["last_result"] in RESULTS else "",
            max(0.0, float(told["last_duration_s"])),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return CleanCounts()


def note(state: str, result: CleanResult, duration_s: float, *, is_of_all: bool) -> None:
    """One clean that came to its end. What was not confirmed is none."""
    if not result.confirmed:
        return
    said = "stopped" if result.stopped else "partial" if result.failed else "ok"
    units = result.receipts.sums.units

    def add(counts: CleanCounts) -> None:
        counts.removed_units += units
        if result.failed:
            counts.failures["partial"] = counts.failures.get("partial", 0) + 1
        if is_of_all:
            counts.cleans[said] = counts.cleans.get(said, 0) + 1
            counts.last_result, counts.last_duration_s = said, round(duration_s, 3)

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
        with books.alone(state) as is_alone:  # whoever failed has no clean's lock
            if is_alone:
                counts = read(state)
                add(counts)
                told = {name: getattr(counts, name) for name in CleanCounts.__slots__}
                state_file.write(f"{state}/{_NAME}", told)
    except (OSError, TmpwardenError):
        return  # who squats our state is told by others


def _count(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError
    return number
