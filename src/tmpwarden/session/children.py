"""The processes a session started: it stops them before it takes their directory away."""

from __future__ import annotations

import os
import signal
import time

from ..oskit.files.opening import closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from typing import Any

# A terminal sends ^C to the children too, so they are given this long to leave by themselves. A second SIGINT from us
# would mean "at once" to many of them.
_AFTER_INTERRUPT_S = 0.25
_SLICE_S = 0.5


class Children:
    """Started, not yet waited for. A dict, because threads may start them while a signal handler kills them."""

    __slots__ = ("_groups", "_running")

    def __init__(self) -> None:
        self._running: dict[int, subprocess.Popen[Any]] = {}
        self._groups: set[int] = set()  # pids that lead a process group of their own

    def start(
        self, argv: Sequence[str | os.PathLike[str]], env: Mapping[str, str], options: dict[str, Any]
    ) -> subprocess.Popen[Any]:
        import subprocess

        options.setdefault("env", env)
        for pid, one in list(self._running.items()):
            if one.poll() is not None:
                self._forget(pid)
        child = subprocess.Popen(argv, **options)
        self._running[child.pid] = child
        if options.get("start_new_session") or options.get("process_group") == 0:
            self._groups.add(child.pid)
        return child

    def stop(self, grace_s: float, only: subprocess.Popen[Any] | None = None, *, is_interrupt: bool = False) -> None:
        """SIGTERM, time to leave, SIGKILL; all at the same time, and all of them waited for."""
        chosen = [only] if only is not None else list(self._running.values())
        running = [one for one in chosen if one.poll() is None]
        if running and is_interrupt:
            _wait(running, _AFTER_INTERRUPT_S)
        for signum in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            for one in running:
                self._send(one, signum)
            _wait(running, grace_s)
        for one in chosen:
            self._forget(one.pid)

    def kill(self) -> None:
        """At once, without waiting. Safe in a signal handler."""
        for one in list(self._running.values()):
            self._send(one, getattr(signal, "SIGKILL", signal.SIGTERM))

    def disown(self) -> None:
        """After fork they are our parent's, not ours."""
        self._running = {}

    def _forget(self, pid: int) -> None:
        self._running.pop(pid, None)
        self._groups.discard(pid)

    def _send(self, child: subprocess.Popen[Any], signum: int) -> None:
        if child.returncode is not None:
            return
        try:
            if child.pid in self._groups and hasattr(os, "killpg"):
                os.killpg(child.pid, signum)
            else:
                os.kill(child.pid, signum)
        except OSError:  # it ended by itself
            return


def _wait(running: list[subprocess.Popen[Any]], limit_s: float) -> None:
    """Until all have ended, at most `limit_s`."""
    until = time.monotonic() + limit_s
    pause_s = 0.001
    while any(one.poll() is None for one in running) and time.monotonic() < until:
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, 0.05)


def communicate(child: subprocess.Popen[Any], words: Any, timeout_s: float | None) -> tuple[Any, Any]:
    """Popen.communicate in slices: Python sees a signal that lands right before a blocking call only after it."""
    import subprocess

    until = time.monotonic() + timeout_s if timeout_s is not None else None
    while True:
        left_s = _SLICE_S if until is None else max(0.0, min(_SLICE_S, until - time.monotonic()))
        try:
            if child.stdin is None and child.stdout is None and child.stderr is None:
                _sleep_until_exit(child, left_s)
                left_s = 0.0
            return child.communicate(words, left_s)
        except subprocess.TimeoutExpired as late:
            if until is not None and time.monotonic() >= until:
                late.timeout = timeout_s or 0.0
                raise
            words = None  # it was taken over by the first call


def _sleep_until_exit(child: subprocess.Popen[Any], limit_s: float) -> None:
    if not hasattr(os, "pidfd_open"):
        _wait([child], limit_s)
        return
    import select

    try:
        fd = os.pidfd_open(child.pid)
    except OSError:
        _wait([child], limit_s)
        return
    with closing(fd):
        select.select([fd], [], [], limit_s)
