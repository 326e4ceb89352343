"""Shape checks that rows select by name: does this entry look inside as its row says? Read only, never follows."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable

from ..model.sweep import Litter

Check = Callable[[int, str, os.stat_result], bool | None]  # None: could not look, which never reads as yes

_CAREFUL = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LONGEST_PATH = 4096
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_HIGHEST_PID = 1 << 22
_MAPS_ARE_FRESH_S = 1.0
_CACHEDIR_SIGNATURE = b"Signature: 8a477f597d28d172789f06886806bc55"  # bford.info/cachedir


def has_shape(litter: Litter, dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """All that the row asks of an entry's inside: one no is no, else one "could not look" is that."""
    answers = [CHECKS[check](dir_fd, name, found) for check in litter.checks]
    if litter.max_bytes is not None:
        answers.append(found.st_size <= litter.max_bytes)
    if False in answers:
        return False
    return None if None in answers else True


def _open(dir_fd: int, name: str, flags: int = 0) -> int | None:
    """O_NOATIME so that looking does not make the entry younger; it is refused for files of others."""
    for noatime in (os.O_NOATIME if hasattr(os, "O_NOATIME") else 0, 0):
        try:
            return os.open(name, _CAREFUL | flags | noatime, dir_fd=dir_fd)
        except PermissionError:
            continue
        except OSError:
            return None
    return None


def _head(dir_fd: int, name: str, count: int) -> bytes | None:
    """The first bytes of a regular file."""
    fd = _open(dir_fd, name)
    if fd is None:
        return None
    try:
        return os.read(fd, count) if stat.S_ISREG(os.fstat(fd).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(fd)


def _names(dir_fd: int, name: str) -> tuple[str, ...] | None:
    """Up to a handful of names in a directory."""
    fd = _open(dir_fd, name, os.O_DIRECTORY)
    if fd is None:
        return None
    try:
        with os.scandir(fd) as entries:
            return tuple(entry.name for entry, _ in zip(entries, range(64), strict=False))
    except OSError:
        return None
    finally:
        os.close(fd)


def is_elf(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    head = _head(dir_fd, name, 4)
    return None if head is None else head == b"\x7fELF"


def is_one_line_path(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """One absolute path, as `pwd -P >file` writes it; empty too, for a full disk leaves those."""
    if found.st_size > _LONGEST_PATH:
        return False
    text = _head(dir_fd, name, _LONGEST_PATH + 1)
    if text is None:
        return None
    line = text.removesuffix(b"\n")
    return not line or (line.startswith(b"/") and b"\n" not in line and b"\0" not in line)


def is_empty_dir(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    if not stat.S_ISDIR(found.st_mode):
        return False
    names = _names(dir_fd, name)
    return None if names is None else not names


def is_tagged_cache(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """A directory that says of itself, by CACHEDIR.TAG, that all in it can be made again."""
    if not stat.S_ISDIR(found.st_mode):
        return False
    fd = _open(dir_fd, name, os.O_DIRECTORY)
    if fd is None:
        return None
    try:
        head = _head(fd, "CACHEDIR.TAG", len(_CACHEDIR_SIGNATURE))
        return head == _CACHEDIR_SIGNATURE
    finally:
        os.close(fd)


def is_transform_dump(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """Vitest's dump of transformed modules: nothing in it but `ssr` and `client`."""
    names = _names(dir_fd, name)
    return None if names is None else len(names) > 0 and set(names) <= {"ssr", "client"}


def has_pid_in_name(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    return any(0 < int(digits) <= _HIGHEST_PID for digits in re.findall(r"[0-9]{1,9}", name))


def has_session_in_name(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    return _UUID.search(name) is not None


def is_expired(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """`<expiry>-<id>`: past the expiry, and past the mtime, which its maker set ahead when it ended. The id begins with
    that of the session beside it: as long as that one is there, the time has not begun."""
    expiry, _, token = name.partition("-")
    if not expiry.isdigit():
        return False
    try:
        os.stat(f"../s{token[:8]}", dir_fd=dir_fd, follow_symlinks=False)
    except FileNotFoundError:
        return max(int(expiry), found.st_mtime) <= time.time()
    except OSError:
        return None
    return False


def is_not_mapped(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """No process that we can read runs code from it. The same inode with the same name on what looks like another
    device counts as mapped: overlay and btrfs tell /proc/PID/maps another device number than stat(2)."""
    mapped = _mapped_now()
    if mapped is None:
        return None
    seen = mapped.get(found.st_ino, ())
    device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}"
    return not any(dev == device or base.removesuffix(" (deleted)") == name for dev, base in seen)


_mapped: tuple[float, dict[int, set[tuple[str, str]]] | None] = (float("-inf"), None)


def _mapped_now() -> dict[int, set[tuple[str, str]]] | None:
    """inode -> (device, last name) of every mapped file; read again when older than a second."""
    global _mapped
    if time.monotonic() - _mapped[0] > _MAPS_ARE_FRESH_S:
        _mapped = (time.monotonic(), _read_maps())
    return _mapped[1]


def _read_maps() -> dict[int, set[tuple[str, str]]] | None:
    found: dict[int, set[tuple[str, str]]] = {}
    read = 0
    for pid in filter(str.isdigit, _listed("/proc")):
        try:
            with open(f"/proc/{pid}/maps", "rb") as maps:
                lines = maps.read().splitlines()
        except OSError:
            continue
        read += 1
        for line in lines:
            words = line.split(None, 5)
            if len(words) == 6 and words[4] != b"0":
                base = os.fsdecode(words[5].rpartition(b"/")[2])
                found.setdefault(int(words[4]), set()).add((words[3].decode(), base))
    return found if read else None


def _listed(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:
        return []


CHECKS: dict[str, Check] = {
    "elf": is_elf,
    "one-line-path": is_one_line_path,
    "empty-dir": is_empty_dir,
    "cachedir-tag": is_tagged_cache,
    "transform-dump": is_transform_dump,
    "pid-in-name": has_pid_in_name,
    "session-in-name": has_session_in_name,
    "not-mapped": is_not_mapped,
    "expired": is_expired,
}
