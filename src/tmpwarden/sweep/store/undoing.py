"""A directory without u+w becomes writable for its way back: what an undo that was killed then left is mended."""

from __future__ import annotations

import os

from ...errors import UnsafeScratch
from ...oskit.files import take, walk
from ...oskit.files.opening import closing
from . import quarantine
from .journal import Comeback, Journal, open_comebacks


def begin(journal: Journal, fd: int, token: str, directory: str, path: str) -> None:
    """Write down the mode that `token` has, if it must change for the moment of its move to `path`."""
    status = take.must_be_mended(fd, token)
    if status is not None and journal.open():
        parent, name = os.path.split(path)
        place = os.path.join(os.path.realpath(parent), name)
        mode = status.st_mode & 0o7777
        journal.begin(Comeback(token, place, directory, mode, status.st_dev, status.st_ino))


def mend(journal: Journal) -> None:
    """Give back the modes that an undo which was killed had changed, in quarantine and where it brought things."""
    for each in open_comebacks(journal.state):
        if quarantine.is_quarantine(each.quarantine, journal.state) and quarantine.is_token(each.id):
            _mend(each)
        journal.note("settled", id=each.id, path=each.path, ending="undo was cut short")


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
