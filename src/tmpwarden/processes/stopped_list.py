"""The processes that the brake has stopped and that nobody has let go on: a small file in the state directory."""

from __future__ import annotations

from ..lazy_dataclass import dataclass
from ..oskit.files import state_file
from ..oskit.proc import namespaces, procs
from ..small_files import stat_fields

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
    return procs.start_ticks(one.pid) == one.start and stat_fields(one.pid)[:1] in ([b"T"], [b"t"])


def remember(entries: list[Stopped]) -> None:
    fields = [{name: getattr(one, name) for name in Stopped.__slots__} for one in entries[-_MOST_REMEMBERED:]]
    state_file.write(state_file.path(_NAME), fields)
