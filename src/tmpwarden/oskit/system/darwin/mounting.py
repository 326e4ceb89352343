"""What is mounted, as the kernel has it in mind: no file system is asked, so nothing here can hang."""

from __future__ import annotations

import os

from ...proc.namespaces import Mount
from ...proc.slow_mounts import waits_for_others
from ..blind.mounting import BINDS as BINDS  # as where nothing is known: the device alone says which mount it is,
from ..blind.mounting import Watched as Watched  # and the table is read each time, which asks no disk
from ..blind.mounting import mount_id_of as mount_id_of
from . import layouts as at
from . import libproc

_ON_DEMAND = "autofs"  # a part of every Mac; nobody has a file open on it
_UNKNOWN_SERVER = "fuse."  # before the name of a file system that is not local: it waits for somebody


def mounts(pid: int | str = "self") -> list[Mount]:
    """All of them: every process sees the same. Raises OSError."""
    table: list[Mount] = []
    by_point: dict[str, int] = {}
    for number, entry in enumerate(libproc.mounts(), 1):
        point = os.fsdecode(libproc.text(entry, at.MOUNT_POINT, at.LONGEST_PATH))
        device, flags = libproc.u32(entry, at.MOUNT_ID), libproc.u32(entry, at.MOUNT_FLAGS)
        source = os.fsdecode(libproc.text(entry, at.MOUNT_SOURCE, at.LONGEST_PATH))
        parent = by_point.get(point) or _around(point, by_point)
        one = Mount(
            number=number,
            parent=parent,
            device=device_name(device),
            root="/",
            point=point,
            options=_options(flags),
            filesystem=_kind(entry, flags),
            source=source,
        )
        table.append(one)
        by_point[point] = number
    return table


def device_name(device: int) -> str:
    """As Mount names it: major:minor. The file system's id begins with the number that stat gives."""
    return f"{os.major(device)}:{os.minor(device)}"


def _around(point: str, by_point: dict[str, int]) -> int:
    """The mount that a mount point lies in; 0 for the first."""
    while point != "/" and point:
        point = point[: point.rfind("/")] or "/"
        if point in by_point:
            return by_point[point]
    return 0


def _kind(entry: bytes, flags: int) -> str:
    name = os.fsdecode(libproc.text(entry, at.MOUNT_TYPE, at.TYPE_SIZE))
    return name if flags & at.IS_LOCAL or waits_for_others(name) else _UNKNOWN_SERVER + name


def _options(flags: int) -> str:
    words = ["ro" if flags & at.READ_ONLY else "rw"]
    return ",".join(words + ["noatime"] * bool(flags & at.NO_ACCESS_TIMES))


def somebody_may_hang() -> bool:
    """Whether something is mounted that waits for a server or a program. Raises OSError."""
    return any(waits_for_others(one.filesystem) and one.filesystem != _ON_DEMAND for one in mounts())
