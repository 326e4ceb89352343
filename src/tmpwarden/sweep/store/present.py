"""What the journal says to wait in quarantine and does lie there: an undo that is killed has not told of all it did."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...errors import UnsafeScratch
from ...oskit.files.descriptors import closing
from . import quarantine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
