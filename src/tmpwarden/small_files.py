"""A small file in one breath: open, read or write, close; None or False where that cannot be done. Hot path."""

import posix

from .bundle import read_out

_READ = posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK
_WRITE = posix.O_WRONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW
CREATED, EMPTIED, APPENDED = posix.O_CREAT | posix.O_EXCL, posix.O_TRUNC, posix.O_CREAT | posix.O_APPEND
REPLACED = posix.O_CREAT | posix.O_TRUNC
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def session_key(session: str) -> str:
    """A session id as a file name. Agents use UUIDs; whatever else arrives cannot leave the directory."""
    if session.isascii() and session.replace("-", "").isalnum():
        return session[:80]
    return "".join(char if char in _PLAIN else "_" for char in session[:80]) or "none"


def read(path: "str | bytes", most_bytes: int, flags: int = posix.O_NOFOLLOW) -> "bytes | None":
    """What it holds, up to so many bytes. `flags` 0: a link is followed, as in what users and agents write."""
    try:
        fd = posix.open(path, _READ | flags)
    except (OSError, ValueError):
        return None
    return read_out(fd, most_bytes)


def read_text(path: "str | bytes", most_bytes: int) -> str:
    """The same as text; "" where there is nothing to read."""
    return (read(path, most_bytes) or b"").decode("utf-8", "surrogateescape")


def write(path: str, data: bytes, how: int) -> bool:
    """Whether it was written. No link is followed, and what is made is private."""
    try:
        fd = posix.open(path, _WRITE | how, 0o600)
    except OSError:
        return False
    try:
        posix.write(fd, data)
    except OSError:
        return False
    finally:
        posix.close(fd)
    return True
