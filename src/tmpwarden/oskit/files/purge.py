"""Remove what was taken: a file or a tree below a directory that only we can write to."""

from __future__ import annotations

import errno
import os
import stat

from ..race import race_window as _race_window
from . import take
from .doomed import Doomed, own
from .emptier import Emptier, OpenDirectory, Purged
from .opening import closing
from .roll import Roll, Unroller

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.sweep import Measure

__all__ = ["Purged", "Unlinked", "empty", "purge", "purge_own", "unlink_same"]


class Unlinked:
    """How `unlink_same` ended."""

    REMOVED = "removed"
    VANISHED = "vanished"
    CHANGED = "changed"  # the name leads to another file now; it was left alone
    DENIED = "denied"


def purge(doomed: Doomed, *, measured: Measure | None = None, roll: Roll | None = None) -> Purged:
    """Remove what is doomed. A tree that was measured a moment ago and has no hard links is not looked at file by file;
    nor is it listed, where the roll of its names is there."""
    trusted = measured is not None and not (measured.at_least or measured.linked or measured.crosses_device)
    purger = Unroller(doomed, counts=not trusted)
    if trusted and roll:
        purger.unroll(roll)
    purger.purge()
    purged = purger.result()
    if measured is not None and trusted:
        purged.freed_bytes = max(0, measured.bytes - (_bytes_left(purger.dir_fd, doomed.name) if purged.left else 0))
    return purged


def purge_own(dir_fd: int, name: str) -> Purged:
    """Remove a file or a tree of our own making from a directory of ours, if it is there."""
    try:
        with own(dir_fd, name) as doomed:
            return purge(doomed)
    except FileNotFoundError:
        return Purged(0, 0, (), 0)
    except OSError as error:
        return Purged(0, 0, (("", error.strerror or str(error)),), 1)


def unlink_same(doomed: Doomed) -> str:
    """Unlink what is doomed where it is, right after a look that it still is that; one of the words of Unlinked.

    For the day when no quarantine can be made: no call unlinks by descriptor, so a moment remains.
    """
    _race_window("judged, not yet compared")
    try:
        if stat.S_ISDIR(doomed.look().st_mode):
            os.rmdir(doomed.name, dir_fd=doomed.dir_fd)
        else:
            os.unlink(doomed.name, dir_fd=doomed.dir_fd)
    except FileNotFoundError:
        return Unlinked.VANISHED
    except OSError as error:
        return Unlinked.CHANGED if error.errno == errno.ESTALE else Unlinked.DENIED
    return Unlinked.REMOVED


def _bytes_left(dir_fd: int, name: str) -> int:
    from .walk import measure

    rest = measure(dir_fd, name, uid=os.geteuid(), count_atime=False)
    return rest.bytes if rest else 0


def empty(doomed: Doomed) -> Purged:
    """Give back the space of what is doomed and keep its name, which tells what it was until that is written down."""
    purger = _Hollow(doomed, counts=True)
    purger.purge()
    return purger.result()


class _Hollow(Emptier):
    """An Emptier that leaves an empty directory, or a file without a byte."""

    def purge(self) -> None:
        try:
            status = self.doomed.look()
            self.device = status.st_dev
            if stat.S_ISDIR(status.st_mode):
                self.tree()
            elif stat.S_ISREG(status.st_mode) and status.st_nlink == 1:  # of more names, the others keep the content
                self.truncate()
                self.blocks += status.st_blocks
        except FileNotFoundError:
            return
        except OSError as error:
            self.fail("", error)

    def truncate(self) -> None:
        with closing(take.pin(self.dir_fd, self.name)) as pinned:
            take.restore_mode(pinned, 0o600)
        fd = os.open(self.name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.dir_fd)
        with closing(fd):
            if not self.doomed.is_same(os.fstat(fd)):
                raise OSError(errno.ESTALE, "another file took its place")
            os.ftruncate(fd, 0)

    def remove(self, level: OpenDirectory) -> None:
        if len(self.levels) > 1:
            super().remove(level)
        elif os.listdir(level.fd):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
