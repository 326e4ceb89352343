"""Directories and files that are ours alone: explicit modes whatever the umask says, and checked after creation."""

from __future__ import annotations

import errno
import os
import stat

from ..errors import BadArgument, NoSpace, UnsafeScratch
from ..oskit.files import own_dirs
from ..text import shown

HAS_DIR_FDS = os.mkdir in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Folder:
    """A directory we have checked, held by its descriptor where the system has directory descriptors."""

    __slots__ = ("fd", "path")

    def __init__(self, path: str, fd: int | None) -> None:
        self.path = path
        self.fd = fd

    def at(self, name: str) -> str:
        """What to pass beside `dir_fd=folder.fd`."""
        return name if self.fd is not None else os.path.join(self.path, name)

    def join(self, name: str) -> str:
        return os.path.join(self.path, name)

    def names(self) -> list[str]:
        return os.listdir(self.path if self.fd is None else self.fd)

    def look(self, name: str) -> os.stat_result | None:
        """lstat, or None if there is no such entry."""
        try:
            return os.stat(self.at(name), dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


def check_name(name: str) -> None:
    """One path component that every tool and every JSON reader can carry; else BadArgument."""
    if not name or name in (".", "..") or "/" in name or "\0" in name or os.sep in name:
        raise BadArgument(f"{shown(name) or 'an empty name'} is not a file name: it must be one path component")
    try:
        size_bytes = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadArgument(f"{shown(name)} is not valid UTF-8, so no response could name it") from None
    if size_bytes > 255:
        raise BadArgument(f"a file name of {size_bytes} bytes is too long: 255 is the most")


def explained(error: OSError, path: str) -> NoSpace | UnsafeScratch:
    """The error of ours that says what this failure of the system means for the user."""
    why = (error.strerror or str(error)).lower()
    if error.errno in _FULL:
        return NoSpace(shown(path), why)
    return UnsafeScratch(shown(path), why, hint="point TMPDIR at a directory of your own")


def make_folder(parent: Folder, name: str) -> Folder:
    """A new 0700 directory. FileExistsError if the name is taken, FileNotFoundError if somebody removed it again."""
    os.mkdir(parent.at(name), 0o700, dir_fd=parent.fd)
    return open_folder(parent, name)


def open_folder(parent: Folder, name: str) -> Folder:
    """An existing directory, if it is ours, 0700 and no symlink; else UnsafeScratch says what to do."""
    path = parent.join(name)
    if not HAS_DIR_FDS:
        return Folder(path, None)  # Windows: the user's own temp directory is private by inheritance
    assert parent.fd is not None
    return Folder(path, own_dirs.open_child(parent.fd, name, path, forbidden=own_dirs.OPEN_TO_OTHERS))


def make_file(parent: Folder, name: str) -> int:
    """A descriptor of a new, empty 0600 file. FileExistsError if the name is taken."""
    fd = os.open(parent.at(name), _CREATE | getattr(os, "O_BINARY", 0), 0o600, dir_fd=parent.fd)
    try:
        if HAS_DIR_FDS and stat.S_IMODE(os.fstat(fd).st_mode) != 0o600:
            os.fchmod(fd, 0o600)
            if stat.S_IMODE(os.fstat(fd).st_mode) != 0o600:
                raise UnsafeScratch(shown(parent.join(name)), "its file system does not keep private modes")
    except BaseException:
        os.close(fd)
        raise
    return fd
