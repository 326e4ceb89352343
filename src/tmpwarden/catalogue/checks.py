"""Shape checks that rows select by name: does this entry look inside as its row says? Read only, never follows."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable

from ..model.sweep import Litter
from ..oskit import system
from ..oskit.files import own_files
from ..oskit.files.opening import closing, open_dir, open_unread
from ..oskit.proc.open_files import MappedFiles

Check = Callable[[int, str, os.stat_result], bool | None]  # None: could not look, which never reads as yes

_LONGEST_PATH = 4096
_UUID = re.compile(r"(?ai)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HIGHEST_PID = 1 << 22
_MAPS_ARE_FRESH_S = 1.0
_MACH_O = frozenset(bytes.fromhex(magic) for magic in ("cffaedfe", "cefaedfe", "feedfacf", "feedface", "cafebabe"))
_CARGO = {"registry", "git", "bin", ".crates.toml", ".crates2.json"}
_CARGO |= {".package-cache", ".package-cache-mutate", ".global-cache"}
_CACHEDIR_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"  # bford.info/cachedir
_FINDER = b"\0\0\0\1Bud1"
_MOST_NAMES = 64
_LARGEST = 256 << 20
_NAMES_IN_FULL = (2, 3)  # version 4 leaves out what a name shares with the one before


def has_shape(litter: Litter, dir_fd: int, name: str, status: os.stat_result, mappings: Mappings) -> bool | None:
    """All that the row asks of an entry's inside: one no is no, else one "could not look" is that."""
    answers = [
        mappings.leave_out(name, status) if check == NOT_MAPPED else CHECKS[check](dir_fd, name, status)
        for check in litter.checks
    ]
    if litter.max_bytes is not None:
        answers.append(status.st_size <= litter.max_bytes)
    if False in answers:
        return False
    return None if None in answers else True


def holds_only(names: tuple[str, ...], dir_fd: int, name: str) -> bool:
    """A file, or a directory of files that all have one of these names. What could not be looked at is neither."""
    try:
        status = os.lstat(name, dir_fd=dir_fd)
        if not stat.S_ISDIR(status.st_mode):
            return stat.S_ISREG(status.st_mode)
        with closing(open_dir(name, dir_fd)) as fd, os.scandir(fd) as entries:
            return all(each.name in names and each.is_file(follow_symlinks=False) for each in entries)
    except OSError:
        return False


