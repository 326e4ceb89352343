"""Old files, and what else a stat tells. mtime and atime can be set; ctime cannot, so tests pass a later clock in."""

import os
from pathlib import Path

HOUR_S, DAY_S = 3600, 86400


def age(path: Path, seconds: float, *, now: float) -> None:
    """Give `path` and all below it an mtime and atime `seconds` before `now`."""
    when = (now - seconds, now - seconds)
    for folder, _, files in os.walk(path, topdown=False):
        for name in files:
            os.utime(os.path.join(folder, name), when, follow_symlinks=False)
        os.utime(folder, when, follow_symlinks=False)
    if not path.is_dir() or path.is_symlink():
        os.utime(path, when, follow_symlinks=False)


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777
