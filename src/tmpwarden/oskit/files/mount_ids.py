"""On which mount a path lies: a rename works within one mount only, also where two of them show one file system."""

from __future__ import annotations

import os

from .descriptors import closing


def mount_id(path: str) -> int | None:
    """The kernel's number for the mount; None where it cannot be told."""
    try:
        with closing(os.open(path, getattr(os, "O_PATH", os.O_RDONLY) | os.O_CLOEXEC)) as fd:
            with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as lines:
                return next((int(line.split()[1]) for line in lines if line.startswith("mnt_id:")), None)
    except (OSError, ValueError, IndexError):
        return None


def highest_own_directory(path: str) -> str | None:
    """The directory farthest above `path`, or itself, that is ours and on the same mount; None if `path` is not."""
    mount, found = mount_id(path), None
    while mount is not None and _is_ours(path) and mount_id(path) == mount:
        found = path
        if path == "/":
            break
        path = os.path.dirname(path)
    return found


def _is_ours(path: str) -> bool:
    try:
        return os.stat(path).st_uid == os.geteuid() and os.access(path, os.W_OK | os.X_OK)
    except OSError:
        return False
