"""Which files processes run code from, by libproc."""

from __future__ import annotations

import os

from . import libproc, vnodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    Mapped = dict[int, set[tuple[str, str]]]  # inode -> (device, last name)


def read_maps() -> Mapped | None:
    """Of all processes that may be read; None where there is not one."""
    found: Mapped = {}
    read = 0
    try:
        pids = libproc.pids()
    except OSError:
        return None
    for pid in pids:
        try:
            parts = [part.vnode for part in vnodes.mapped(pid)]
        except OSError:
            continue
        read += 1
        for one in parts:
            base = os.fsdecode(one.path.rpartition(b"/")[2])
            found.setdefault(one.file, set()).add((f"{os.major(one.device):02x}:{os.minor(one.device):02x}", base))
    return found if read else None
