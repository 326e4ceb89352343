"""End processes that were judged: each by a grip of its own, topmost first, TERM before KILL, no group signalled. And
the list of those that the brake has stopped, in a small file of the state directory."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence

from ..lazy_dataclass import dataclass
from ..model.processes import Ended, Orphan
from ..oskit import system
from ..oskit.files import state_file
from ..oskit.proc import namespaces, procs
from ..oskit.proc.grip import Grip, take_hold
from .census import Census

PATIENCE_S = 5.0


def end(doomed: Sequence[Orphan], *, tell: Callable[[Ended], None]) -> None:
    """`doomed`: judged a moment ago. A supervisor ends before what it would start again; what a doomed process started
    after it was judged ends with it."""
    census = Census.take()
    commands = {one.pid: one.command for one in doomed}
    held: dict[int, Grip] = {}
    for one in sorted(doomed, key=lambda one: len(census.ancestors(one.pid))):
        if (grip := take_hold(one.pid, one.start)) is None:
            tell(Ended(one.pid, one.command, "gone"))
        else:
            held[one.pid] = grip
    try:
        for pid in list(held):
            held[pid].send(signal.SIGTERM)
        _wait(held, PATIENCE_S)
        _hold_newborn(held, commands)
        slow = [pid for pid, grip in held.items() if not grip.has_ended()]
        for pid in slow:
            held[pid].send(signal.SIGKILL)
        _wait(held, PATIENCE_S)
        for pid, grip in held.items():
            outcome = "stayed" if not grip.has_ended() else "killed" if pid in slow else "ended"
            tell(Ended(pid, commands[pid], outcome))
    finally:
        for grip in held.values():
            grip.close()


def _hold_newborn(held: dict[int, Grip], commands: dict[int, str]) -> None:
    """Children that a doomed process started while it was being ended. One whose parent has ended already has been
    adopted, and is left to the next look: from here nothing proves whose it is."""
    census = Census.take()
    for pid in [pid for pid, grip in held.items() if not grip.has_ended()]:
        for child in census.descendants(pid):
            one = census.known.get(child)
            if child in held or one is None or one.has_terminal:
                continue
            if (grip := take_hold(child, one.start)) is not None:
                grip.send(signal.SIGTERM)
                held[child], commands[child] = grip, " ".join(one.arguments) or one.name


def _wait(held: dict[int, Grip], patience_s: float) -> None:
    until = time.monotonic() + patience_s
    for grip in held.values():
        grip.has_ended(within_s=max(0.0, until - time.monotonic()))


_NAME, _MOST_REMEMBERED = "stopped.json", 256


@dataclass(frozen=True, slots=True)
class Stopped:
    """A process that we stopped: it waits, and holds everything it had, until it goes on or ends."""

    pid: int
    start: int
    boot: str | None
    command: str
    path: str


def stopped() -> list[Stopped]:
    """Those we stopped that are still there, and still stopped."""
    try:
        entries = [Stopped(**entry) for entry in state_file.read(state_file.path(_NAME))]
    except TypeError:
        return []
    return [one for one in entries if one.boot == namespaces.boot_id() and _is_stopped(one)]


def _is_stopped(one: Stopped) -> bool:
    return procs.start_ticks(one.pid) == one.start and system.ending.progress(one.pid)[0]


def remember_stopped(entries: list[Stopped]) -> None:
    fields = [{name: getattr(one, name) for name in Stopped.__slots__} for one in entries[-_MOST_REMEMBERED:]]
    state_file.write(state_file.path(_NAME), fields)
