"""Where a file lies, by identities alone: device and file number of itself and of every directory above it.

One directory has many spellings on a Mac (/tmp and /private/tmp, firmlinks to /System/Volumes/Data, upper and lower
case), and a rename changes them while we look. What a process uses counts for each directory on its way, so whether it
lies in an item is one comparison of two numbers.
"""

from __future__ import annotations

import os

from .vnodes import Vnode

Key = tuple[str, str]  # as Holders compares them: (device, file number)


def key_of(device: int, file: int) -> Key:
    return str(device & 0xFFFFFFFF), f"/{file}"


def named(path: str) -> Key:
    """What stands for a name behind which nothing is: a variable, or a deleted file, may still speak for it."""
    return "name", path.rstrip("/") or "/"


def locate(path: str) -> Key | None:
    """The same of a path of ours, no link followed; by its name where nothing is there any more. None where that cannot
    be told."""
    try:
        return _identity(path)
    except (FileNotFoundError, NotADirectoryError):
        whole = os.path.abspath(path)
        return named(os.path.join(os.path.realpath(os.path.dirname(whole)), os.path.basename(whole)))
    except (OSError, ValueError):
        return None


def _identity(path: str) -> Key:
    status = os.lstat(path)
    return key_of(status.st_dev, status.st_ino)


class Ways:
    """Directories on the way to places; each is looked at once, in one look at all processes."""

    def __init__(self) -> None:
        self._above: dict[str, tuple[Key, ...]] = {}
        self._seen: dict[str, Key] = {}

    def to(self, vnode: Vnode) -> tuple[Key, ...] | None:
        """Of a file of a process; none for a deleted one whose place is not told. None: it is somewhere else than it
        says, because it was moved or its path is hidden from us."""
        path = os.fsdecode(vnode.path)
        here = key_of(vnode.device, vnode.file)
        if path.startswith("/"):
            if self._is(path, here):
                return (here, *self.above(path))
            if vnode.links == 0:
                return (here, named(path), *self.above(path))  # it speaks for the place it lay in
        return (here,) if vnode.links == 0 else None

    def _is(self, path: str, key: Key) -> bool:
        """A path that we may not look at (TCC guards mail and photos) is believed: nothing in an item that we have
        walked through is closed to us."""
        if self._seen.get(path) != key:  # what differs may be new: looked at again
            try:
                self._seen[path] = _identity(path)
            except PermissionError:
                return True
            except (OSError, ValueError):
                return False
        return self._seen[path] == key

    def above(self, path: str) -> tuple[Key, ...]:
        """The directories above a path, as far as they are there; "/" is none."""
        parent = path[: path.rfind("/")]
        if not parent:
            return ()
        known = self._above.get(parent)
        if known is None:
            mine, rest = _there(parent), self.above(parent)
            known = self._above[parent] = (*mine, *rest)
        return known

    def below(self, path: str) -> tuple[Key, ...]:
        """A path, its name, and the directories above it, as far as they are there; links on the way lead on."""
        return (*_there(path), named(path), *self.above(path))


def _there(path: str) -> tuple[Key, ...]:
    try:
        return (_identity(path),)
    except (OSError, ValueError):
        return ()
