"""Read and remove what is ours alone: a lease, a note, an empty scratch. Light enough for hooks."""

import os

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def read_small(path: str, most_bytes: int, dir_fd: int | None = None) -> tuple[bytes, float] | None:
    """(content, mtime) of a small regular file of ours; None for anything else, a link, a fifo or another user's."""
    try:
        fd = os.open(path, _READ, dir_fd=dir_fd)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(fd)
        if status.st_mode & 0o170000 != 0o100000 or status.st_uid != os.geteuid():
            return None
        return os.read(fd, most_bytes), status.st_mtime
    except OSError:
        return None
    finally:
        os.close(fd)


def exists(name: str, dir_fd: int) -> bool:
    try:
        os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
    except OSError:
        return False
    return True


def remove_file(path: str, dir_fd: int | None = None) -> bool:
    """Whether it is gone. Only for names in a directory that nobody else can write."""
    try:
        os.unlink(path, dir_fd=dir_fd)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_empty_dir(path: str, dir_fd: int | None = None) -> bool:
    """Whether it is gone; a directory with anything in it stays."""
    try:
        os.rmdir(path, dir_fd=dir_fd)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
