"""What waits in quarantine and does lie there: by the journal, or by its labels where the journal does not tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...errors import UnsafeScratch
from ...oskit.files import places
from ...oskit.files.opening import closing
from ..find import known_roots
from . import journal, labels, quarantine
from .waiting import Waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def restorable(state: str, *, must_read: bool = False) -> Waiting:
    """What can come back, by id: of the journals and, after the loss of one, by the labels in quarantine."""
    waiting = journal.restorable(state, must_read=must_read)
    waiting.add(sorted(_by_label(state, waiting), key=lambda receipt: str(receipt["time"])))
    return waiting


def _by_label(state: str, known: Waiting) -> Iterator[dict[str, Any]]:
    roots = (*places.temp_roots(extra=known_roots.remembered()), *known_roots.quarantined())
    for directory in dict.fromkeys((*map(quarantine.beside, roots), quarantine.of_home(state))):
        try:
            fd = quarantine.opened(directory)
        except (OSError, UnsafeScratch):
            continue
        with closing(fd):
            names = os.listdir(fd)
            untold = [name for name in names if name.endswith(quarantine.KEPT) and quarantine.is_token(name)]
            untold = [name for name in untold if name not in known]
            parts = labels.by_token(names) if untold else {}
            for name in untold:
                if label := labels.read(fd, directory, state, parts.get(name[:16], ()), name):
                    yield label.as_receipt()


def quarantined(state: str) -> Iterator[tuple[str, list[str]]]:
    """Each quarantine, and the names in it that could come back, if anything tells where they were."""
    roots = (*places.temp_roots(extra=known_roots.remembered()), *known_roots.quarantined())
    for directory in dict.fromkeys((*map(quarantine.beside, roots), quarantine.of_home(state))):
        try:
            names = [entry.name for entry in quarantine.stored(directory) if entry.name.endswith(quarantine.KEPT)]
        except OSError:
            continue
        if names:
            yield directory, names


def lying(entries: Iterable[dict[str, Any]], state: str) -> Iterator[dict[str, Any]]:
    """Those of `restorable` that are there. Where a quarantine cannot be looked into, nothing is said to be gone."""
    names: dict[str, frozenset[str] | None] = {}
    for entry in entries:
        for directory in (quarantine.beside(str(entry.get("root", ""))), quarantine.of_home(state)):
            if directory not in names:
                names[directory] = _names_in(directory)
            held = names[directory]
            if held is None or entry.get("id") in held:
                yield entry
                break


def _names_in(directory: str) -> frozenset[str] | None:
    """None: not measured."""
    try:
        with closing(quarantine.opened(directory)) as fd:
            return frozenset(os.listdir(fd))
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnsafeScratch):
        return None
