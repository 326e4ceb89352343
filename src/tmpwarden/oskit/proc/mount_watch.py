"""The mount table, open all the time: the kernel tells whoever polls it of each change, once."""

import os

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
