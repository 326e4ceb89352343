"""What every run leaves in the books when it ends: what it freed, and how full the roots were. Never stops anybody."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from ...errors import TmpwardenError
from ...model.sweep import Receipt
from ...model.terms import Outcome
from ...oskit.files import own_dirs, places, space
from ...oskit.files.opening import closing
from ...oskit.proc import locks
from ..find import known_roots
from ..prepared import Prepared
from . import history, saved

_LOCK = "books.lock"
_WAIT_S, _POLL_S = 2.0, 0.01


def close(prepared: Prepared, by: str, freed_bytes: int, freed_entries: int) -> None:
    """Add what a run freed to what was saved so far, and this hour's line to the history if it has none yet."""
    _write(prepared.state, by, prepared.roots, prepared.now_ns(), freed_bytes, freed_entries)


def close_by_receipts(prepared: Prepared, by: str, receipts: Iterable[Receipt]) -> None:
    """The same where receipts are all there is. What only changed its place has freed nothing, and counts no entry."""
    gone = [receipt for receipt in receipts if receipt.outcome is Outcome.REMOVED]
    entries = sum(receipt.entries for receipt in gone)
    close(prepared, by, sum(receipt.freed_bytes for receipt in gone), entries)


def note_usage(by: str) -> None:
    """Only how full the roots are: of a tick that found nothing due."""
    _write(places.state_dir(), by, places.temp_roots(extra=known_roots.remembered()), time.time_ns(), 0, 0)


def _write(state: str, by: str, roots: Iterable[str], now_ns: int, freed_bytes: int, freed_entries: int) -> None:
    try:
        with alone(state) as is_alone:
            if is_alone:
                saved.add(state, freed_bytes, freed_entries)
                if untold := history.without_a_line(state, roots, now_ns):  # most runs find one, and measure nothing
                    so_far, seen = saved.read(state), _measured(untold)
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
