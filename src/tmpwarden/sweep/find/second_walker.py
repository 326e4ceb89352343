"""A second walker: it measures the last units of a batch first, and the two meet in the middle.

Only for looks that end in no deed, or in one before which every unit is heard again, and for what lies in quarantine:
what it saw may be a second old.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
from collections.abc import Callable, Sequence
from operator import attrgetter

from ...model.sweep import Measure
from ...oskit.proc.forked import forked, reap
from ...oskit.proc.grip import Followed, can_follow

BATCH = 4096  # units that are known before the walking starts; the rest has not even been looked for
_LOOKS = 256  # into the pipe, for a batch
WORTH_A_FORK = 2000  # entries that one walker has seen
_LENGTH = 4
_FIELDS = Measure.__match_args__

Look = Callable[[], Measure | None]


class SecondWalker:
    """Works through a batch from its end, in a forked process. Ask for the units in order; None: not worth it."""

    def __init__(self, batch: Sequence[Look | None], gave_up: list[str]) -> None:
        """`gave_up` gets a sentence if it had to be ended."""
        self.batch = batch
        self._gave_up = gave_up
        self.delivered = 0
        self.pid = 0
        self._order = [number for number, look in enumerate(batch) if look][::-1]
        self._known: dict[int, Measure | None] = {}
        self._unread = b""
        self._followed: Followed | None = None
        self._pipe = -1
        self._is_decided = False
        self._seldom = 1 + len(batch) // _LOOKS  # units between two looks into the pipe

    def __enter__(self) -> SecondWalker:
        return self

    def __exit__(self, *_: object) -> None:
        if self._followed is None:
            return
        self._followed.end()
        self._followed.close()
        os.close(self._pipe)

    def set_out(self, number: int) -> None:
        """Begin, once a batch, if there is enough ahead and a core for it. A host with threads is not forked."""
        if self._is_decided:
            return
        self._is_decided = True
        self._order = [other for other in self._order if other > number]
        import threading  # most scans see too little for two

        if len(self._order) < 2 or threading.active_count() > 1 or not can_follow() or _cores() < 2:
            return
        try:
            self._pipe, writing = os.pipe()
        except OSError:  # no descriptor is left
            return
        try:
            self.pid = forked(lambda: self._walk(writing))
            self._follow(self.pid)
        except OSError:  # no process to be had
            os.close(self._pipe)
        finally:
            os.close(writing)

    def _follow(self, child: int) -> None:
        """Where it cannot be followed (a host has reaped it, or no descriptor is left) it ends with its pipe."""
        try:
            self._followed = Followed(child)
            os.set_blocking(self._pipe, False)
        except OSError:
            os.close(self._pipe)
            reap(child)

    def measure(self, number: int) -> Measure | None:
        """What the second walker saw of a unit, or None: then look yourself. Waits if it is there and gets on."""
        if self._followed is None or self.delivered == len(self._order):
            return self._known.pop(number, None) if self._known else None
        if number not in self._known and (number % self._seldom == 0 or self._is_at(number)):
            self._read()
        while self._is_at(number):
            if not self._followed.speaks(self._pipe):
                self._give_up(self._followed)
            elif not self._read_once():
                break
        return self._known.pop(number, None)

    def _give_up(self, walker: Followed) -> None:
        """From here on the first walks alone."""
        how = "was stopped by another process" if walker.is_stopped else "made no progress"
        self._gave_up.append(f"a helper process (pid {self.pid}) that measures files {how}: it was ended")
        walker.end()
        self._order = self._order[: self.delivered]

    def _is_at(self, number: int) -> bool:
        return self.delivered < len(self._order) and self._order[self.delivered] == number

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._read_once():
                pass

    def _read_once(self) -> bool:
        """Take in what has arrived; False at the end."""
        more = os.read(self._pipe, 1 << 16)
        arrived, at = self._unread + more, 0
        while at + _LENGTH <= len(arrived):
            begin = at + _LENGTH
            end = begin + int.from_bytes(arrived[at:begin], "little")
            if len(arrived) < end:
                break
            values = marshal.loads(arrived[begin:end])
            self._known[self._order[self.delivered]] = Measure(*values) if values else None
            self.delivered += 1
            at = end
        self._unread = arrived[at:]
        return bool(more)

    def _walk(self, writing: int) -> None:
        """The child: it looks and tells."""
        os.close(self._pipe)
        for name in ("SIGINT", "SIGTERM"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        values = attrgetter(*_FIELDS)
        for number in self._order:
            look = self.batch[number]
            seen = look() if look else None
            answer = marshal.dumps(values(seen) if seen else ())
            _write(writing, len(answer).to_bytes(_LENGTH, "little") + answer)


def _write(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
