"""What appeared in a temp root while an agent's command ran: noted afterwards, told by `why`, sometimes owned.

An owned birth is one that its session's own words name: it is that session's while its inode is the one noted, and
never a proof of anything else. Light: hooks read and write this.
"""

import posix
import time

from ..model.hot import Birth
from ..small_json import decode_object, encode

FILE = "births.jsonl"
_MOST_BYTES = 1 << 20  # then the older half is forgotten
_STATED_FOR_NS = 3600 * 10**9
_FIELDS = ("path", "device", "inode", "born_ns", "agent", "session", "command", "owned")
_NUMBERS = ("device", "inode", "born_ns")


def is_there(birth: Birth) -> bool:
    """Whether its name still means the very entry that was noted."""
    try:
        status = posix.lstat(birth.path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == (birth.device, birth.inode)


def note(state: str, births: "list[Birth]") -> None:
    """After a call."""
    _append(state, [{name: getattr(birth, name) for name in _FIELDS} for birth in births])


def state_names(state: str, session: str, paths: "list[str]") -> None:
    """Before a call: names that do not exist yet and that a readable line is about to make."""
    if paths:
        _append(state, [{"stated": paths, "session": session, "time_ns": time.time_ns()}])


def stated(state: str, session: str) -> "frozenset[str]":
    """Names that this session stated lately."""
    since_ns = time.time_ns() - _STATED_FOR_NS
    found: list[str] = []
    for line in _lines(state):
        paths, when = line.get("stated"), line.get("time_ns")
        if line.get("session") == session and isinstance(paths, list) and isinstance(when, int) and when >= since_ns:
            found += [path for path in paths if isinstance(path, str)]
    return frozenset(found)


def read(state: str) -> "dict[str, Birth]":
    """The last birth noted for each path."""
    found = {}
    for line in _lines(state):
        if all(isinstance(line.get(name), int if name in _NUMBERS else str) for name in _FIELDS[:-1]):
            birth = Birth(*(line.get(name) for name in _FIELDS))  # type: ignore[arg-type]  # looked at just above
            found[birth.path] = birth
    return found


def is_owned(state: str, session: str, path: str) -> bool:
    """For the guard: whether `path` is a birth of this session, and still the same entry."""
    birth = read(state).get(path)
    return birth is not None and birth.owned is True and birth.session == session and is_there(birth)


def _append(state: str, lines: "list[dict[str, object]]") -> None:
    """A full or read-only disk forgets: nobody is harmed by that."""
    path = f"{state}/{FILE}"
    flags = posix.O_WRONLY | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        fd = posix.open(path, flags, 0o600)
    except OSError:
        return
    try:
        if posix.fstat(fd).st_size > _MOST_BYTES:
            _halve(path)
            posix.close(fd)
            fd = posix.open(path, flags, 0o600)
        posix.write(fd, "".join(f"{encode(line)}\n" for line in lines).encode("utf-8", "surrogateescape"))
    except OSError:
        return
    finally:
        posix.close(fd)


def _halve(path: str) -> None:
    from ..oskit.files import atomic

    kept = _text(path)[-_MOST_BYTES // 2 :].partition("\n")[2]
    atomic.write(path, kept.encode("utf-8", "surrogateescape"))


def _lines(state: str) -> "list[dict[str, object]]":
    found = (decode_object(line) for line in _text(f"{state}/{FILE}").split("\n") if line)
    return [line for line in found if line]


def _text(path: str) -> str:
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    except OSError:
        return ""
    try:
        if posix.fstat(fd).st_uid != posix.geteuid():
            return ""
        return posix.read(fd, 4 * _MOST_BYTES).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        posix.close(fd)
