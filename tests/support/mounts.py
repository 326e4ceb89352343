"""Real file systems for tests: a small tmpfs, an ext4 image, a bind mount. Needs root."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount and to change uid")


@contextlib.contextmanager
def mounted(point: Path, *words: str) -> Iterator[Path]:
    """`mount WORDS... POINT` for the length of the block; unmounted by point, lazily if somebody is still inside."""
    point.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", *words, str(point)], check=True, capture_output=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", "--lazy", str(point)], check=False, capture_output=True)


def tmpfs(
    point: Path, size: str = "8m", inodes: int = 0, mode: str = "1777"
) -> contextlib.AbstractContextManager[Path]:
    return mounted(
        point, "-t", "tmpfs", "-o", f"size={size},mode={mode}" + (f",nr_inodes={inodes}" if inodes else ""), "tmpfs"
    )


def bind(source: Path, point: Path) -> contextlib.AbstractContextManager[Path]:
    return mounted(point, "--bind", str(source))


@contextlib.contextmanager
def ext4(point: Path, image: Path, *words: str, megabytes: int = 16) -> Iterator[Path]:
    with image.open("wb") as file:
        file.truncate(megabytes << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", *words, str(image)], check=True, capture_output=True)
    with mounted(point, "-o", "loop", str(image)):
        yield point


def fill_bytes(directory: Path, name: str = "filler") -> None:
    """Write until ENOSPC, to the last byte; and again what ext4 gives back once it has laid the data out."""
    fd = os.open(directory / name, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        while _written(fd):
            os.fsync(fd)
    finally:
        os.close(fd)


def _written(fd: int) -> int:
    total = 0
    for block in (1 << 16, 4096, 1):
        with contextlib.suppress(OSError):
            while True:
                total += os.write(fd, b"x" * block)
    return total


def fill_inodes(directory: Path) -> int:
    """Create empty files until ENOSPC; how many."""
    count = 0
    with contextlib.suppress(OSError):
        while True:
            os.close(os.open(directory / f"inode-filler-{count}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            count += 1
    return count
