"""The memory that the cgroups of this process still allow (containers, services): what lies in a tmpfs counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ...lazy_dataclass import dataclass
from . import procs
from .mountinfo import Mount

_NO_LIMIT = 1 << 60  # cgroup v1 has a number for "max"
_RECLAIMED_WHEN_NEEDED = ("inactive_file", "active_file", "slab_reclaimable")
_V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
_V2 = ("memory.max", "memory.current", "")


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    limit: int
    free: int  # what may still be written to a tmpfs before processes are killed for it
    in_memory_files: int  # what tmpfs files of this cgroup hold already


def memory_limit(mounts: Iterable[Mount]) -> MemoryLimit | None:
    """The tightest of our cgroup and those above it; None where there is none, or it cannot be read."""
    return min(_limits(mounts), key=lambda each: each.free, default=None)


def _limits(mounts: Iterable[Mount]) -> Iterator[MemoryLimit]:
    ours = os.fsdecode(procs.read_whole("/proc/self/cgroup") or b"")
    for mount in mounts:
        if mount.filesystem == "cgroup2":
            path, files = _path_in(ours, "0::"), _V2
        elif mount.filesystem == "cgroup" and "memory" in mount.options:
            path, files = _path_in(ours, ":memory:"), _V1
        else:
            continue
        if path is None:
            continue
        below = path.removeprefix(mount.root.rstrip("/")).strip("/")
        while True:
            found = _of_group(f"{mount.point}/{below}".rstrip("/"), *files)
            if found is not None:
                yield found
            if not below:
                break
            below = below.rpartition("/")[0]


def _path_in(cgroups: str, mark: str) -> str | None:
    """`0::/user.slice/...`, or `4:memory:/docker/...` where each controller has a tree of its own."""
    return next((line.partition(mark)[2] for line in cgroups.split("\n") if mark in line), None)


def _of_group(directory: str, limit_file: str, used_file: str, prefix: str) -> MemoryLimit | None:
    limit, used = _number(f"{directory}/{limit_file}"), _number(f"{directory}/{used_file}")
    if limit is None or used is None or limit >= _NO_LIMIT:
        return None
    sums = dict(_counts(procs.read_whole(f"{directory}/memory.stat") or b""))
    if f"{prefix}shmem" not in sums:
        return None
    given_back = sum(sums.get(prefix + name, 0) for name in _RECLAIMED_WHEN_NEEDED)
    free = max(0, limit - used) + given_back + _swap(directory)
    return MemoryLimit(limit, free, sums[f"{prefix}shmem"])


def _swap(directory: str) -> int:
    """What could still be swapped out instead; for cgroup v1 as much as the machine has."""
    machine = dict(_counts((procs.read_whole("/proc/meminfo") or b"").replace(b":", b""))).get("SwapFree", 0) << 10
    limit, used = _number(f"{directory}/memory.swap.max"), _number(f"{directory}/memory.swap.current")
    return machine if limit is None or used is None else min(machine, max(0, limit - used))


def _number(path: str) -> int | None:
    text = (procs.read_whole(path) or b"").strip()
    return int(text) if text.isdigit() else None


def _counts(text: bytes) -> Iterator[tuple[str, int]]:
    for line in text.split(b"\n"):
        words = line.split()
        if len(words) >= 2 and words[1].isdigit():
            yield words[0].decode("ascii", "replace"), int(words[1])
