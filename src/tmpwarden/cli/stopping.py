"""Ctrl-C and SIGTERM while something is being removed: the first one stops between two units, the second at once."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from .call import Terminated


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
    stop = Stop(is_removing=is_removing)
    before = {number: signal.signal(number, stop.note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
