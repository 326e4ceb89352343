"""Remove what was taken: a file or a tree below a directory that only we can write to."""

from __future__ import annotations

import os
import stat

from ..race import race_window as _race_window
from .emptier import Purged
from .roll import Roll, Unroller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.sweep import Measure

__all__ = ["Purged", "Unlinked", "purge", "unlink_same"]


class Unlinked:
    """How `unlink_same` ended."""

    REMOVED = "removed"
    VANISHED = "vanished"
    CHANGED = "changed"  # the name leads to another file now; it was left alone
    DENIED = "denied"


def purge(dir_fd: int, name: str, *, measured: Measure | None = None, roll: Roll | None = None) -> Purged:
    """Remove `name`. A tree that was measured a moment ago and has no hard links is not looked at file by file; nor is
    it listed, where the roll of its names is there."""
    trusted = measured is not None and not (measured.at_least or measured.linked or measured.crosses_device)
    purger = Unroller(dir_fd, name, counts=not trusted)
    if trusted and roll:
        purger.unroll(roll)
    purger.purge()
    done = purger.result()
    if measured is not None and trusted:
        done.freed_bytes = max(0, measured.bytes - (_bytes_left(dir_fd, name) if done.left else 0))
    return done


def unlink_same(dir_fd: int, name: str, pinned: int) -> str:
    """Unlink `name` where it is, right after a look that it still is `pinned`; one of the words of Unlinked.

    For the day when no quarantine can be made: no call unlinks by descriptor, so a moment remains.
    """
    _race_window("judged, not yet compared")
    try:
        now = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        if not os.path.samestat(now, os.fstat(pinned)):
            return Unlinked.CHANGED
        if stat.S_ISDIR(now.st_mode):
            os.rmdir(name, dir_fd=dir_fd)
        else:
            os.unlink(name, dir_fd=dir_fd)
    except FileNotFoundError:
        return Unlinked.VANISHED
    except OSError:
        return Unlinked.DENIED
    return Unlinked.REMOVED


def _bytes_left(dir_fd: int, name: str) -> int:
    from .walk import measure

    rest = measure(dir_fd, name, uid=os.geteuid(), count_atime=False)
    return rest.bytes if rest else 0
