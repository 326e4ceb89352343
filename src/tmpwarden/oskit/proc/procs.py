"""Processes, one by one. Light enough for the hot path: hooks ask here who their agent is."""

from __future__ import annotations

import os

from .. import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .vitals import Vitals


class Process:
    """One process: what everybody may know about it."""

    __slots__ = ("command", "is_exiting", "is_kernel_thread", "parent", "pid", "start", "threads")

    def __init__(
        self,
        pid: int,
        parent: int,
        start: int,
        command: str,
        *,
        is_kernel_thread: bool = False,
        is_exiting: bool = False,
        threads: int = 1,
    ) -> None:
        self.pid = pid
        self.parent = parent
        # with the pid, the identity of a process within one boot: clock ticks after boot on Linux, macOS' unique id
        self.start = start
        self.command = command  # the kernel's 15 bytes; anything may be in there
        self.is_kernel_thread = is_kernel_thread
        self.is_exiting = is_exiting  # its first thread
        self.threads = threads  # how many; those that have ended count until they are reaped


ENDED = (FileNotFoundError, ProcessLookupError)  # of all errors only these mean that a process is no more


def living(pid: int) -> Process | None:
    """That process now, or None if it has ended (as a zombie has: it holds nothing). Raises OSError: not measured."""
    return system.processes.living(pid)


def is_ending(pid: int) -> bool:
    """Whether it has ended or runs no program any more. Its memory goes first, and until all of it is gone even its own
    user is refused, as by one that hides. Raises OSError: not measured."""
    process_ = living(pid)
    return process_ is None or (process_.is_exiting and process_.threads <= 1)


def process(pid: int) -> Process | None:
    """The same where a doubt does no harm: None too where it could not be measured."""
    try:
        return living(pid)
    except (OSError, ValueError):
        return None


def other_threads(pid: int) -> list[int]:
    """All threads of a process but its first; none if it has ended. Raises OSError: not measured."""
    return system.processes.other_threads(pid)


def start_ticks(pid: int) -> int | None:
    """What tells it from others with this number (Process.start), or None if there is no such process."""
    process_ = process(pid)
    return process_.start if process_ else None


def pids() -> list[int]:
    """Every process number. Raises OSError: not measured."""
    return system.processes.pids()


def processes() -> dict[int, Process] | None:
    """Every process by number, or None where they cannot be listed. One that ends meanwhile is left out."""
    try:
        numbers = pids()
    except OSError:
        return None
    return {pid: process_ for pid in numbers if (process_ := process(pid))}


def owner_of(pid: int) -> int | None:
    """The effective uid, None if it has ended. Raises OSError: not measured."""
    return system.processes.owner_of(pid)


def may_be_ours(pid: int) -> bool:
    """Whether it runs as this user, or that could not be measured."""
    try:
        return owner_of(pid) == os.geteuid()
    except OSError:
        return True


def numbers_below(pid: int) -> tuple[int, ...] | None:
    """What it is called in pid namespaces below ours; None if it has ended. Raises OSError: not measured."""
    return system.processes.numbers_below(pid)


def arguments(pid: int) -> tuple[bytes, ...]:
    """Its command line; empty for kernel threads. Raises OSError."""
    return system.processes.arguments(pid)


def environment(thread: int) -> bytes:
    """What it was started with. Raises one of ENDED where the thread has none any more; OSError: not measured."""
    return system.processes.environment(thread)


def described(pid: int, process_: Process | None = None) -> str | None:
    """What to call it before people: the program it runs, else the kernel's name for it. Not escaped."""
    try:
        words = arguments(pid)
    except (OSError, ValueError):
        words = ()
    if words and (name := words[0].rsplit(b"/", 1)[-1]):
        return os.fsdecode(name)
    process_ = process_ or process(pid)
    return process_.command if process_ else None


def ancestors(pid: int, known: Mapping[int, Process | Vitals]) -> list[int]:
    """Parent, grandparent and so on, as far as they still live."""
    line: list[int] = []
    while (process_ := known.get(pid)) is not None and process_.parent > 0 and process_.parent not in line:
        pid = process_.parent
        line.append(pid)
    return line


def cgroup(pid: int) -> str | None:
    """Where the process is accounted for, or None where that cannot be read."""
    return system.processes.cgroup(pid)


def boot_time_s() -> float | None:
    """When this kernel started, by the clock of now."""
    return system.processes.boot_time_s()


def started_s(pid: int, start: int) -> float | None:
    """When it started, by the clock of now."""
    return system.processes.started_s(pid, start)
