"""Logs that stay small: `log` -> `log.1` -> ... -> `log.N`, the oldest goes. Renames only: works on a full disk."""

import os


def rotate(path: str, *, keep: int) -> None:
    """Make room for a new `path`. Two processes at once cost at most one generation, never a line being written."""
    for generation in range(keep - 1, 0, -1):
        _move(f"{path}.{generation}", f"{path}.{generation + 1}")
    _move(path, f"{path}.1")


def rotate_from(path: str, size_bytes: int, *, keep: int) -> None:
    """The same once it is that long."""
    try:
        if os.stat(path).st_size >= size_bytes:
            rotate(path, keep=keep)
    except FileNotFoundError:
        pass  # not there yet


def _move(old: str, new: str) -> None:
    try:
        os.rename(old, new)
    except FileNotFoundError:
        pass  # not there yet, or somebody else was faster


def names(path: str, *, keep: int) -> tuple[str, ...]:
    """The files that may exist, oldest first."""
    return (*(f"{path}.{generation}" for generation in range(keep, 0, -1)), path)


def generations(path: str, *, keep: int) -> tuple[str, ...]:
    """The files that exist, oldest first."""
    return tuple(name for name in names(path, keep=keep) if os.path.exists(name))
