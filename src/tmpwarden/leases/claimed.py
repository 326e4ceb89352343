"""What an agent's own registry says: this process runs that session."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from ..model.sweep import OwnerState
from ..oskit.proc.identity import identity_state
from ..small_json import decode_object
from . import record


@dataclass(frozen=True, slots=True)
class Claimed:
    session: str
    pid: int
    start: int | None = None
    machine: str | None = None
    pidns: str | None = None
    recorded_s: float | None = None
    source: str = ""  # the file that says so

    def state(self) -> OwnerState:
        return identity_state(self.pid, self.start, None, self.machine, self.pidns, self.recorded_s)


def read_own_file(path: str) -> tuple[bytes, float] | None:
    """(content, mtime) of a small regular file of ours; None for anything else."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return None
        return os.read(fd, record.LONGEST), status.st_mtime
    except OSError:
        return None
    finally:
        os.close(fd)


def read_object(path: str) -> tuple[dict[str, object], float] | None:
    """(JSON object, mtime) of such a file."""
    found = read_own_file(path)
    fields = decode_object(found[0].decode("utf-8", "surrogateescape")) if found else None
    return None if found is None or fields is None else (fields, found[1])


def names_in(directory: str) -> list[str]:
    """What a directory holds; nothing where it cannot be read."""
    try:
        return sorted(os.listdir(directory))
    except (OSError, ValueError):
        return []
