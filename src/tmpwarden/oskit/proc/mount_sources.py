"""Which directories and files serve as mount points or as sources of mounts, in one mount namespace."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...model.terms import WitnessKind
from . import procs
from .mountinfo import Mount, unescape
from .namespaces import MountTable

Key = tuple[str, str]
Use = tuple[WitnessKind, int | None, str]

_LAYERS = ("lowerdir=", "lowerdir+=", "upperdir=", "workdir=")
_LOOPS = "/sys/block"


def used_by(table: MountTable) -> Iterator[tuple[Key, Use]]:
    """((device, path within it), how it is used) for every mount of that table."""
    by_number = {mount.id: mount for mount in table.mounts}
    for mount in table.mounts:
        place = _place_of_point(mount, by_number.get(mount.parent))
        if place is not None:
            yield place, (WitnessKind.MOUNT, None, mount.point)
        if mount.root.startswith("/") and mount.base != "/":
            yield (mount.device, mount.base), (WitnessKind.MOUNT_SOURCE, None, f"mounted on {mount.point}")
        for layer in _layers(mount):
            if located := table.locate(layer):
                yield located, (WitnessKind.MOUNT_SOURCE, None, f"layer of {mount.point}")
    for device, file in _loop_files():
        if located := table.locate(file):
            yield located, (WitnessKind.MOUNT_SOURCE, None, f"{file} behind /dev/{device}")


def _place_of_point(mount: Mount, parent: Mount | None) -> Key | None:
    """Where the mount point lies in the file system that it covers."""
    if parent is None or parent is mount or not parent.root.startswith("/"):
        return None
    below = mount.point[len(parent.point) :] if parent.point != "/" else mount.point
    base = "" if parent.base == "/" else parent.base
    return parent.device, (base + below) or "/"


def _layers(mount: Mount) -> Iterator[str]:
    """The directories that an overlay is made of."""
    if mount.filesystem != "overlay":
        return
    for option in mount.options:
        for word in _LAYERS:
            if option.startswith(word):
                yield from (path for path in option.removeprefix(word).split(":") if path.startswith("/"))


def swap_files() -> Iterator[str]:
    """Files that the kernel swaps to: no process has them open. Raises OSError: not measured."""
    try:
        lines = procs.read("/proc/swaps").split(b"\n")[1:]
    except FileNotFoundError:  # a kernel without swap
        return
    for line in lines:
        words = line.split()
        if len(words) > 1 and words[1] == b"file":
            yield unescape(os.fsdecode(words[0])).removesuffix(" (deleted)")


def _loop_files() -> Iterator[tuple[str, str]]:
    """(loop0, image file): the kernel holds it open, no process does."""
    try:
        devices = [name for name in os.listdir(_LOOPS) if name.startswith("loop")]
    except OSError:
        return
    for device in devices:
        try:
            with open(f"{_LOOPS}/{device}/loop/backing_file", "rb", buffering=0) as file:
                yield device, os.fsdecode(file.read(4096) or b"").rstrip("\n")
        except OSError:
            continue
