"""Copy plain files through descriptors, with their hash; and say whether a copy is what it should be."""

from __future__ import annotations

import hashlib
import os
import stat

from ..oskit.files.descriptors import closing
from .nouns import SavedFile

_CHUNK = 1 << 20


def copy(source: str, dir_fd: int | None, target: str, name: str) -> SavedFile | None:
    """`source` to `target`, which must not exist; None if it is no plain file. Dates and permissions are kept."""
    with closing(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=dir_fd)) as fd:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return None
        os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
        with closing(
            os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        ) as out:
            digest, size = _poured(fd, out)
            os.fchmod(out, stat.S_IMODE(status.st_mode) & 0o777)
            os.utime(out, ns=(status.st_atime_ns, status.st_mtime_ns))
            os.fsync(out)
    return SavedFile(name, digest, size, stat.S_IMODE(status.st_mode) & 0o777)


def _poured(source: int, target: int) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while chunk := os.read(source, _CHUNK):
        digest.update(chunk)
        size += len(chunk)
        view = memoryview(chunk)
        while view:
            view = view[os.write(target, view) :]
    return digest.hexdigest(), size


def digest_of(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(path: str, sha256: str) -> bool:
    try:
        return digest_of(path) == sha256
    except OSError:
        return False
