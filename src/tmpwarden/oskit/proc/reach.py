"""Whether a path can be touched without waiting for ever: a mount that may hang is asked by a child with a deadline.

mountinfo is read first, and reading it cannot hang. Only what lies on a file system that waits for somebody else (a
server, a FUSE daemon) is asked at all; on most machines that is nothing, and then nothing here costs anything.
"""

from __future__ import annotations

import _thread
import errno
import os
import sys
import time

from ...errors import FrozenMount
from ...text import shown
from .link_walk import follow
from .mount_watch import Watched as _Watched
from .mountinfo import Mount
from .namespaces import MountTable, waits_for_others

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE_S = 2.0  # from when the child is there
_START_S = 20.0  # for an interpreter on a starved machine: how long that takes says nothing about a mount
_KNOWN_S = 60.0  # how long an answer counts: a server thread lives for weeks
# It closes whatever it inherited before it touches anything: stuck for good, it must hold no lock and no pipe of ours.
_ALONE = 'import os, sys\nos.closerange(3, 65536)\nos.write(1, b"+")\n'
_THERE = b"+"
_PROBE = """
try:
    os.stat(sys.argv[1])
    os.statvfs(sys.argv[1])
    with os.scandir(sys.argv[1]) as entries:
        next(entries, None)
except OSError:
    pass
os.write(1, b"1")
"""
_known: dict[tuple[int, str, str], tuple[bool, float]] = {}  # one mount -> did it answer, and when was it asked


class Reach:
    """The mounts of this moment that may hang."""

    __slots__ = ("risky",)

    def __init__(self, table: MountTable | None) -> None:
        mounts = table.visible if table else {}
        self.risky: dict[str, Mount] = {
            point: mount for point, mount in mounts.items() if point != "/" and waits_for_others(mount.filesystem)
        }

    @classmethod
    def now(cls) -> Reach:
        """Read anew only when something was mounted or unmounted since: asked before every step into the unknown."""
        global _watched
        with _turn:
            _watched = _watched or _Watched.open()
            if _watched is None:
                return cls(MountTable.of())
            if not isinstance(_watched.seen, cls) or _watched.has_changed():
                _watched.seen = cls(MountTable.of())
            return _watched.seen

    def frozen(self, path: str) -> str | None:
        """The mount on the way to `path` (links followed) that does not answer; None if all do."""
        if not self.risky:
            return None
        whole = path if path.startswith("/") else os.path.join(os.getcwd(), path)  # who names it whole may be nowhere
        where, _, is_frozen = follow(whole, self.is_frozen_at)
        return where if is_frozen else None

    def frozen_near(self, path: str) -> str | None:
        """The same, or one right below it that does not answer: for who reads whatever is in there."""
        on_the_way = self.frozen(path)
        if on_the_way or not self.risky:
            return on_the_way
        return next((point for point in self.inside(os.path.realpath(path)) if self.is_frozen_at(point)), None)

    def is_frozen_at(self, point: str) -> bool:
        """Whether a mount lies at this very path, without links, that does not answer."""
        mount = self.risky.get(point)
        return mount is not None and not _answers(mount)

    def first_inside(self, path: str) -> str | None:
        return next(self.inside(path), None) if self.risky else None

    def inside(self, path: str) -> Iterator[str]:
        """Mounts at or below a path (without links) that may hang: whoever walks there walks into them."""
        below = path.rstrip("/") + "/"
        return (point for point in self.risky if point == path or point.startswith(below))


def as_named(path: str) -> str:
    """What a person names: its parent resolved, the name as it stands, for a link itself can be named. Raises
    FrozenMount where looking would hang."""
    full = os.path.abspath(path)
    if point := Reach.now().frozen(full):
        raise FrozenMount(shown(path), shown(point))
    return os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full)) if full != "/" else full


_watched: _Watched | None = None
_turn = _thread.allocate_lock()  # a change is told once: whoever polls second must wait for the new table


def _begin_anew() -> None:
    """In a fork: it shares its parent's place in the file, and perhaps a lock that nobody there will give back."""
    global _watched, _turn
    _watched, _turn = None, _thread.allocate_lock()


os.register_at_fork(after_in_child=_begin_anew)


def _answers(mount: Mount) -> bool:
    key, now = (mount.id, mount.device, mount.point), time.monotonic()
    answer, asked = _known.get(key, (False, -_KNOWN_S))
    if now - asked >= _KNOWN_S:
        answer = _asked(mount.point)
        _known[key] = (answer, time.monotonic())
    return answer


def _asked(point: str) -> bool:
    try:
        return answer_of(_PROBE, point) == b"1"
    except TimeoutError:
        return False
    except OSError:
        return True  # no process to be had: whoever asks takes the risk, as with any disk


def answer_of(program: str, path: str) -> bytes:
    """What a few lines of Python say about a path; nothing if they do not within the deadline. Raises OSError: they
    could not be asked.

    By a process of its own: a wait for a dead server cannot always be interrupted, not even by SIGKILL."""
    reading, writing = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    python = sys.executable or "/proc/self/exe"
    try:
        child = os.posix_spawn(python, [python, "-I", "-S", "-c", _ALONE + program, path], {}, file_actions=actions)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    try:
        return _said(reading)
    finally:
        os.close(reading)
        _end(child)


def _said(pipe: int) -> bytes:
    import select

    poll = select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    if not poll.poll(_START_S * 1000):
        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    said = os.read(pipe, 64)
    if said == _THERE and poll.poll(DEADLINE_S * 1000):
        said += os.read(pipe, 64)
    return said.removeprefix(_THERE).strip()


def _end(child: int) -> None:
    """Wait for it only as long as it can be ended: one that the kernel keeps waiting is left to init."""
    import signal

    try:
        for _ in range(20):
            if os.waitpid(child, os.WNOHANG)[0]:
                return
            os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
    except (ChildProcessError, ProcessLookupError):
        return  # a host that reaps everybody's children
