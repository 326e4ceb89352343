"""A root that runs out of room is relieved where that happens: at a session's end, at the next one's start, at a tick.

What to tell of it waits for the next session that starts: the session that filled the root has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..catalogue.settings import Settings
from ..errors import TmpwardenError
from ..lazy_dataclass import dataclass
from ..model.sweep import Space
from ..oskit.files import places, space
from ..oskit.proc.reach import Reach
from ..sweep.prepared import CleanResult
from ..text import plural, shown, size


@dataclass(frozen=True, slots=True)
class Shortage:
    """A root of which `percent` are used up, and what of."""

    percent: int
    of: str  # "bytes", "inodes", or whose limit it is: "your quota"

    @classmethod
    def of_space(cls, room: Space) -> Shortage:
        quota = space.percent_of_quota(room) or 0
        levels = (("bytes", space.percent_of_bytes(room)), ("inodes", space.percent_of_inodes(room)))
        of, percent = max((*levels, (room.quota_of, quota)), key=lambda level: level[1])
        return cls(percent, of)

    @property
    def words(self) -> str:
        """After "is" or "was"."""
        return f"{self.percent}% full" if self.of == "bytes" else f"at {self.percent}% of {self._whose}"

    @property
    def _whose(self) -> str:
        return "its inodes" if self.of == "inodes" else self.of


def shortages(settings: Settings) -> dict[str, Shortage]:
    """The temp roots from `[pressure] high` on, one of each file system."""
    result: dict[str, Shortage] = {}
    seen: set[tuple[str, Shortage]] = set()
    for room in _spaces():
        shortage = Shortage.of_space(room)
        if shortage.percent >= settings.pressure_high_percent and (room.mount_point, shortage) not in seen:
            seen.add((room.mount_point, shortage))
            result[room.path] = shortage
    return result


def _spaces() -> Iterable[Space]:
    reach = Reach.now()
    try:
        roots = places.temp_roots()
    except TmpwardenError:  # an unsafe root: the command that wants to use it says so
        return
    for root in roots:
        try:
            if reach.frozen(root) is None:
                yield space.space_of(root)
        except OSError:
            continue


def sentence(before: Mapping[str, Shortage], result: CleanResult, held_back: str, settings: Settings) -> str:
    """What was done about each of these roots, or what a person has to do. "": nothing was short."""
    now = {room.path: Shortage.of_space(room) for room in _spaces() if room.path in before}
    return "; ".join(
        _of_root(root, was, now=now.get(root, was), result=result, held_back=held_back, settings=settings)
        for root, was in before.items()
    )


def _of_root(root: str, was: Shortage, now: Shortage, result: CleanResult, held_back: str, settings: Settings) -> str:
    freed = size(result.freed_bytes) if was.of != "inodes" else plural(result.freed_entries, "file")
    has_freed = result.freed_bytes if was.of != "inodes" else result.freed_entries
    if now.percent < settings.pressure_high_percent:
        by_whom = f"removed {freed} of ended sessions for good" if has_freed else "it has room again"
        return f"{shown(root)} was {was.words}: {by_whom}, now {now.percent}%"
    after_removal = f" after {freed} were removed" if has_freed else ""
    what = held_back or "nothing else of ended sessions can be removed; `tmpwarden doctor` says what fills it"
    return f"{shown(root)} is {now.words}{after_removal}: {what}"
