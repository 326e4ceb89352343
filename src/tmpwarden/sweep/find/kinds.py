"""What an entry is: by its mode, its path, or the listing that it stands in."""

from __future__ import annotations

import os

from ...model.terms import Kind


def kind_of(mode: int) -> Kind:
    return {0o100000: Kind.FILE, 0o040000: Kind.DIR, 0o140000: Kind.SOCKET}.get(mode & 0o170000, Kind.OTHER)


def kind_at(path: str) -> Kind:
    try:
        return kind_of(os.lstat(path).st_mode)
    except OSError:
        return Kind.OTHER


def kind_in(entry: os.DirEntry[str]) -> Kind:
    if entry.is_file(follow_symlinks=False):
        return Kind.FILE
    if entry.is_dir(follow_symlinks=False):
        return Kind.DIR
    if entry.is_symlink():
        return Kind.OTHER
    try:
        return kind_of(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return Kind.OTHER
