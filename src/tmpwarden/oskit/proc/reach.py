"""Whether a path can be touched without waiting for ever: a mount that may hang is asked by a child with a deadline.

The mount table is read first, and reading it cannot hang. Only what lies on a file system that waits for somebody else
(a server, a FUSE daemon) is asked at all; on most machines that is nothing, and then nothing here costs anything.
"""

from __future__ import annotations

import _thread
import errno
import itertools
import os
import sys
import time

from ...errors import FrozenMount
from ...text import is_within, shown
from .. import system
from .namespaces import Mount, MountTable, follow, waits_for_others

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE_S = 2.0  # from when the child is there
_START_S = 20.0  # for an interpreter on a starved machine: how long that takes says nothing about a mount
_MOST_AT_ONCE = 16  # a process each
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
            _watched = _watched or system.mounting.Watched.open()
            if _watched is None:
                return cls(MountTable.of())
            if not isinstance(_watched.seen, cls) or _watched.has_changed():
                _watched.seen = cls(MountTable.of())
            return _watched.seen

    def frozen(self, path: str) -> str | None:
        """The mount on the way to `path` (links followed) that does not respond; None if all do."""
        if not self.risky:
            return None
        whole = path if path.startswith("/") else os.path.join(os.getcwd(), path)  # who names it whole may be nowhere
        where, _, is_frozen = follow(whole, self.is_frozen_at)
        return where if is_frozen else None

    def frozen_near(self, path: str) -> str | None:
        """The same, or one right below it that does not respond: for who reads whatever is in there."""
        on_the_way = self.frozen(path)
        if on_the_way or not self.risky:
            return on_the_way
        return next((point for point in self.inside(os.path.realpath(path)) if self.is_frozen_at(point)), None)

    def is_frozen_at(self, point: str) -> bool:
        """Whether a mount lies at this very path, without links, that does not respond."""
        mount = self.risky.get(point)
        return mount is not None and not self._answers(mount)

    def _answers(self, mount: Mount) -> bool:
        if (answer := _answer(mount)) is not None:
            return answer
        together = [mount, *self._asked_with(mount)]
        for each, does_answer in zip(together, _asked([each.point for each in together]), strict=True):
            _known[_key(each)] = (does_answer, time.monotonic())
        return _known[_key(mount)][0]

    def _asked_with(self, mount: Mount) -> list[Mount]:
        """The others below the user's home, where one agent's directory follows the other: one deadline for them all.
        An autofs is asked only when somebody wants to go there: the question mounts what lies behind it."""
        home = os.environ.get("HOME", "")
        if not home.startswith("/"):
            return []
        home, _, _ = follow(home, self.risky.__contains__)
        if not is_within(mount.point, home):
            return []
        others = (each for point, each in self.risky.items() if each is not mount and is_within(point, home))
        unasked = (each for each in others if each.filesystem != "autofs" and _answer(each) is None)
        return list(itertools.islice(unasked, _MOST_AT_ONCE - 1))

    def first_inside(self, path: str) -> str | None:
        return next(self.inside(path), None) if self.risky else None

    def inside(self, path: str) -> Iterator[str]:
        """Mounts at or below a path (without links) that may hang: a walk there enters them."""
        below = path.rstrip("/") + "/"
        return (point for point in self.risky if point == path or point.startswith(below))


def as_named(path: str) -> str:
    """What a person names: its parent resolved, the name as it stands, for a link itself can be named. Raises
    FrozenMount where looking would hang."""
    full = os.path.abspath(path)
    if point := Reach.now().frozen(full):
        raise FrozenMount(shown(path), shown(point))
    return os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full)) if full != "/" else full


_watched: system.mounting.Watched | None = None
_turn = _thread.allocate_lock()  # a change is told once: the second to poll must wait for the new table


def _begin_anew() -> None:
    """In a fork: it shares its parent's place in the file, and perhaps a lock that nobody there will give back."""
    global _watched, _turn
    _watched, _turn = None, _thread.allocate_lock()


