"""Read a git directory by hand, through its descriptor: no link followed, nothing made younger, nothing that hangs."""

from __future__ import annotations

import hashlib
import os
import stat

from ..lazy_dataclass import dataclass
from ..oskit.files.descriptors import closing
from ..oskit.files.opening import open_dir, open_unread

LONGEST = 1 << 20
_CHUNK = 1 << 20
_INDEX_COUNT_AT = 8  # behind "DIRC" and the version


class Unclear(Exception):
    """Could not be inspected; its text says why."""


@dataclass(frozen=True, slots=True)
class Directory:
    """Questions about what lies in one open directory."""

    fd: int

    @property
    def path(self) -> str:
        """Where it is now."""
        return os.readlink(f"/proc/self/fd/{self.fd}")

    def read(self, name: str, longest: int = LONGEST) -> bytes:
        """A whole small file; Unclear if it is none."""
        with closing(open_unread(name, self.fd)) as fd:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unclear(f"{name} is no plain file")
            content = os.read(fd, longest)
        if len(content) == longest:
            raise Unclear(f"{name} is too long")
        return content

    def line(self, name: str) -> str:
        return self.read(name, 4097).decode("utf-8", "surrogateescape").rstrip("\n")

    def names(self, name: str = ".") -> list[str]:
        """What a directory in it holds; nothing if there is none."""
        try:
            fd = open_dir(name, self.fd)
        except FileNotFoundError:
            return []
        with closing(fd):
            return sorted(os.listdir(fd))

    def mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def has(self, name: str) -> bool:
        return self.mode(name) is not None

    def has_directory(self, name: str) -> bool:
        return stat.S_ISDIR(self.mode(name) or 0)

    def says_something(self, name: str) -> bool:
        """Whether there is anything but an empty file or an empty directory."""
        mode = self.mode(name)
        if mode is None:
            return False
        return bool(self.names(name)) if stat.S_ISDIR(mode) else not stat.S_ISREG(mode) or bool(self.read(name))

    def check_index(self) -> int:
        """How many entries the index has at least. git reads an index without comparing its checksum; a flipped bit in
        it may say that nothing was modified."""
        try:
            fd = open_unread("index", self.fd)
        except FileNotFoundError:
            return 0
        with closing(fd):
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unclear("its index is no plain file")
            if not any(_ends_in_its_checksum(fd, name) for name in ("sha1", "sha256")):
                raise Unclear("its index is corrupt")
            return int.from_bytes(os.pread(fd, 4, _INDEX_COUNT_AT), "big")


def _ends_in_its_checksum(fd: int, name: str) -> bool:
    """Zeros stand for a checksum that git was told not to compute (index.skipHash)."""
    digest = hashlib.new(name, usedforsecurity=False)
    left = os.fstat(fd).st_size - digest.digest_size
    if left < 0:
        return False
    os.lseek(fd, 0, os.SEEK_SET)
    while left and (chunk := os.read(fd, min(_CHUNK, left))):
        digest.update(chunk)
        left -= len(chunk)
    ending = os.read(fd, digest.digest_size + 1)
    return ending in (digest.digest(), bytes(digest.digest_size))


def copy_file(directory: Directory, name: str, target: str) -> None:
    """A plain file of a git directory, whole, to a new file of ours."""
    with closing(open_unread(name, directory.fd)) as fd:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Unclear(f"{name} is no plain file")
        with open(target, "xb") as file:
            while chunk := os.read(fd, _CHUNK):
                file.write(chunk)
