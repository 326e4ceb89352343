"""Ctrl-C and SIGTERM while something is being removed: the first one stops between two units, the second at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType


class Stop:
    """Which signal came first, if any. `wanted` is asked between two units."""

    def __init__(self) -> None:
        self.signal_number: int | None = None

    def wanted(self) -> bool:
        return self.signal_number is not None

    def note(self, number: int, _: FrameType | None) -> None:
        if self.signal_number is not None:
            raise KeyboardInterrupt
        self.signal_number = number


@contextlib.contextmanager
def stopping() -> Iterator[Stop]:
    stop = Stop()
    before = {number: signal.signal(number, stop.note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
