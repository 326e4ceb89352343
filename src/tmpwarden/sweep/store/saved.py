"""What was given back to the file system so far, in all: one small file, for the journal forgets."""

from __future__ import annotations

from ...lazy_dataclass import dataclass
from ...oskit.files import state_file

_NAME = "saved"


@dataclass(frozen=True, slots=True)
class Saved:
    bytes: int = 0
    entries: int = 0
    runs: int = 0  # that freed something


def read(state: str) -> Saved:
    """Nothing, where nothing was written down or it cannot be read."""
    try:
        told = state_file.read(f"{state}/{_NAME}")
        numbers = [told[name] for name in ("bytes", "entries", "runs")]
    except (KeyError, TypeError):
        return Saved()
    are_counts = all(isinstance(number, int) and number >= 0 for number in numbers)
    return Saved(*numbers) if are_counts else Saved()


def add(state: str, freed_bytes: int, freed_entries: int) -> None:
    """Called by `books`, one run at a time. A full disk forgets, and harms nothing."""
    if not freed_entries:
        return
    before = read(state)
    sums = {"bytes": before.bytes + freed_bytes, "entries": before.entries + freed_entries, "runs": before.runs + 1}
    state_file.write(f"{state}/{_NAME}", sums)
