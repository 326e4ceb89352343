"""Make the quarantines and the reserve while there is room: on a full disk none of them can be made.

A clean leaves them behind when it ends. `setup`, `status`, `scan` and hooks make what is missing, so that they are
there before the first clean, too. Nothing is said where that fails: the commands that need them say so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from ...errors import TmpwardenError, UnsafeScratch
from ...oskit.files import own_dirs, places
from ...oskit.proc.reach import Reach
from . import journal, quarantine


def make(roots: Iterable[str], state: str) -> None:
    """Quick where they are there: one look at each name."""
    for directory in map(quarantine.beside, roots):
        with suppress(OSError, UnsafeScratch):
            if not Reach.now().frozen(directory) and not os.path.lexists(directory):
                _make_quarantine(directory)
    with suppress(OSError, UnsafeScratch):
        reserve = journal.reserve_of(state)
        if not Reach.now().frozen(state) and not os.path.lexists(reserve.path) and _has_room(state):
            own_dirs.make_private_dir(state)
            reserve.refill()


def _make_quarantine(directory: str) -> None:
    root = os.path.dirname(os.path.dirname(directory))
    if os.access(root, os.W_OK) and _has_room(root):
        os.close(quarantine.opened(directory, make=True))


def _has_room(path: str) -> bool:
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return quarantine.has_plenty(os.statvfs(path))


def make_for(named: tuple[str, ...]) -> None:
    """Those of the temp roots that every command looks at; a directory that was named on the command line gets none
    before something is to be removed there."""
    if not named:
        with suppress(TmpwardenError):  # a root that is not safe: the command says so
            make(places.temp_roots(), places.state_dir())
