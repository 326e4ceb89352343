"""Files of ours that were made from others, and are believed only while those look as they did. Hot path."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Stamp = list[object]  # path, mtime in ns, size, inode; a list, because JSON knows no tuples


def stamp(paths: "Iterable[str]") -> "list[Stamp]":
    """What the sources look like now. A file that is not there has a stamp too."""
    return [_stamp(path) for path in paths]


def _stamp(path: str) -> "Stamp":
    try:
        seen = posix.stat(path)
    except OSError:
        return [path, 0, 0, 0]
    return [path, seen.st_mtime_ns, seen.st_size, seen.st_ino]


def are_unchanged(stamps: "Iterable[Stamp]") -> bool:
    """Whether every source still looks as it did."""
    for path, mtime_ns, size, inode in stamps:  # a hundred of them before every tool call
        try:
            seen = posix.stat(path)  # type: ignore[arg-type]
        except OSError:
            if mtime_ns or size or inode:
                return False
            continue  # it was not there either
        if seen.st_mtime_ns != mtime_ns or seen.st_ino != inode or seen.st_size != size:
            return False
    return True


def read_private(path: str, max_bytes: int) -> "bytes | None":
    """The bytes of a file that is ours, writable by nobody else, no link and no longer than that; else None."""
    fd, size = open_private(path, max_bytes)
    if fd < 0:
        return None
    try:
        return posix.read(fd, size)
    except OSError:
        return None
    finally:
        posix.close(fd)


def open_private(path: str, max_bytes: int) -> "tuple[int, int]":
    """Descriptor and length of such a file, else -1 and 0."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    except OSError:
        return -1, 0
    seen = posix.fstat(fd)
    is_file = seen.st_mode & 0o170000 == 0o100000
    if is_file and seen.st_uid == posix.geteuid() and not seen.st_mode & 0o022 and seen.st_size <= max_bytes:
        return fd, seen.st_size
    posix.close(fd)
    return -1, 0
