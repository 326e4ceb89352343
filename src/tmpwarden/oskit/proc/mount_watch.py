"""The mount table, open all the time: the kernel tells whoever polls it of each change, once."""

import _thread
import os

from .mountinfo import parse_mount

TYPE_CHECKING = False
if TYPE_CHECKING:
    import select

_TABLE = "/proc/self/mountinfo"


class Watched:
    """One open table. Whoever shares it asks one after the other, and keeps what he read last in `seen`."""

    __slots__ = ("fd", "poll", "seen")

    def __init__(self, fd: int, poll: "select.poll") -> None:
        self.fd, self.poll = fd, poll
        self.seen: object = None

    @classmethod
    def open(cls) -> "Watched | None":
        import select

        try:
            fd = os.open(_TABLE, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        poll = select.poll()
        poll.register(fd, select.POLLPRI)
        poll.poll(0)
        return cls(fd, poll)

    def has_changed(self) -> bool:
        return len(self.poll.poll(0)) > 0


_watched: Watched | None = None
_turn = _thread.allocate_lock()


def points() -> tuple[str, ...]:
    """Where something is mounted at this moment. Raises OSError where that cannot be read."""
    global _watched
    with _turn:
        _watched = _watched or Watched.open()
        if _watched is None:
            return _read()
        if not isinstance(_watched.seen, tuple) or _watched.has_changed():
            _watched.seen = _read()
        return _watched.seen


def _read() -> tuple[str, ...]:
    with open(_TABLE, "rb") as file:
        lines = os.fsdecode(file.read()).split("\n")
    return tuple(mount.point for mount in map(parse_mount, lines) if mount is not None)


def _begin_anew() -> None:
    """In a fork: it shares its parent's place in the file, and perhaps a lock that nobody there will give back."""
    global _watched, _turn
    _watched, _turn = None, _thread.allocate_lock()


os.register_at_fork(after_in_child=_begin_anew)
