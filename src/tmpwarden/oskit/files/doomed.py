"""The right to destroy one thing. Whatever unlinks for good takes a `Doomed` and nothing else (DESIGN, laws 1 and 6).

A Doomed is bound to what lay behind a name at one moment: a descriptor, the device, the inode and the birth time. Only
the four makers below can build one, and each asks for its own proof:

- `judged`: the verdict, and that nobody uses what it was passed on (of a hole: nobody but its writer);
- `expired`: what waited in quarantine, looked at anew through the descriptor that it is bound to;
- `resumed`: a name or an intent says that the first unlink was done, so that half of it may be gone already;
- `own`: a thing of our making, in a place of ours: a session that we hold the lock of, a hand-over, a small file.

`look` is asked right before the first unlink: the name must still lead there. Hooks remove their own small files with
this, so nothing but os, stat and errno is imported.
"""

from __future__ import annotations

import errno
import os
import stat

from .. import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.answers import Users
    from ...model.processes import Hole
    from ...model.sweep import Remove

_ENDING = ".x"  # of the names in quarantine that say: the first unlink may have been done
_HEX = frozenset("0123456789abcdef")
_KEY = object()  # nobody but the makers below has it


class Bound:
    """What lies behind a name in an open directory. While the descriptor lives, no other file gets its inode number."""

    __slots__ = ("born_ns", "device", "fd", "inode", "is_directory", "uid")

    def __init__(self, dir_fd: int | None, name: str, *, with_birth: bool = True, opened: int | None = None) -> None:
        """`opened`: the open file that it is about, whatever its name. Raises OSError: FileNotFoundError where nothing
        lies there."""
        if opened is not None:
            self.fd = os.dup(opened)
        else:
            self.fd = _pinned(name, dir_fd)
        status = os.fstat(self.fd) if self.fd >= 0 else os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
        self.device, self.inode, self.uid = status.st_dev, status.st_ino, status.st_uid
        self.is_directory = stat.S_ISDIR(status.st_mode)
        self.born_ns = _born_ns(dir_fd, name) if with_birth and dir_fd is not None else None

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Bound:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pinned(name: str, dir_fd: int | None) -> int:
    """-1: this system cannot hold such a thing, and only its numbers and its birth are compared."""
    try:
        return system.descriptors.pin(name, dir_fd)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.EACCES):
            raise
        return -1


class Doomed:
    """May be destroyed: by this name in this directory, if that still is what it is bound to. Cannot be changed."""

    __slots__ = ("bound", "by", "dir_fd", "name")
    bound: Bound
    by: str  # the maker
    dir_fd: int | None
    name: str

    def __init__(self, key: object, by: str, bound: Bound, dir_fd: int | None, name: str) -> None:
        if key is not _KEY:
            raise TypeError("only judged, expired, resumed and own may say that something is to be destroyed")
        for field, value in (("by", by), ("bound", bound), ("dir_fd", dir_fd), ("name", name)):
            object.__setattr__(self, field, value)

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError("what is to be destroyed cannot be changed")

    def look(self) -> os.stat_result:
        """What lies there now. Raises OSError if that is not what was bound (ESTALE), or nothing (ENOENT)."""
        bound = self.bound
        now = os.stat(self.name, dir_fd=self.dir_fd, follow_symlinks=False)
        if not self.is_same(now) or (bound.born_ns is not None and self._born_ns() != bound.born_ns):
            raise _stale()
        return now

    def _born_ns(self) -> int | None:
        return None if self.dir_fd is None else _born_ns(self.dir_fd, self.name)

    def is_same(self, status: os.stat_result) -> bool:
        return (status.st_dev, status.st_ino) == (self.bound.device, self.bound.inode)

    def __enter__(self) -> Doomed:
        return self

    def __exit__(self, *_: object) -> None:
        self.bound.close()


def judged(
    dir_fd: int | None, name: str, verdict: Remove | Hole, users: Users, *, born_ns: int | None = None
) -> Doomed:
    """The unit of that verdict, wherever it lies by now, or a member of a swarm; or the blocks of an open file, which
    needs no name. `users`: who uses it, by the last look. `born_ns`: its birth when it was taken. Raises OSError where
    that does not prove it."""
    from ...model.processes import Hole  # hooks, which use `own` alone, start without

    opened = verdict.fd if isinstance(verdict, Hole) else None
    bound = Bound(dir_fd, name, with_birth=born_ns is not None, opened=opened)
    if bound.fd < 0 and dir_fd is not None:  # what a descriptor holds gives its number to no other file
        bound.born_ns = _born_ns(dir_fd, name)
    try:
        _nobody(users)
        finding = verdict if isinstance(verdict, Hole) else verdict.finding
        if not isinstance(finding, Hole) and finding.members:
            is_it = not bound.is_directory and bound.uid == os.geteuid()
        else:
            is_it = (bound.device, bound.inode) == (finding.device, finding.inode)
        if not is_it or (born_ns is not None and bound.born_ns != born_ns):
            raise _stale()
        if bound.is_directory and not isinstance(verdict, Hole) and verdict.doubt:
            raise _unproven(verdict.doubt)  # law 3: it may be somebody's working directory, so it only waits
    except BaseException:
        bound.close()
        raise
    return Doomed(_KEY, "judged", bound, dir_fd, name)


def expired(bound: Bound, dir_fd: int, name: str, users: Users) -> Doomed:
    """What waited in quarantine, and was looked at anew while `bound` held it: `users` is what that look said."""
    _nobody(users)
    return Doomed(_KEY, "expired", bound, dir_fd, name)


def resumed(dir_fd: int, name: str, *, identity: tuple[int, int, int | None] | None = None) -> Doomed:
    """What was being destroyed when a run was cut short: its name in quarantine says so, or the intent of a removal in
    place, with the device, inode and birth (None: not known) of the unit that it was `begun` with."""
    if identity is None and not (name.endswith(_ENDING) and len(name) == 18 and _HEX.issuperset(name[:16])):
        raise _unproven("its name does not say that its destruction was begun")
    bound = Bound(dir_fd, name)
    if identity is not None and (
        identity[:2] != (bound.device, bound.inode) or (identity[2] is not None and identity[2] != bound.born_ns)
    ):
        bound.close()
        raise _stale()
    return Doomed(_KEY, "resumed", bound, dir_fd, name)


def own(dir_fd: int | None, name: str) -> Doomed:
    """A thing of ours, in a directory where nobody else can put something in its place. Without descriptors (Windows)
    `name` is a path."""
    bound = Bound(dir_fd, name, with_birth=False)
    if hasattr(os, "geteuid") and bound.uid != os.geteuid():
        bound.close()
        raise _unproven("it is not ours")
    return Doomed(_KEY, "own", bound, dir_fd, name)


def _nobody(users: Users) -> None:
    from ...model.answers import Held, Nobody  # hooks, which use `own` alone, start without

    if isinstance(users, Held):
        raise _unproven("it is in use")
    if not isinstance(users, Nobody):
        raise _unproven("it could not be checked whether it is in use")


def _born_ns(dir_fd: int, name: str) -> int | None:
    from .dated import born_ns  # hooks bind no births

    return born_ns(dir_fd, name)


def _stale() -> OSError:
    return OSError(errno.ESTALE, "it is not what was checked")


def _unproven(why: str) -> OSError:
    return OSError(errno.EPERM, why)
