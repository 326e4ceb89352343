"""Deleted but open files: space that no rm gives back until the process that holds them lets go."""

import os
import stat
from collections.abc import Iterator

from ...model.sweep import Diagnosis
from ...oskit import procs
from ...text import plural, shown, size
from ..patient import Patient

_WORTH_TELLING = 16 << 20
_DELETED = " (deleted)"


def check(patient: Patient) -> Iterator[Diagnosis]:
    held: dict[int, int] = {}
    for pid in procs.pids() or ():
        for fd, path in _deleted(pid):
            if any(path.startswith(root.rstrip("/") + "/") for root in patient.roots):
                held[pid] = held.get(pid, 0) + _size(pid, fd)
    big = {pid: total for pid, total in held.items() if total >= _WORTH_TELLING}
    if not big:
        yield Diagnosis("ghosts", "ok", "no process holds much deleted data open in a temp root.")
        return
    worst = max(big, key=lambda pid: big[pid])
    who = f"{shown(procs.described(worst, None) or 'a process')} (pid {worst})"
    summary = f"{size(big[worst])} in a temp root are deleted but held open by {who}: no rm frees them."
    detail = f"{plural(len(big), 'process holds', 'processes hold')} {size(sum(big.values()))} in all"
    yield Diagnosis("ghosts", "fail", summary, detail, f"kill {worst}")


def _deleted(pid: int) -> Iterator[tuple[str, str]]:
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for fd in names:
        try:
            path = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if path.startswith("/") and path.endswith(_DELETED):
            yield fd, path


def _size(pid: int, fd: str) -> int:
    """A deleted file below a temp root is local: looking at it through /proc cannot hang on a network mount."""
    try:
        status = os.stat(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return 0
    return status.st_blocks * 512 if stat.S_ISREG(status.st_mode) and status.st_nlink == 0 else 0
