"""What an agent's own registry says: this process runs that session."""

from __future__ import annotations

import os

from ..lazy_dataclass import dataclass
from ..model.terms import OwnerState
from ..oskit.files.own_files import note_unread, read_small
from ..oskit.proc.identity import identity_state
from ..small_json import decode_object
from . import record


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    session: str
    pid: int
    start: int | None = None
    machine: str | None = None
    pidns: str | None = None
    recorded_s: float | None = None
    source: str = ""  # the file that says so

    def state(self) -> OwnerState:
        return identity_state(self.pid, self.start, None, self.machine, self.pidns, self.recorded_s)


def read_object(path: str, unread: list[str]) -> tuple[dict[str, object], float] | None:
    """(JSON object, mtime) of a small file of ours. What may be one and cannot be read is added to `unread`."""
    found = read_small(path, record.LONGEST, unread=unread)
    fields = decode_object(found[0].decode("utf-8", "surrogateescape")) if found else None
    return None if found is None or fields is None else (fields, found[1])


def names_in(directory: str, unread: list[str]) -> list[str]:
    """What a directory holds; nothing where there is none. One that cannot be read is added to `unread`."""
    try:
        return sorted(os.listdir(directory))
    except ValueError:
        return []
    except OSError as error:
        note_unread(directory, error, unread)
        return []
