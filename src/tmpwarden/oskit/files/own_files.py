"""Remove what is ours alone: a lease, an empty scratch. Light enough for hooks; everything else goes through take."""

import os


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
