"""The roll of a tree: every name that a walk has seen, in its order, so that nobody has to list the tree again.

A directory that was not listed again is known to hold the same names if its dates are the very same: adding, removing
or renaming an entry moves its ctime, and nothing can set that back. Only the root, which our own rename dates,
is listed once more. Files are looked at one by one as in any walk.
"""

from __future__ import annotations

import os
import stat

from ...model.answers import Nobody
from .emptier import Emptier
from .same_mount import enter
from .tree_sums import JUST_NOW, TreeSums

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.sweep import Measure
    from .kernel_word import KernelQuestion

Entered = tuple[str, int, int]  # a directory: its name, ctime and mtime
Roll = list[str | Entered | None]  # a file; the way into a directory; None: the way out of it
MOST = 65_536  # names; beyond that a tree is listed again
_PLAIN_FILE, _KIND = stat.S_IFREG, 0o170000 | stat.S_ISVTX


def called(
    dir_fd: int,
    name: str,
    roll: Roll,
    *,
    uid: int,
    locked: frozenset[tuple[int, int]] = frozenset(),
    question: KernelQuestion | None = None,
) -> Measure | None:
    """What a walk would see at `name`, where the tree of that roll lies now; None if any name, or the date of a
    directory, is not as it was: then only a walk can say what it is. `question`: the kernel is asked on the way
    whether anybody has one of the files open."""
    sums = _Called(
        status=os.stat(name, dir_fd=dir_fd, follow_symlinks=False),
        uid=uid,
        count_atime=False,
        locked=locked,
        is_marked=None,
        limit=None,
        was_moved=JUST_NOW,
    )
    sums.question = question
    fds = [dir_fd]
    try:
        is_same = sums.follow(name, roll, fds)
    except OSError:
        return None
    finally:
        for fd in fds[1:]:
            os.close(fd)
    return sums.result() if is_same and _children(roll) == sums.at_root else None


def _children(roll: Roll) -> int:
    """How many names the root holds."""
    depth = count = 0
    for each in roll:
        if each is None:
            depth -= 1
        else:
            count += depth == 1
            depth += not isinstance(each, str)
    return count


class _Called(TreeSums):
    at_root = 0
    question: KernelQuestion | None = None

    def follow(self, name: str, roll: Roll, fds: list[int]) -> bool:
        """Look at everything on the roll, in its order. False: a directory is not as it was. Raises OSError, too."""
        newest, uid, device, locked, look = self.newest_s, self.uid, self.device, self.locked_inodes, os.stat
        fd, blocks, count, question = fds[0], 0, 0, self.question
        for each in roll:
            if type(each) is str:
                s = look(each, dir_fd=fd, follow_symlinks=False)
                count += 1
                blocks += s.st_blocks
                if s.st_ctime > newest or s.st_mtime > newest:
                    newest = self.add_dates(s)[0]
                mode, inode, where, links, owner = s[:5]
                if mode & _KIND != _PLAIN_FILE or owner != uid or links != 1 or where != device or inode in locked:
                    self.add_oddity(each, s)
                if question is not None and type(question.entry(each, fd, mode)) is not Nobody:
                    question = None
            elif each is None:
                os.close(fds.pop())
                del self.names[-1:]
                fd = fds[-1]
            elif isinstance(each, tuple):
                fd = enter(each[0] if len(fds) > 1 else name, fd)
                fds.append(fd)
                if not self.enter(each, fd):
                    return False
                newest = self.newest_s
        self.blocks += blocks
        self.entries += count
        self.has_no_openers = question is not None and question.asked > 0
        return True

    def enter(self, each: Entered, fd: int) -> bool:
        """Whether the directory behind `fd` is as it was when it was put on the roll."""
        status = os.fstat(fd)
        if self.at_top:
            self.at_root = len(os.listdir(fd))
        elif (status.st_ctime_ns, status.st_mtime_ns) != each[1:] or status.st_dev != self.device:
            return False
        else:
            self.names.append(each[0])
        self.entries += 1
        self.directories += 1
        self.blocks += status.st_blocks
        self.foreign += status.st_uid != self.uid
        self.add_dates(status)
        self.note_lock(each[0], status)
        self.at_top = False
        return True


class Unroller(Emptier):
    """Removes by the roll what was called a moment ago; whatever is in its way is left to an ordinary purge."""

    def unroll(self, roll: Roll) -> None:
        fds, names, unlink, removed = [self.dir_fd], [self.name], os.unlink, 0
        fd = self.dir_fd
        try:
            self.device = self.doomed.look().st_dev
            for each in roll:
                if type(each) is str:
                    unlink(each, dir_fd=fd)
                elif isinstance(each, tuple):
                    fd = self.open(each[0] if len(fds) > 1 else self.name, fd)
                    fds.append(fd)
                    names.append(each[0])
                    continue
                else:
                    os.close(fds.pop())
                    fd = fds[-1]
                    os.rmdir(names.pop() if len(fds) > 1 else self.name, dir_fd=fd)
                removed += 1
        except OSError:
            pass  # a file that cannot go, a directory that is not empty: told by who comes next
        finally:
            self.entries += removed
            for each_fd in fds[1:]:
                os.close(each_fd)
