"""One line on stderr that tells how far long work is. Only on a terminal, only after a moment, gone at the end."""

from __future__ import annotations

import os
import sys
import time

COUNTING_S = 1.0  # what a person who watches waits for a total
_QUIET_S = 0.5  # quick work shows nothing
_EVERY_S = 0.1


class Progress:
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
