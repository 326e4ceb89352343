"""Lease files: read, written and removed through the directory that holds them, which must be ours. Hot path."""

from __future__ import annotations

import os

from ..errors import UnsafeScratch
from ..model.belongings import Lease
from ..oskit.files import atomic, own_dirs, own_files
from ..oskit.proc import own_mount
from . import record

ENDING = ".lease"
SHARED = "tw"  # ours below an agent's own directory


def leases_in(base: str, names: list[str] | None = None, unread: list[str] | None = None) -> list[Lease]:
    """The readable leases of these scratch directories (or of all) in a directory that must be ours. What is there and
    cannot be read is added to `unread`."""
    if trouble := _frozen(base):
        if unread is not None:
            unread.append(trouble)
        return []
    try:
        fd = _opened(base)
    except (ValueError, UnsafeScratch):
        return []
    except OSError as error:
        own_files.note_unread(base, error, unread)
        return []
    try:
        if names is None:
            names = sorted(name.removesuffix(ENDING) for name in os.listdir(fd) if name.endswith(ENDING))
        return [lease for name in names if (lease := read_at(fd, name, f"{base}/{name}", unread))]
    except OSError as error:
        own_files.note_unread(base, error, unread)
        return []
    finally:
        os.close(fd)


def read_at(fd: int, name: str, path: str, unread: list[str] | None = None) -> Lease | None:
    text = own_files.read_small(name + ENDING, record.LONGEST, fd, unread)
    return record.decode(text[0].decode("utf-8", "surrogateescape"), path) if text else None


def write(lease: Lease) -> None:
    base, name = os.path.split(lease.path)
    fd = open_holder(base)
    try:
        atomic.write(name + ENDING, record.encode(lease), dir_fd=fd)
    finally:
        os.close(fd)


def remove(path: str) -> None:
    base, name = os.path.split(path)
    try:
        fd = open_holder(base)
    except (OSError, UnsafeScratch):
        return
    own_files.remove_file(name + ENDING, fd)
    os.close(fd)


def _frozen(base: str) -> str:
    point = own_mount.frozen(base)
    return "" if point is None else f"the file system mounted at {point} does not respond"


def open_holder(base: str, *, make: bool = False) -> int:
    """The directory that holds scratch directories: its last component is ours, and below an agent's the last two.

    Raises UnsafeScratch, also where a file system is mounted over it that would keep us waiting for ever."""
    if trouble := _frozen(base):
        raise UnsafeScratch(base, trouble)
    return _opened(base, make=make)


def _opened(base: str, *, make: bool = False) -> int:
    root, name = os.path.split(base)
    if name == SHARED:
        root, above = os.path.split(root)
        return own_dirs.open_ours(root, above, name, make=make)
    return own_dirs.open_ours(root, name, make=make)
