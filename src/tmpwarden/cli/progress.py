"""Long work: the line on stderr that tells how far it is, and how Ctrl-C and SIGTERM stop it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from .call import Terminated

COUNTING_S = 1.0  # what a person who watches waits for a total
_QUIET_S = 0.5  # quick work shows nothing
_EVERY_S = 0.1


class Progress:
    """Only on a terminal, only after a moment, gone at the end."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.is_shown = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + _QUIET_S
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def tell(self, words: str) -> None:
        """Cheap when it is not yet time: callers tell after every unit."""
        if not self.is_shown or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY_S
        words = _fitted(words, os.get_terminal_size(sys.stderr.fileno()).columns - 1)
        sys.stderr.write(f"\r{words.ljust(self._width)}")
        sys.stderr.flush()
        self._width = max(self._width, len(words))

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


def _fitted(words: str, room: int) -> str:
    """A line that wraps is no longer one line: what is told last goes first. None: nobody knows how much."""
    while len(words) > room > 0 and ", " in words:
        words = f"{words.rpartition(', ')[0]} ..."
    return words[:room] if room > 0 else words


class Stop:
    """Which signal came first, if any. `wanted` is asked between two units.

    While nothing is under way (a preview, a list, a question) the first Ctrl-C ends it at once.
    """

    def __init__(self, *, is_removing: bool = False) -> None:
        self.signal_number: int | None = None
        self.is_removing = is_removing

    def wanted(self) -> bool:
        return self.signal_number is not None

    def number(self) -> int:
        """The signal to pass on to a child, 0 for none."""
        return self.signal_number or 0

    def note(self, number: int, _: FrameType | None) -> None:
        is_second, self.signal_number = self.signal_number is not None, self.signal_number or number
        if is_second or not self.is_removing:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


@contextlib.contextmanager
def stopping(*, is_removing: bool) -> Iterator[Stop]:
    """While something is being removed the first signal stops between two units, the second at once."""
    stop = Stop(is_removing=is_removing)
    before = {number: signal.signal(number, stop.note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
