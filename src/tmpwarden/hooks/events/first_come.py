"""Plugin and settings may both call us for one session. The first to come works for it; the other stays inert."""

import posix

from .. import notebook
from .hook_call import HookCall

_SOURCE = __file__.rsplit("/", 4)[0]  # where this copy of tmpwarden lies
_WRITING_S = 5.0


def is_second(call: HookCall) -> bool:
    """Whether another copy of us already works for this session of this agent process."""
    mine = f"{call.dialect.owner_pid(call.environ, call.payload)} {_SOURCE}"
    path = f"{call.notes}/{notebook.session_key(call.session)}.claim"
    theirs = _read(path)
    if theirs is None:
        return not _create(path, mine, call.notes) and _read(path) not in (None, mine)
    if theirs == mine:
        return False
    if theirs.partition(" ")[0] == mine.partition(" ")[0]:
        return True
    if not theirs and _is_fresh(path):  # made this instant by somebody else, not yet written
        return True
    _overwrite(path, mine)  # an earlier process of a resumed session
    return False


def _create(path: str, text: str, notes: str) -> bool:
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC
    try:
        notebook.make(notes)
        fd = posix.open(path, flags, 0o600)
    except OSError:
        return False
    return _write(fd, text)


def _overwrite(path: str, text: str) -> bool:
    try:
        fd = posix.open(path, posix.O_WRONLY | posix.O_TRUNC | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError:
        return False
    return _write(fd, text)


def _write(fd: int, text: str) -> bool:
    try:
        posix.write(fd, text.encode("utf-8", "surrogateescape"))
    except OSError:
        return False
    finally:
        posix.close(fd)
    return True


def _read(path: str) -> str | None:
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError:
        return None
    try:
        return posix.read(fd, 8192).decode("utf-8", "surrogateescape")
    except OSError:
        return None
    finally:
        posix.close(fd)


def _is_fresh(path: str) -> bool:
    import time

    try:
        return time.time() - posix.stat(path).st_mtime < _WRITING_S
    except OSError:
        return False
