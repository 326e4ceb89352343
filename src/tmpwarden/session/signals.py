"""SIGTERM, SIGINT and SIGHUP while a session is open: the stack unwinds, every `with` block takes its directory away.

The host's own handlers are called as before and decide what happens; an ignored signal stays ignored."""

from __future__ import annotations

import os
import signal
import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_NAMES = ("SIGTERM", "SIGINT", "SIGHUP")


class _Watch:
    """One per process. Only the main thread touches it: Python runs signal handlers there."""

    __slots__ = ("at_once", "busy", "depth", "hosts", "interrupts", "pending", "received", "thread")

    def __init__(self) -> None:
        self.depth = 0  # open sessions of the main thread
        self.hosts: dict[int, Any] = {}  # the handlers we stand in for
        self.busy = 0  # a session is being made or removed: signals wait
        self.pending: list[int] = []
        self.received: int | None = None  # the last signal, to tell why we leave
        self.interrupts = 0
        self.thread = 0  # the main one
        self.at_once: dict[int, Callable[[], None]] = {}  # what even a second SIGINT must still do


_watch = _Watch()


def begin(*, is_held: bool = False) -> bool:
    """Watch for one session more. False outside the main thread: there the host's main thread decides.

    `is_held`: signals wait until `let_go`.
    """
    if not _in_main_thread():
        return False
    _watch.busy += is_held
    try:
        if _watch.depth == 0:
            _install()
    except ValueError:  # a thread that Python's threading does not know, or a sub-interpreter
        _watch.busy -= is_held
        return False
    _watch.thread = get_ident()
    _watch.depth += 1
    return True


def hold() -> None:
    """Signals wait from now on."""
    _watch.busy += 1


def let_go() -> None:
    """The end of a hold: raise, or call the host, for what arrived meanwhile."""
    _watch.busy -= 1
    deliver_pending()


def end_answered() -> None:
    """The end of a hold and of the watch after the program has said its last word: only handlers of the host hear of
    what arrived meanwhile. Sessions that are still open around it hear of it as ever."""
    late = _watch.pending[:]
    if _watch.depth == 1:
        _watch.pending.clear()
        for signum in late:
            if hosts_own(signum):
                _watch.hosts[signum](signum, None)
    _watch.busy -= 1
    end()


def end() -> None:
    """One session less; with the last one the host has its handlers back."""
    _watch.depth -= 1
    if _watch.depth == 0:
        _restore()


def _in_main_thread() -> bool:
    threading = sys.modules.get("threading")  # not imported: there is no other thread, and we need not import it either
    return threading is None or threading.main_thread().ident == get_ident()


def _install() -> None:
    _watch.received, _watch.interrupts = None, 0
    for name in _NAMES:
        signum = getattr(signal, name, None)
        host = signal.getsignal(signum) if signum is not None else None
        if signum is None or host is None or host == signal.SIG_IGN or host is _on_signal:
            continue  # None: a handler that is not Python's, and we could not put it back
        _watch.hosts[signum] = _before_early(signum, host)
        signal.signal(signum, _on_signal)


def _before_early(signum: int, host: Any) -> Any:
    """`import tmpwarden.early` answers for a program that has not begun; from here on we do."""
    early = sys.modules.get("tmpwarden.early")
    return early.former[signum] if early is not None and host is early.answer else host


def note_answered(status: int) -> None:
    """The program's last word: where `tmpwarden.early` was imported, a signal changes nothing any more."""
    if (early := sys.modules.get("tmpwarden.early")) is not None:
        early.note_answered(status)


def _after_the_answer(signum: int, host: Any) -> Any:
    early = sys.modules.get("tmpwarden.early")
    is_done = early is not None and early.status is not None and early.former.get(signum) is host
    return early.answer if early is not None and is_done else host


def _restore() -> None:
    for signum, former in list(_watch.hosts.items()):
        host = _after_the_answer(signum, former)
        try:
            if signal.getsignal(signum) is _on_signal:  # else the host has set another one meanwhile
                signal.signal(signum, host)
            del _watch.hosts[signum]
        except ValueError:  # the last session was closed by another thread; the next one in the main thread restores
            return


def _on_signal(signum: int, frame: FrameType | None) -> None:
    _watch.received = signum
    if signum == signal.SIGINT:
        _watch.interrupts += 1
    if not _watch.busy:
        _deliver(signum, frame)
    elif signum == signal.SIGINT and _watch.interrupts > 1 and not hosts_own(signum):
        _leave_at_once()
    else:
        _watch.pending.append(signum)


def _deliver(signum: int, frame: FrameType | None) -> None:
    if hosts_own(signum):
        _watch.hosts[signum](signum, frame)
    elif signum == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        raise SystemExit(128 + signum)


def _leave_at_once() -> None:
    """The user insists. What is left on disk has a dead owner now, and the next run takes it."""
    for deed in list(_watch.at_once.values()):
        deed()
    os._exit(130)


class uninterrupted:  # noqa: N801 - reads as a word in `with`
    """Signals wait until the block is done; then the first of them is delivered."""

    __slots__ = ("_is_watched",)

    def __init__(self, is_watched: bool) -> None:
        self._is_watched = is_watched and get_ident() == _watch.thread

    def __enter__(self) -> None:
        if self._is_watched:
            _watch.busy += 1

    def __exit__(self, *_: object) -> None:
        if self._is_watched:
            _watch.busy -= 1


def deliver_pending() -> None:
    """Raise, or call the host, for what arrived meanwhile."""
    while _watch.pending and not _watch.busy and get_ident() == _watch.thread:
        _deliver(_watch.pending.pop(0), None)


def leaving(error: BaseException | None) -> int | None:
    """The signal that makes this session end, or None. An ordinary exception or the host's sys.exit is not one."""
    signum = _watch.received
    if error is None or isinstance(error, Exception):
        _watch.interrupts = _watch.pending.count(signal.SIGINT)
        return None
    if isinstance(error, SystemExit) and (signum is None or error.code != 128 + signum):
        return None
    return signum


def is_watching() -> bool:
    return _watch.depth > 0


def is_last() -> bool:
    return _watch.depth == 1


def hosts_own(signum: int) -> bool:
    """Whether the host handles it itself, other than by Python's default."""
    host = _watch.hosts.get(signum)
    return callable(host) and host is not signal.default_int_handler


def on_leaving_at_once(key: int, deed: Callable[[], None] | None) -> None:
    if deed is None:
        _watch.at_once.pop(key, None)
    else:
        _watch.at_once[key] = deed


def name_of(signum: int) -> str:
    return signal.Signals(signum).name


def forget_after_fork() -> None:
    """The child is not the session's owner: it gets the host's handlers back."""
    _watch.depth = _watch.busy = _watch.interrupts = 0
    _watch.pending.clear()
    _watch.at_once.clear()
    _restore()
