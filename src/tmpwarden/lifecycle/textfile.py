"""The file that node_exporter's textfile collector reads: whole or not there, where only root can write."""

from __future__ import annotations

import os
import stat

from ..errors import UnsafeMetricsDir
from ..oskit.files import atomic
from ..text import shown

NAME = "tmpwarden.prom"


def check(directory: str) -> None:
    """Raises UnsafeMetricsDir. A user who can write there could forge series, or lead root's writes elsewhere."""
    if not os.path.isabs(directory):
        raise UnsafeMetricsDir(shown(directory), "it is no absolute path")
    path = os.path.normpath(directory)
    while True:
        try:
            status = os.lstat(path)
        except OSError as error:
            raise UnsafeMetricsDir(shown(path), (error.strerror or "it cannot be inspected").lower()) from None
        _refuse_what_others_can_change(path, status, is_above=path != os.path.normpath(directory))
        if path == "/":
            return
        path = os.path.dirname(path)


def _refuse_what_others_can_change(path: str, status: os.stat_result, *, is_above: bool) -> None:
    if not stat.S_ISDIR(status.st_mode):
        raise UnsafeMetricsDir(shown(path), "it is not a directory")
    if status.st_uid not in (0, os.geteuid()):
        raise UnsafeMetricsDir(shown(path), f"it belongs to uid {status.st_uid}")
    is_sticky = is_above and status.st_mode & stat.S_ISVTX  # others can add there, and move nothing of ours
    if status.st_mode & 0o022 and not is_sticky:
        raise UnsafeMetricsDir(shown(path), f"others can write to it (mode {stat.S_IMODE(status.st_mode):04o})")


def write(directory: str, text: str) -> str:
    """The draft's name does not end in `.prom`: the collector never sees half a file, nor the same series twice."""
    check(directory)
    path = os.path.join(directory, NAME)
    atomic.write(path, text, 0o644)
    return path
