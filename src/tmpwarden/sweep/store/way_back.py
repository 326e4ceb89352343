"""The way from a quarantine back to where a unit was: its parent below its root, made again where it went."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import UnsafeRoot, UnsafeScratch
from ...oskit.files import own_dirs, own_files, places, purge, take, walk
from ...oskit.files.opening import closing
from ...oskit.proc import locks
from ...oskit.proc.reach import Reach
from ...text import shown
from . import quarantine
from .journal import Comeback, Journal, ended_well, entries, open_comebacks


def open_parent(root: str, path: str) -> int:
    """Open the directory that `path` was in, below its root, making again what went because it had become empty.

    No link is followed. Raises OSError, and UnsafeRoot where it belongs to somebody else now.
    """
    directory = os.path.dirname(path)
    if not f"{directory}/".startswith(f"{root.rstrip('/')}/"):
        raise UnsafeRoot(shown(directory), f"it does not lie below {shown(root)}")
    fd = own_dirs.open_base(root)
    for component in directory[len(root) :].split("/"):
        if component:
            with closing(fd):
                deeper = _entered(fd, component)
            fd = deeper
    if os.fstat(fd).st_uid not in (0, places.uid()):
        os.close(fd)
        raise UnsafeRoot(shown(directory), "it now belongs to another user")
    return fd


def _entered(fd: int, component: str) -> int:
    try:
        return walk.open_dir(component, dir_fd=fd)
    except FileNotFoundError:
        os.mkdir(component, 0o700, dir_fd=fd)
        return walk.open_dir(component, dir_fd=fd)


def put_back(quarantine_fd: int, token: str, root: str, path: str) -> bool:
    """Whether it is where it was; else it keeps a name in quarantine that never expires."""
    try:
        parent_fd = open_parent(root, path)
    except (OSError, UnsafeRoot):
        parent_fd = -1
    try:
        if parent_fd >= 0 and take.put_back(quarantine_fd, token, parent_fd, os.path.basename(path)):
            return True
    finally:
        if parent_fd >= 0:
            os.close(parent_fd)
    try:
        take.rename_within(quarantine_fd, token, quarantine.renamed(token, quarantine.PINNED))
    except OSError:
        return False  # the next run tries again
    return False


# A directory without u+w becomes writable for its way back: what an undo that was killed then left is mended.


def begin(journal: Journal, fd: int, token: str, directory: str, path: str) -> None:
    """Write down the mode that `token` has, if it must change for the moment of its move to `path`."""
    status = take.must_be_mended(fd, token)
    if status is not None and journal.open():
        parent, name = os.path.split(path)
        place = os.path.join(os.path.realpath(parent), name)
        mode = status.st_mode & 0o7777
        journal.begin(
            Comeback(token, place, quarantine=directory, mode=mode, device=status.st_dev, inode=status.st_ino)
        )


def mend(journal: Journal) -> None:
    """Give back the modes that an undo which was killed had changed, in quarantine and where it brought things."""
    for each in open_comebacks(journal.state):
        if quarantine.is_quarantine(each.quarantine, journal.state) and quarantine.is_token(each.id):
            _mend(each)
        journal.note("settled", id=each.id, path=each.path, ending="undo was interrupted")


def _mend(each: Comeback) -> None:
    try:
        fd = quarantine.opened(each.quarantine)
    except (OSError, UnsafeScratch):
        fd = -1
    parent, name = os.path.split(each.path)
    try:
        if fd >= 0 and restore_mode(fd, each.id, each.mode, (each.device, each.inode)):
            return
        _mend_at(parent, name, each)
    finally:
        if fd >= 0:
            os.close(fd)


def _mend_at(parent: str, name: str, each: Comeback) -> None:
    try:
        fd = walk.open_dir(parent)
    except OSError:
        return
    with closing(fd):
        restore_mode(fd, name, each.mode, (each.device, each.inode))


def restore_mode(fd: int, name: str, mode: int, identity: tuple[int, int]) -> bool:
    """Whether it is the directory that we made movable; then it has its mode again. Through a pin, never by path."""
    try:
        pinned = take.pin(fd, name)
    except OSError:
        return False
    with closing(pinned):
        status = os.fstat(pinned)
        if (status.st_dev, status.st_ino) != identity:
            return False
        if mode & 0o200 == 0 and status.st_mode & 0o7777 == mode | 0o200:
            take.restore_mode(pinned, mode)
        return True


# Where an undo makes its copy on another file system: a directory only we can enter, gone when the copy is in place.
#
# Written down before it is made, and locked while it is used: what a killed undo left of one is removed by the
# next run.

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
        trouble = _why_it_stays(place)
        if trouble is None:
            journal.note("unstaged", id=os.path.basename(place), path=place)
        elif trouble:
            journal.note("staging", id=os.path.basename(place), path=place)  # among the last lines: tried again
            yield f"{shown(place)}, which an interrupted undo left, could not be removed: {trouble}"


def _open(state: str) -> list[str]:
    moves: dict[str, str] = {}
    for entry in () if ended_well(state) else entries(state):
        if entry.get("t") == "staging":
            moves[str(entry.get("id"))] = str(entry.get("path"))
        elif entry.get("t") == "unstaged":
            moves.pop(str(entry.get("id")), None)
    return list(moves.values())


def _why_it_stays(place: str) -> str | None:
    """None: it is gone, or is not one of ours. "": an undo is at work in it. Else why it stays."""
    parent, name = os.path.split(place)
    if not (name.startswith(_BEGINNING) and len(name) == len(_BEGINNING) + 16 and _HEX.issuperset(name[-16:])):
        return None  # somebody edited the line
    if point := Reach.now().frozen(parent):
        return f"the file system mounted at {shown(point)} does not respond"
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
