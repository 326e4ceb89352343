"""Removal where there are no directory descriptors (Windows), and of directories that must be empty. Best effort."""

from __future__ import annotations

import os


def remove_empty(name: str, dir_fd: int | None = None) -> bool:
    """rmdir: whether `name` was an empty directory and is gone. The kernel refuses, atomically, if it is not empty."""
    try:
        os.rmdir(name, dir_fd=dir_fd)
    except OSError:
        return False
    return True


def remove_file(name: str, dir_fd: int | None = None) -> bool:
    """unlink; whether it is gone."""
    try:
        os.unlink(name, dir_fd=dir_fd)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def remove_tree(path: str) -> bool:
    """A file or a tree by its path; whether it is gone."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        import shutil

        shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)