def is_elf(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    head = _head(dir_fd, name, 4)
    return None if head is None else head == b"\x7fELF"


def is_mach_o(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """A library or program of macOS, thin or universal."""
    head = _head(dir_fd, name, 4)
    return None if head is None else head in _MACH_O


def is_finder_store(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """How macOS' Finder shows a directory: where its icons stand, and nothing that somebody wrote."""
    head = _head(dir_fd, name, len(_FINDER))
    return None if head is None else head == _FINDER


def is_one_line_path(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """One absolute path, as `pwd -P >file` writes it; empty too, for a full disk leaves those."""
    if status.st_size > _LONGEST_PATH:
        return False
    text = _head(dir_fd, name, _LONGEST_PATH + 1)
    if text is None:
        return None
    line = text.removesuffix(b"\n")
    return not line or (line.startswith(b"/") and b"\n" not in line and b"\0" not in line)


def is_read_only(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """Nobody may write it, as the mount points of a sandbox are made."""
    return not status.st_mode & 0o222


def is_empty_dir(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    if not stat.S_ISDIR(status.st_mode):
        return False
    names = _names(dir_fd, name)
    return None if names is None else not names


def is_tagged_cache(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """A directory that says of itself, by CACHEDIR.TAG, that all in it can be created again."""
    if not stat.S_ISDIR(status.st_mode):
        return False
    fd = _opened(dir_fd, name)
    if fd is None:
        return None
    with closing(fd):
        head = _head(fd, "CACHEDIR.TAG", len(_CACHEDIR_SIGNATURE))
        return head == _CACHEDIR_SIGNATURE


def is_cargo_home(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """What cargo downloads and builds, and nothing that somebody wrote: no settings, no credentials."""
    names = _names(dir_fd, name)
    return None if names is None else "registry" in names and set(names) <= _CARGO


def is_orphaned(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """Marked by `.orphaned_at`, and no process that `.in_use` names is alive."""
    fd = _opened(dir_fd, name)
    if fd is None:
        return None
    with closing(fd):
        mark = _head(fd, ".orphaned_at", 32)
        if mark is None or not mark.strip().isdigit():
            return False
        users = _names(fd, ".in_use") if _is_there(fd, ".in_use") else ()
        return None if users is None or len(users) >= _MOST_NAMES else not any(map(_may_live, users))


def _is_there(dir_fd: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return True


def _may_live(pid: str) -> bool:
    """Only ESRCH says that a process is gone, and only of a number."""
    digits = pid.partition(".")[0]
    if not (digits.isascii() and digits.isdigit() and 0 < int(digits) <= _HIGHEST_PID):
        return True
    try:
        os.kill(int(digits), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def is_transform_dump(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """Vitest's dump of transformed modules: nothing in it but `ssr` and `client`."""
    names = _names(dir_fd, name)
    return None if names is None else len(names) > 0 and set(names) <= {"ssr", "client"}


def has_pid_in_name(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    return any(0 < int(digits) <= _HIGHEST_PID for digits in re.findall(r"[0-9]{1,9}", name))


def has_session_in_name(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    return _UUID.search(name) is not None


def is_expired(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """`<expiry>-<id>`: past the expiry, and past the mtime, which its maker set ahead when it ended. The id begins with
    that of the session beside it: as long as that one is there, the time has not begun."""
    expiry, _, token = name.partition("-")
    if not expiry.isdigit():
        return False
    try:
        os.stat(f"../s{token[:8]}", dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return max(int(expiry), status.st_mtime) <= time.time()
    except OSError:
        return None
    return False


def is_untracked(dir_fd: int, name: str, status: os.stat_result) -> bool | None:
    """In no repository, or in none that knows this path. None: could not look."""
    try:
        directory = system.descriptors.path_of(dir_fd)
        top = _top_of(directory)
        if top is None:
            return True
        index = os.path.join(_git_dir(top), "index")
    except (OSError, ValueError):
        return None
    if not os.path.lexists(index):
        return True  # nothing was ever added
    content = own_files.read_small(index, _LARGEST + 1)  # a fifo or a link in its place is not waited for
    if content is None or len(content[0]) > _LARGEST:
        return None
    known = _tracks(content[0], os.fsencode(os.path.relpath(os.path.join(directory, name), top)))
    return None if known is None else not known


def _top_of(directory: str) -> str | None:
    """The directory at or above it that holds `.git`."""
    while True:
        if os.path.lexists(os.path.join(directory, ".git")):
            return directory
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above


def _git_dir(top: str) -> str:
    """`.git`, or where that file of a worktree leads."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    content = own_files.read_small(path, 4096)
    word, _, target = (content[0].decode("utf-8", "surrogateescape") if content else "").strip().partition(" ")
    if word != "gitdir:":
        raise ValueError(path)
    return os.path.join(top, target)


def _tracks(index: bytes, path: bytes) -> bool | None:
    """Before a name stand two bytes, the last of them its length: a slash there is the end of a longer name's
    directory, unless the name is 47 bytes long."""
    if index[:4] != b"DIRC" or int.from_bytes(index[4:8]) not in _NAMES_IN_FULL or b"link\0" in index:
        return None
    at = -1
    while (at := index.find(path + b"\0", at + 1)) > 0:
        if index[at - 1] != ord("/") or len(path) & 0xFF == ord("/"):
            return True
    return False


class Mappings:
    """Every mapped file of the processes that we can read, kept by the look that asks: read again when it is older
    than a second."""

    __slots__ = ("_mappings", "_read_at")

    def __init__(self) -> None:
        self._read_at = float("-inf")
        self._mappings: MappedFiles | None = None

    def leave_out(self, name: str, status: os.stat_result) -> bool | None:
        """No process runs code from this file. The same inode with the same name on what looks like another device
        counts as mapped: overlay and btrfs tell of a mapping another device number than stat(2)."""
        if time.monotonic() - self._read_at > _MAPS_ARE_FRESH_S:
            self._read_at, self._mappings = time.monotonic(), system.open_files.read_maps()
        if self._mappings is None:
            return None
        device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
        seen = self._mappings.get(status.st_ino, ())
        return not any(dev == device or base.removesuffix(" (deleted)") == name for dev, base in seen)


def _opened(dir_fd: int, name: str) -> int | None:
    try:
        return open_dir(name, dir_fd)
    except OSError:
        return None


def _head(dir_fd: int, name: str, count: int) -> bytes | None:
    """The first bytes of a regular file."""
    try:
        with closing(open_unread(name, dir_fd)) as fd:
            return os.read(fd, count) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    except OSError:
        return None


def _names(dir_fd: int, name: str) -> tuple[str, ...] | None:
    """Up to a handful of names in a directory."""
    try:
        with closing(open_dir(name, dir_fd)) as fd, os.scandir(fd) as entries:
            return tuple(entry.name for entry, _ in zip(entries, range(_MOST_NAMES), strict=False))
    except OSError:
        return None


CHECKS: dict[str, Check] = {
    "elf": is_elf,
    "mach-o": is_mach_o,
    "one-line-path": is_one_line_path,
    "finder-store": is_finder_store,
    "empty-dir": is_empty_dir,
    "cachedir-tag": is_tagged_cache,
    "cargo-home": is_cargo_home,
    "orphaned": is_orphaned,
    "transform-dump": is_transform_dump,
    "pid-in-name": has_pid_in_name,
    "session-in-name": has_session_in_name,
    "expired": is_expired,
    "read-only": is_read_only,
    "untracked": is_untracked,
}
NOT_MAPPED = "not-mapped"  # all processes are asked once for many entries
NAMES = frozenset((*CHECKS, NOT_MAPPED))
