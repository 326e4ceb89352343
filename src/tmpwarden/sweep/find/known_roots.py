"""Temp roots that earlier runs cleaned: a timer or another shell without their TMPDIR looks there too."""

from __future__ import annotations

import os

from ...oskit.files import state_file
from ...oskit.proc.reach import Reach

_NAME, _QUARANTINES, _MOST = "roots", "quarantines", 64


def remembered() -> tuple[str, ...]:
    """Those that still exist; none where the list cannot be read."""
    return _listed(_NAME)


def _listed(name: str) -> tuple[str, ...]:
    listed = state_file.read(state_file.path(name))
    paths = listed if isinstance(listed, list) else []
    absolute = [path for path in paths if isinstance(path, str) and os.path.isabs(path)]
    reach = Reach.now()
    return tuple(path for path in absolute if reach.frozen(path) is None and os.path.isdir(path))


def note_quarantine(root: str) -> None:
    """A quarantine had to be made beside something that is no temp root: it must be emptied in time all the same."""
    known = quarantined()
    if root in known:
        return
    state_file.write(state_file.path(_QUARANTINES), [*known, root][-_MOST:])


def quarantined() -> tuple[str, ...]:
    """Directories, no temp roots, beside whose contents a quarantine of ours may lie."""
    return _listed(_QUARANTINES)


def remember(roots: tuple[str, ...], home_roots: frozenset[str]) -> None:
    """Add the roots of a run that was not confined to some (those look at home rows as well)."""
    known = remembered()
    if not home_roots or set(roots) <= set(known):
        return
    # on a full disk the next run tries again
    state_file.write(state_file.path(_NAME), [*dict.fromkeys((*known, *roots))][-_MOST:])
