"""What processes of one session have open for writing right now, read from /proc and nowhere else."""

from __future__ import annotations

import os

from . import procs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST = 8  # of a session's id: a shorter word stands in many environments


def written_by(session: str) -> Iterator[tuple[str, int]]:
    """(path, inode) of regular files that a process with this session's id in its environment can write through an
    open descriptor. What cannot be read is passed over: it proves nothing."""
    needle = f"={session}\0".encode("utf-8", "surrogateescape")
    if len(session) < _SHORTEST:
        return
    try:
        pids, namespace = procs.pids(), os.readlink("/proc/self/ns/mnt")
    except OSError:
        return
    for pid in pids:
        try:
            if needle in procs.environment(pid) + b"\0" and os.readlink(f"/proc/{pid}/ns/mnt") == namespace:
                yield from _written(pid)
        except OSError:
            continue


def _written(pid: int) -> Iterator[tuple[str, int]]:
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            path = os.readlink(f"/proc/{pid}/fd/{number}")
            told = dict(line.split(b":", 1) for line in procs.read(f"/proc/{pid}/fdinfo/{number}").splitlines())
        except (OSError, ValueError):
            continue
        flags, inode = told.get(b"flags", b"").strip(), told.get(b"ino", b"").strip()  # `ino` since Linux 5.14
        if path.startswith("/") and flags and inode.isdigit() and int(flags, 8) & os.O_ACCMODE != os.O_RDONLY:
            yield path, int(inode)
