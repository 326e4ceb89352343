"""Root's work for another user: a child becomes that user, works, and says what came of it through a pipe.

The child belongs to that user, who may stop or kill it: it costs that user's part and nothing else. It has neither
root's terminal nor root's environment, and its memory, which was root's, stays closed to the user (not dumpable).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable

from ..lazy_dataclass import dataclass, field
from ..oskit import system
from ..oskit.proc.forked import forked
from ..text import duration
from .users import User, switch_to

_STOPPED_S = 5.0  # somebody may stop a process for a moment; nobody may stop root's run
_POLL_S = 0.25
_MOST_BYTES = 64 << 20  # of an answer
_MOST_TALK = 16 << 10


@dataclass(frozen=True, slots=True)
class Heard:
    """What a child said, what it complained of, and why there is no answer ("" if there is one)."""

    answer: str
    talk: str = ""
    why: str = ""


@dataclass(slots=True)
class _Child:
    pid: int
    answer: int  # descriptors that are read here
    talk: int
    status: int | None = None
    output: dict[int, bytearray] = field(default_factory=dict)
    stopped_since: float | None = None


def as_user(user: User, work: Callable[[], str], *, limit_s: float, wanted: Callable[[], int] = lambda: 0) -> Heard:
    """Let a child that has become `user` work, for at most `limit_s`. `wanted` names a signal to pass on to it."""
    child = _start(user, work)
    try:
        why = _wait(child, limit_s, wanted)
    finally:
        _end(child)
        os.close(child.answer)
        os.close(child.talk)
    talk = child.output[child.talk].decode(errors="replace").strip()
    if not why and child.status:
        ended_by = -child.status
        why = f"its process was ended by signal {ended_by}" if ended_by > 0 else talk.rpartition("\n")[2] or "it failed"
    return Heard(child.output[child.answer].decode(errors="surrogateescape"), talk, why)


def _start(user: User, work: Callable[[], str]) -> _Child:
    answer, answer_end = os.pipe()
    talk, talk_end = os.pipe()
    pid = forked(lambda: _work_as(user, work, answer_end, talk_end))
    os.close(answer_end)
    os.close(talk_end)
    for descriptor in (answer, talk):
        os.set_blocking(descriptor, False)
    return _Child(pid, answer, talk, output={answer: bytearray(), talk: bytearray()})


def _work_as(user: User, work: Callable[[], str], answer_end: int, talk_end: int) -> None:
    """In the child. Nothing that it starts can reach root's terminal: its own session, and no descriptor of it."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(talk_end, 1)
        os.dup2(talk_end, 2)
        switch_to(user)
        answer = work().encode(errors="surrogateescape")
        while answer:
            answer = answer[os.write(answer_end, answer) :]
    except BaseException as error:
        os.write(2, f"{error or type(error).__name__}\n".encode(errors="backslashreplace"))
        raise


def _wait(child: _Child, limit_s: float, wanted: Callable[[], int]) -> str:
    """Listen until the child has ended; or why nobody waits for it any longer."""
    until, passed_on = time.monotonic() + limit_s, 0
    while child.status is None:
        _listen(child, _POLL_S)
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if pid:
            child.status = os.waitstatus_to_exitcode(status)
            break
        if (number := wanted()) and not passed_on:
            passed_on, until = number, min(until, time.monotonic() + 10)
            os.kill(child.pid, number)
        if _is_stopped_for_long(child):
            return "its process was paused (SIGSTOP)"
        if time.monotonic() > until:
            return "it was stopped" if passed_on else f"it took longer than {duration(limit_s)}"
    _listen(child, 0)
    return ""


def _listen(child: _Child, seconds: float) -> None:
    """Take what the child has said, and wait a little for the first word."""
    limits = {child.answer: _MOST_BYTES, child.talk: _MOST_TALK}
    ready = select.select([child.answer, child.talk], (), (), seconds)[0]
    for descriptor in ready:
        with contextlib.suppress(BlockingIOError):
            while block := os.read(descriptor, 1 << 16):
                child.output[descriptor] += block
                del child.output[descriptor][limits[descriptor] :]
    if len(ready) == 2 and child.status is None:
        time.sleep(0.01)  # both ends are closed, or it talks without pause


def _is_stopped_for_long(child: _Child) -> bool:
    """Its user may send SIGSTOP, and would hold up everybody who comes after."""
    if not system.ending.progress(child.pid)[0]:
        child.stopped_since = None
        return False
    child.stopped_since = child.stopped_since or time.monotonic()
    return time.monotonic() - child.stopped_since > _STOPPED_S


def _end(child: _Child) -> None:
    """With all that it started. One that waits for a dead disk cannot be ended, and is not waited for."""
    if child.status is not None:
        return
    for end in (os.killpg, os.kill):  # it may not have a group of its own yet
        with contextlib.suppress(ProcessLookupError):
            end(child.pid, signal.SIGKILL)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        if os.waitpid(child.pid, os.WNOHANG)[0]:
            return
        time.sleep(0.01)
