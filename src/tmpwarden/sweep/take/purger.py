"""Give back the space of doomed units, in a forked worker where that pays, while the sweep was resumed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
from collections.abc import Iterator

from ...errors import UnsafeScratch
from ...lazy_dataclass import dataclass, field, replace
from ...model.answers import Users
from ...model.sweep import Measure, Receipt, Remove
from ...model.terms import Outcome
from ...oskit.files import purge
from ...oskit.files.doomed import judged
from ...oskit.files.opening import closing
from ...oskit.files.roll import Roll
from ...oskit.proc.forked import forked, reap
from ...oskit.proc.grip import Followed, can_follow
from ..store import quarantine
from .taking import Deed

_WORTH_A_FORK = 2000  # entries
_TICKET = 4  # bytes
_HANGS = "its file system does not respond; the next clean continues"


@dataclass(frozen=True, slots=True)
class Job:
    """Tokens of one receipt in one quarantine directory."""

    directory: str
    tokens: tuple[str, ...]
    receipt: Receipt
    verdict: Remove
    users: Users  # who uses it, by the last look
    born_ns: int | None = None  # its birth, when it was taken
    measured: Measure | None = None  # of a single unit, a moment ago: saves a second look at every file
    roll: Roll | None = None  # and its names: saves listing it


def job_of(deed: Deed, receipt: Receipt, measured: Measure | None) -> Job:
    """To destroy what a deed still holds."""
    return Job(
        directory=deed.directory,
        tokens=tuple(deed.names),
        receipt=receipt,
        verdict=deed.verdict,
        users=deed.users,
        born_ns=deed.born_ns,
        measured=measured,
        roll=deed.roll,
    )


@dataclass(slots=True)
class Purger:
    """At most one worker at a time: with two cores, one walks and one purges. Jobs are tickets in a pipe, from which
    both draw: the one that has nothing else to do takes the next."""

    gave_up: list[str] = field(default_factory=list)  # what has to be told of workers that were ended
    _pid: int = 0
    _followed: Followed | None = None
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
        # a worker that dies after its draw never reports that ticket, so the job stays in `left` and is done here
        left = dict(enumerate(jobs))
        for number in _draw(self._tickets):
            yield carried_out(left.pop(number))
        os.close(self._tickets)
        lines, hangs = self._lines()
        for line in lines:
            number, freed, entries, failed = json.loads(line)
            yield _receipt(left.pop(number), freed, entries, failed)
        # what hangs there would hang here; what was stopped, or died, goes on here
        yield from (_receipt(job, 0, 0, _HANGS) if hangs else carried_out(job) for job in left.values())

    def _lines(self) -> tuple[list[bytes], bool]:
        """What the worker told until its end; and whether it hangs, and what it was at had better be left alone."""
        received, hangs = b"", False
        with closing(self._pipe):
            while self._followed is None or self._followed.speaks(self._pipe):
                more = os.read(self._pipe, 1 << 16)
                if not more:
                    break
                received += more
            else:
                hangs = self._end(self._followed)
                # what it said before it was ended still counts, but nobody waits for more
                os.set_blocking(self._pipe, False)
                with contextlib.suppress(BlockingIOError):
                    received += os.read(self._pipe, 1 << 20)
        if self._followed is None:
            reap(self._pid)
        else:
            hangs = not self._followed.end() or hangs
            self._followed.close()
        # a worker that was killed may have written half a line: that job counts as not done
        return [line for line in received.splitlines(keepends=True) if line.endswith(b"\n")], hangs

    def _end(self, worker: Followed) -> bool:
        """Whether it hung. One that somebody stopped is told and its work was resumed."""
        was_stopped = worker.is_stopped
        has_ended = worker.end()
        how = "was stopped by another process" if was_stopped else "made no progress"
        end = "it was ended" if has_ended else "it cannot be ended"
        self.gave_up.append(f"a helper process (pid {worker.pid}) that removes files {how}: {end}")
        return not (was_stopped and has_ended)

    def _fork(self, jobs: list[Job]) -> bool:
        """False where no process or no pipe is to be had."""
        ends: list[int] = []
        try:
            ends += os.pipe()
            ends += os.pipe()
            reading, writing, tickets, _ = ends
            _deal(ends.pop(), len(jobs))  # and closed: who draws the last ticket must see that it was the last
            self._pid = forked(lambda: _work(jobs, tickets, reading, writing))
            self._followed = _follow(self._pid)
        except OSError:
            for end in ends:
                os.close(end)
            return False
        os.close(writing)
        self._pipe, self._tickets, self._jobs = reading, tickets, jobs
        return True


def _follow(child: int) -> Followed | None:
    """None where it cannot be followed: then it is waited for as any child."""
    try:
        return Followed(child) if can_follow() else None
    except OSError:
        return None


def _deal(pipe: int, count: int) -> None:
    """Raises OSError where they do not fit: the pipes of a user who has many are small."""
    text = b"".join(number.to_bytes(_TICKET, "little") for number in range(count))
    with closing(pipe):
        os.set_blocking(pipe, False)
        if os.write(pipe, text) < len(text):
            raise BlockingIOError


def _draw(tickets: int) -> Iterator[int]:
    """A pipe gives each ticket to one of those who read from it."""
    while ticket := os.read(tickets, _TICKET):
        yield int.from_bytes(ticket, "little")


def _work(jobs: list[Job], tickets: int, reading: int, writing: int) -> None:
    """The worker: Ctrl-C is for the parent, which then waits for what is already doomed."""
    os.close(reading)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number in _draw(tickets):
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
            try:
                with judged(fd, token, job.verdict, job.users, born_ns=job.born_ns) as doomed:
                    purged = purge.purge(doomed, measured=job.measured, roll=job.roll)
            except FileNotFoundError:
                continue
            except OSError as error:
                failed = failed or error.strerror or str(error)
                continue
            freed += purged.freed_bytes
            entries += purged.entries
            if purged.failed and not failed:
                failed = ": ".join(purged.failed[0])
    return freed, entries, failed


def _receipt(job: Job, freed: int, entries: int, failed: str) -> Receipt:
    if failed:
        detail = f"{failed}; the rest is in {job.directory}/{job.tokens[0]}"
        return replace(job.receipt, outcome=Outcome.FAILED, freed_bytes=freed, entries=entries, detail=detail)
    return replace(job.receipt, freed_bytes=freed, entries=entries)
