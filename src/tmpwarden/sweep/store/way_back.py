"""The way from a quarantine back to where a unit was: its parent below its root, made again where it went."""

from __future__ import annotations

import os

from ...errors import UnsafeRoot
from ...oskit.files import own_dirs, places, take, walk
from ...oskit.files.opening import closing
from ...text import shown
from . import quarantine


def open_parent(root: str, path: str) -> int:
    """Open the directory that `path` was in, below its root, making again what went because it had become empty.

    No link is followed. Raises OSError, and UnsafeRoot where it belongs to somebody else now.
    """
    directory = os.path.dirname(path)
    if not f"{directory}/".startswith(f"{root.rstrip('/')}/"):
        raise UnsafeRoot(shown(directory), f"it does not lie below {shown(root)}")
    fd = own_dirs.open_base(root)
    for component in directory[len(root) :].split("/"):
        if component:
            with closing(fd):
                deeper = _entered(fd, component)
            fd = deeper
    if os.fstat(fd).st_uid not in (0, places.uid()):
        os.close(fd)
        raise UnsafeRoot(shown(directory), "it belongs to another user now")
    return fd


def _entered(fd: int, component: str) -> int:
    try:
        return walk.open_dir(component, dir_fd=fd)
    except FileNotFoundError:
        os.mkdir(component, 0o700, dir_fd=fd)
        return walk.open_dir(component, dir_fd=fd)


def put_back(quarantine_fd: int, token: str, root: str, path: str) -> bool:
    """Whether it is where it was; else it keeps a name in quarantine that never expires."""
    try:
        parent_fd = open_parent(root, path)
    except (OSError, UnsafeRoot):
        parent_fd = -1
    try:
        if parent_fd >= 0 and take.put_back(quarantine_fd, token, parent_fd, os.path.basename(path)):
            return True
    finally:
        if parent_fd >= 0:
            os.close(parent_fd)
    try:
        take.rename_within(quarantine_fd, token, quarantine.renamed(token, quarantine.PINNED))
    except OSError:
        return False  # the next run tries again
    return False
