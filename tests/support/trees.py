"""Trees that paths cannot reach: chains of directories deeper than PATH_MAX, and flat ones of many entries."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[Path, int]]:
    """A new directory of ours, by its path and by a descriptor."""
    path.mkdir(mode=0o700)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield path, fd
    finally:
        os.close(fd)


def chain(dir_fd: int, depth: int, *, name: str = "d", leaf: str = "leaf") -> None:
    """Make `name/name/.../leaf` below `dir_fd`, one descriptor at a time."""
    here = os.dup(dir_fd)
    for _ in range(depth):
        os.mkdir(name, 0o700, dir_fd=here)
        below = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open(leaf, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=here))
    os.close(here)


def flat(path: str, count: int, *, directories: bool = False) -> None:
    """Make `count` empty files (or directories) in `path`, which is made too."""
    os.mkdir(path)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    for number in range(count):
        if directories:
            os.mkdir(f"session-{number:08d}", dir_fd=fd)
        else:
            os.mknod(f"marker-{number:08d}", dir_fd=fd)
    os.close(fd)
