"""Questions about one entry of a directory, with no more than POSIX has, and birth times where stat tells them."""

from __future__ import annotations

import errno
import os

from ...files.dated import Dated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def dated(name: str, dir_fd: int) -> Dated | None:
    """What is there now, no link followed; None where nothing is, or it cannot be looked at."""
    try:
        status = os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return None
    return Dated(
        status.st_dev,
        status.st_ino,
        born_ns=_born_ns(status),
        modified_ns=status.st_mtime_ns,
        changed_ns=status.st_ctime_ns,
        links=status.st_nlink,
        mode=status.st_mode,
        uid=status.st_uid,
    )


def born_ns(dir_fd: int, name: str) -> int | None:
    """Nanoseconds since the epoch; None where it is not told, or the entry is gone."""
    entry = dated(name, dir_fd)
    return entry.born_ns if entry else None


def _born_ns(status: os.stat_result) -> int | None:
    """As exact as a float is: some hundred nanoseconds. It is compared only with itself."""
    seconds: float | None = getattr(status, "st_birthtime", None)
    return None if seconds is None else int(seconds * 10**9)


is_held_back: Callable[[os.stat_result], bool] | None = None  # the kernel alone refuses, when the time comes


def rename_new(from_fd: int, old: str, to_fd: int, new: str) -> bool | None:
    """None: there is no such call."""
    return None


def copy_attributes(source: int | str, target: int | str) -> None:
    """Raises OSError: what lies beside a file's bytes (ACLs, attributes) would be lost without a word."""
    raise OSError(errno.ENOTSUP, "its extended attributes cannot be copied on this system")


def entering() -> Callable[[bytes, int, int], tuple[int, int]] | None:
    """None: the code that deletes must look into the mount table."""
    return None
