"""Which files processes run code from, by /proc/PID/maps."""

from __future__ import annotations

import os

from ...files.opening import entry_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    Mapped = dict[int, set[tuple[str, str]]]  # inode -> (device as maps writes it, last name)


def read_maps() -> Mapped | None:
    """Of all processes that may be read; None where there is not one."""
    mapped: Mapped = {}
    read = 0
    for pid in filter(str.isdigit, entry_names("/proc")):
        try:
            with open(f"/proc/{pid}/maps", "rb") as maps:
                lines = maps.read().splitlines()
        except OSError:
            continue
        read += 1
        for line in lines:
            words = line.split(None, 5)
            if len(words) == 6 and words[4] != b"0":
                base = os.fsdecode(words[5].rpartition(b"/")[2])
                mapped.setdefault(int(words[4]), set()).add((words[3].decode(), base))
    return mapped if read else None
