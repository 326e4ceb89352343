"""Files of /proc."""

from __future__ import annotations

import os

_READ_SIZE = 1 << 12  # what the kernel gives at once of a long file; more to read into costs more


def read(path: str) -> bytes:
    """Raises one of procs.ENDED when its process is gone, else what kept us from reading it."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    try:
        parts = []
        while part := os.read(fd, _READ_SIZE):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(fd)


def read_whole(path: str) -> bytes | None:
    """The same for what is only told to people or guessed by: None where it is gone or not for us."""
    try:
        return read(path)
    except (OSError, ValueError):
        return None


def first_line(path: str) -> str | None:
    return (read_whole(path) or b"").split(b"\n", 1)[0].decode("ascii", "replace").strip() or None