os.register_at_fork(after_in_child=_begin_anew)


def _key(mount: Mount) -> tuple[int, str, str]:
    return mount.id, mount.device, mount.point


def _answer(mount: Mount) -> bool | None:
    """What is known of it; None: it has not been asked lately."""
    answer, asked_at = _known.get(_key(mount), (None, 0.0))
    return answer if time.monotonic() - asked_at < _KNOWN_S else None


def _asked(points: list[str]) -> list[bool]:
    """Whether each of them answers, all asked at once."""
    answers = answers_of(_PROBE, points)
    # no process to be had: the caller takes the risk, as with any disk
    return [answer == b"1" if isinstance(answer, bytes) else not isinstance(answer, TimeoutError) for answer in answers]


def answer_of(program: str, path: str) -> bytes:
    """What a few lines of Python say about a path; nothing if they do not within the deadline. Raises OSError: they
    could not be asked."""
    (answer,) = answers_of(program, [path])
    if isinstance(answer, OSError):
        raise answer
    return answer


def answers_of(program: str, paths: list[str]) -> list[bytes | OSError]:
    """The same for several paths at a time, each with its own deadline; an OSError where it could not be asked.

    By processes of their own: a wait for a dead server cannot always be interrupted, not even by SIGKILL."""
    answers: list[bytes | OSError] = [b""] * len(paths)
    children: dict[int, _Child] = {}  # by the pipe it speaks into
    try:
        for at, path in enumerate(paths):
            try:
                child = _start(program, path)
            except OSError as error:
                answers[at] = error
                continue
            children[child.pipe] = child
            child.at = at
        _listen(children)
        for child in children.values():
            answers[child.at] = child.answer()
        return answers
    finally:
        for pipe in children:
            os.close(pipe)
        _end([child.pid for child in children.values()])


class _Child:
    __slots__ = ("at", "is_there", "pid", "pipe", "text", "until")

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid, self.pipe = pid, pipe
        self.at = 0  # the number of its question
        self.text, self.is_there = b"", False
        self.until: float | None = time.monotonic() + _START_S  # None: it has said all that it will say

    def hear(self) -> None:
        text = os.read(self.pipe, 64)
        if not self.is_there and text.startswith(_THERE):
            self.is_there, text = True, text.removeprefix(_THERE)
            self.until = time.monotonic() + DEADLINE_S if not text else None
        else:
            self.until = None
        self.text += text

    def answer(self) -> bytes | OSError:
        if self.until is not None and not self.is_there:
            return TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
        return self.text.strip()


def _start(program: str, path: str) -> _Child:
    reading, writing = os.pipe()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0),
    ]
    python = sys.executable or system.hot.program(os.getpid())
    argv = [python, "-I", "-S", "-c", _ALONE + program, path]
    try:
        return _Child(os.posix_spawn(python, argv, {}, file_actions=actions), reading)
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)


def _listen(children: dict[int, _Child]) -> None:
    """Until each has spoken or its time is over."""
    import select

    poll = select.poll()
    for pipe in children:
        poll.register(pipe, select.POLLIN | select.POLLHUP)
    while True:
        ends = [child.until for child in children.values() if child.until is not None]
        if not ends or (left := max(ends) - time.monotonic()) <= 0:
            return
        for pipe, _ in poll.poll(left * 1000):
            children[pipe].hear()
            if children[pipe].until is None:
                poll.unregister(pipe)


def _end(children: list[int]) -> None:
    """Wait for them only as long as they can be ended: one that the kernel keeps waiting is left to init."""
    import signal

    for _ in range(20):
        children = [pid for pid in children if not _has_ended(pid, signal.SIGKILL)]
        if not children:
            return
        time.sleep(0.005)


def _has_ended(pid: int, signal_number: int) -> bool:
    try:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        os.kill(pid, signal_number)
    except (ChildProcessError, ProcessLookupError):
        return True  # a host that reaps everybody's children
    return False
