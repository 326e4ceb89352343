"""Where an undo makes its copy on another file system: a directory only we can enter, gone when the copy is in place.

Written down before it is made, and locked while it is used: what a killed undo left of one is removed by the next run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import UnsafeScratch
from ...oskit.files import own_dirs, own_files, purge
from ...oskit.files.opening import closing
from ...oskit.proc import locks
from ...oskit.proc.reach import Reach
from ...text import shown
from .journal import Journal, ended_well, entries

_BEGINNING = ".tmpwarden-"
_HEX = frozenset("0123456789abcdef")


@contextmanager
def staging(journal: Journal, parent_fd: int, parent: str) -> Iterator[int]:
    """A descriptor of a fresh one in `parent`. With all that is left in it, it goes at the end of the block."""
    name = _BEGINNING + os.urandom(8).hex()
    place = os.path.join(os.path.realpath(parent), name)
    if journal.open():
        journal.note("staging", id=name, path=place)
        journal.flush()
    fd = own_dirs.open_child(parent_fd, name, place, make=True)
    try:
        locks.try_flock(fd)
        yield fd
    finally:
        with closing(fd):
            is_gone = _removed(parent_fd, name, fd)
        if is_gone:
            journal.note("unstaged", id=name, path=place)


def remove_left(journal: Journal) -> Iterator[str]:
    """Remove what killed undos left; yields a sentence for each that stays."""
    for place in _open(journal.state):
        trouble = _left(place)
        if trouble is None:
            journal.note("unstaged", id=os.path.basename(place), path=place)
        elif trouble:
            journal.note("staging", id=os.path.basename(place), path=place)  # among the last lines: tried again
            yield f"{shown(place)}, which an interrupted undo left, could not be removed: {trouble}"


def _open(state: str) -> list[str]:
    begun: dict[str, str] = {}
    for entry in () if ended_well(state) else entries(state):
        if entry.get("t") == "staging":
            begun[str(entry.get("id"))] = str(entry.get("path"))
        elif entry.get("t") == "unstaged":
            begun.pop(str(entry.get("id")), None)
    return list(begun.values())


def _left(place: str) -> str | None:
    """None: it is gone, or is none of ours. "": an undo is at work in it. Else why it stays."""
    parent, name = os.path.split(place)
    if not (name.startswith(_BEGINNING) and len(name) == len(_BEGINNING) + 16 and _HEX.issuperset(name[-16:])):
        return None  # somebody edited the line
    if point := Reach.now().frozen(parent):
        return f"the file system mounted at {shown(point)} does not answer"
    try:
        parent_fd = own_dirs.open_base(parent)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror or str(error)
    with closing(parent_fd):
        return _emptied(parent_fd, name, place)


def _emptied(parent_fd: int, name: str, place: str) -> str | None:
    try:
        fd = own_dirs.open_child(parent_fd, name, place, forbidden=own_dirs.OPEN_TO_OTHERS)
    except FileNotFoundError:
        return None
    except (OSError, UnsafeScratch) as error:
        return str(error)
    with closing(fd):
        if not locks.try_flock(fd):
            return ""
        return None if _removed(parent_fd, name, fd) else "it is not empty"


def _removed(parent_fd: int, name: str, fd: int) -> bool:
    """By its descriptor, whatever has its name by now; only an empty directory goes by name."""
    for each in os.listdir(fd):
        purge.purge_own(fd, each)
    return own_files.remove_empty_dir(name, parent_fd)
