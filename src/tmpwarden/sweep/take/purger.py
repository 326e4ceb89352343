"""Give back the space of doomed units, in a forked worker where that pays, while the sweep goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

from ...errors import UnsafeScratch
from ...later import json, signal
from ...lazy_dataclass import dataclass, replace
from ...model.sweep import Measure, Receipt
from ...model.terms import Outcome
from ...oskit.files import purge
from ...oskit.files.descriptors import closing
from ...oskit.files.roll import Roll
from ...oskit.proc.forked import forked, reap
from ..store import quarantine

_WORTH_A_FORK = 2000  # entries
_TICKET = 4  # bytes


@dataclass(frozen=True, slots=True)
class Job:
    """Tokens of one receipt in one quarantine directory."""

    directory: str
    tokens: tuple[str, ...]
    receipt: Receipt
    measured: Measure | None = None  # of a single unit, a moment ago: saves a second look at every file
    roll: Roll | None = None  # and its names: saves listing it


@dataclass(slots=True)
class Purger:
    """At most one worker at a time: with two cores, one walks and one purges. Jobs are tickets in a pipe, from which
    both draw: whoever has nothing else to do takes the next."""

    _pid: int = 0
    _pipe: int = -1  # what the worker tells
    _tickets: int = -1
    _jobs: list[Job] | None = None

    @property
    def workers(self) -> frozenset[int]:
        return frozenset((self._pid,)) if self._jobs else frozenset()

    def submit(self, jobs: list[Job]) -> Iterator[Receipt]:
        """Start on `jobs`; yields the receipts of what was submitted before and is done now."""
        yield from self.finish()
        is_worth_it = sum(job.receipt.entries for job in jobs) >= _WORTH_A_FORK
        is_alone = threading.active_count() == 1  # a fork in a threaded host could inherit a held lock
        if not (is_worth_it and is_alone and self._fork(jobs)):
            yield from map(carried_out, jobs)

    def finish(self) -> Iterator[Receipt]:
        """Lend the worker a hand, and wait for it; what it began and did not come to an end with is done here."""
        if not self._jobs:
            return
        jobs, self._jobs = self._jobs, None
        left = dict(enumerate(jobs))
        for number in _drawn(self._tickets):
            yield carried_out(left.pop(number))
        os.close(self._tickets)
        with open(self._pipe, "rb") as pipe:
            lines = pipe.read().splitlines()
        reap(self._pid)
        for line in lines:
            number, freed, entries, failed = json.loads(line)
            yield _receipt(left.pop(number), freed, entries, failed)
        yield from map(carried_out, left.values())

    def _fork(self, jobs: list[Job]) -> bool:
        """False where no process or no pipe is to be had."""
        ends: list[int] = []
        try:
            ends += os.pipe()
            ends += os.pipe()
            reading, writing, tickets, _ = ends
            _deal(ends.pop(), len(jobs))  # and closed: who draws the last ticket must see that it was the last
            self._pid = forked(lambda: _work(jobs, tickets, reading, writing))
        except OSError:
            for end in ends:
                os.close(end)
            return False
        os.close(writing)
        self._pipe, self._tickets, self._jobs = reading, tickets, jobs
        return True


def _deal(pipe: int, count: int) -> None:
    """Raises OSError where they do not fit: the pipes of a user who has many are small."""
    text = b"".join(number.to_bytes(_TICKET, "little") for number in range(count))
    with closing(pipe):
        os.set_blocking(pipe, False)
        if os.write(pipe, text) < len(text):
            raise BlockingIOError


def _drawn(tickets: int) -> Iterator[int]:
    """A pipe gives each ticket to one of those who read from it."""
    while ticket := os.read(tickets, _TICKET):
        yield int.from_bytes(ticket, "little")


def _work(jobs: list[Job], tickets: int, reading: int, writing: int) -> None:
    """The worker: Ctrl-C is for the parent, which then waits for what is already doomed."""
    os.close(reading)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number in _drawn(tickets):
        os.write(writing, json.dumps((number, *_destroy(jobs[number]))).encode() + b"\n")


def carried_out(job: Job) -> Receipt:
    return _receipt(job, *_destroy(job))


def _destroy(job: Job) -> tuple[int, int, str]:
    freed, entries, failed = 0, 0, ""
    try:
        fd = quarantine.opened(job.directory)
    except (OSError, UnsafeScratch) as error:
        return 0, 0, str(error)
    with closing(fd):
        for token in job.tokens:
            purged = purge.purge(fd, token, measured=job.measured, roll=job.roll)
            freed += purged.freed_bytes
            entries += purged.entries
            if purged.failed and not failed:
                failed = ": ".join(purged.failed[0])
    return freed, entries, failed


def _receipt(job: Job, freed: int, entries: int, failed: str) -> Receipt:
    if failed:
        detail = f"{failed}; the rest of it is in {job.directory}/{job.tokens[0]}"
        return replace(job.receipt, outcome=Outcome.FAILED, freed_bytes=freed, entries=entries, detail=detail)
    return replace(job.receipt, freed_bytes=freed, entries=entries)
