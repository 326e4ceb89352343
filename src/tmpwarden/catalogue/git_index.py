"""Whether git tracks a file, read from its index: git itself is not run in a directory that others may have made."""

from __future__ import annotations

import os

from ..oskit.files import own_files

_LARGEST = 256 << 20
_NAMES_IN_FULL = (2, 3)  # version 4 leaves out what a name shares with the one before


def is_untracked(dir_fd: int, name: str, found: os.stat_result) -> bool | None:
    """In no repository, or in none that knows this path. None: could not look."""
    try:
        directory = os.readlink(f"/proc/self/fd/{dir_fd}")
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
    found = own_files.read_small(path, 4096)
    word, _, target = (found[0].decode("utf-8", "surrogateescape") if found else "").strip().partition(" ")
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
