"""Signals between a terminal, a wrapper and the command it runs: the command gets what it would have got without us."""

from __future__ import annotations

import os
import signal

# What a terminal sends to its whole foreground group: the command has it already, unless somebody sent it to us alone.
_OF_THE_TERMINAL = ("SIGINT", "SIGQUIT", "SIGTSTP", "SIGHUP", "SIGWINCH", "SIGCONT")
_OF_SENDERS = ("SIGTERM", "SIGUSR1", "SIGUSR2", "SIGALRM")
_INIT = 1
_IGNORED_BY_PYTHON = ("SIGPIPE", "SIGXFSZ")  # an ignored signal stays ignored through exec


class Signals:
    """While it is entered they wait in a queue, so that none is lost between fork and wait. For the main thread."""

    def __init__(self) -> None:
        names = ("SIGCHLD", *_OF_THE_TERMINAL, *_OF_SENDERS)
        self._wanted = {getattr(signal, name) for name in names if hasattr(signal, name)}
        self._mask: set[int] = set()
        self._handlers: dict[int, object] = {}

    def __enter__(self) -> Signals:
        self._mask = set(signal.pthread_sigmask(signal.SIG_BLOCK, self._wanted))
        for number in self._wanted:  # without a handler some systems drop what is ignored by default
            if signal.getsignal(number) is not signal.SIG_IGN or number == signal.SIGCHLD:
                self._handlers[number] = signal.signal(number, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def restore(self) -> None:
        """In the child, right before exec: handlers go by themselves, what is ignored or blocked would stay so."""
        for name in _IGNORED_BY_PYTHON:
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        if self._handlers.get(signal.SIGCHLD) is signal.SIG_IGN:
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def wait_for(self, child: int) -> int:
        """The wait status with which `child` ended. Till then it gets what is sent to us, and we stop when it stops."""
        while True:
            number, is_news = self._next(child)
            if number != signal.SIGCHLD:
                if is_news:
                    _send(child, number)
                continue
            found, status = _waited_for(child)
            if found and os.WIFSTOPPED(status):
                if os.getpid() == _INIT:
                    continue  # nobody can stop us, and whoever stopped the command lets it go on
                os.kill(os.getpid(), signal.SIGSTOP)  # the shell sees one job: it stops with its command
                _send(child, signal.SIGCONT)
            elif found:
                return status

    def _next(self, child: int) -> tuple[int, bool]:
        """The next signal, and whether the command has not got it yet."""
        if not hasattr(signal, "sigwaitinfo"):
            number = signal.sigwait(self._wanted)
            return number, number not in {getattr(signal, name) for name in _OF_THE_TERMINAL}
        found = signal.sigwaitinfo(self._wanted)
        return found.si_signo, found.si_code <= 0 and found.si_pid != child  # above 0: the kernel sent it, to the group


def _waited_for(child: int) -> tuple[int, int]:
    """News of the command, (0, 0) if there is none. As pid 1 of a container, every orphan there is ours to bury."""
    if os.getpid() != _INIT:
        return os.waitpid(child, os.WUNTRACED | os.WNOHANG)
    news = 0, 0
    while True:
        try:
            found, status = os.waitpid(-1, os.WUNTRACED | os.WNOHANG)
        except ChildProcessError:
            return news
        if found == child:
            news = found, status
        if not found:
            return news


def _send(child: int, number: int) -> None:
    try:
        os.kill(child, number)
    except ProcessLookupError:
        return
