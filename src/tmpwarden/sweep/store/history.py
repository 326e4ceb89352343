"""How full each temp root was: a line an hour, written by any clean, tick or end of a session. Rotated, bounded."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from ...lazy_dataclass import dataclass
from ...model.sweep import Remove, Space
from ...oskit.files import atomic, own_files, places, walk
from ...oskit.files.opening import closing
from ...small_json import dumps
from ...text import about, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


NAME = "usage.jsonl"
_ROTATE_BYTES, _GENERATIONS = 512 << 10, 2  # half a year of one root, and never more than 1.5 MB
_LATELY_BYTES = 64 << 10  # holds more than a day, however many roots
_HOUR_NS = 3600 * 10**9
_MOST_BYTES = 1 << 62


@dataclass(frozen=True, slots=True)
class Level:
    """How much of one thing was used, and how much was left."""

    used: int
    free: int


@dataclass(frozen=True, slots=True)
class Usage:
    """One root at one moment. Inodes are 0 and 0 where the file system does not count them."""

    bytes: Level
    inodes: Level
    quota: Level | None = None  # the user's, in bytes, where there is one


@dataclass(frozen=True, slots=True)
class Moment:
    at_ns: int
    by: str  # "clean", "tick" or "session-end"
    roots: Mapping[str, Usage]
    freed_bytes: int  # by us, in all, up to then
    freed_entries: int


def usage(space: Space) -> Usage:
    quota = None
    if space.quota_bytes and space.quota_used is not None:
        quota = Level(space.quota_used, max(0, space.quota_bytes - space.quota_used))
    return Usage(Level(space.bytes_used, space.bytes_free), Level(space.inodes_used, space.inodes_free), quota)


def note(state: str, moment: Moment) -> bool:
    """Add a line with the roots that have none in this hour of the clock; False if they all have, or it cannot be.

    The caller holds the books (`books.py`): two at once would both see no line."""
    missing_roots = set(without_a_line(state, moment.roots, moment.at_ns))
    roots = {root: seen for root, seen in moment.roots.items() if root in missing_roots}
    if not roots:
        return False
    path = f"{state}/{NAME}"
    try:
        own_files.rotate_from(path, _ROTATE_BYTES, keep=_GENERATIONS)
        atomic.append_line(path, dumps(_line(moment, roots), compact=True))
    except OSError:
        return False  # a full disk: an hour is missing
    return True


def without_a_line(state: str, roots: Iterable[str], at_ns: int) -> list[str]:
    """Those of which this hour of the clock has none yet. Looks back no further than that."""
    noted_roots: set[str] = set()
    for line in reversed(list(_lines(state, lately=True))):
        moment = _decoded(line)
        if moment is not None and moment.at_ns // _HOUR_NS != at_ns // _HOUR_NS:
            break
        noted_roots.update(moment.roots if moment is not None else ())
    return [root for root in roots if root not in noted_roots]


def read(state: str, *, lately: bool = False) -> list[Moment]:
    """Every readable line, oldest first; `lately`: at least those of the last day, at a price that does not grow."""
    return [moment for line in _lines(state, lately) if (moment := _decoded(line)) is not None]


def _lines(state: str, lately: bool) -> Iterator[str]:
    blocks: list[bytes] = []
    left = _LATELY_BYTES if lately else _MOST_BYTES
    for name in reversed(own_files.names(f"{state}/{NAME}", keep=_GENERATIONS)):
        block = _end_of(name, left)
        blocks.append(block)
        left -= len(block)
        if left <= 0:
            break
    for block in reversed(blocks):
        yield from block.decode("utf-8", "replace").splitlines()


def _end_of(name: str, most_bytes: int) -> bytes:
    """The last whole lines of a file; the first of what was cut off is no line, and no decoder takes it for one."""
    try:
        with open(name, "rb", opener=atomic.at_once) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - most_bytes))
            return file.read(2 * _ROTATE_BYTES)
    except OSError:
        return b""


def _line(moment: Moment, roots: Mapping[str, Usage]) -> dict[str, object]:
    return {
        "at_s": moment.at_ns // 10**9,
        "by": moment.by,
        "roots": {root: _levels(seen) for root, seen in roots.items()},
        "freed": [moment.freed_bytes, moment.freed_entries],
    }


def _levels(seen: Usage) -> dict[str, list[int]]:
    levels = {"bytes": seen.bytes, "inodes": seen.inodes} | ({"quota": seen.quota} if seen.quota else {})
    return {name: [level.used, level.free] for name, level in levels.items()}


def _decoded(line: str) -> Moment | None:
    """None for a torn or alien line: somebody's editor must stop no later run."""
    try:
        entry = json.loads(line)
        at_s = _count(entry["at_s"])
        roots = {str(root): _usage(levels) for root, levels in entry["roots"].items()}
        freed = _level(entry["freed"])
        return Moment(at_s * 10**9, str(entry["by"]), roots, freed.used, freed.free)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None


def _usage(levels: Mapping[str, Any]) -> Usage:
    quota = levels.get("quota")
    return Usage(_level(levels["bytes"]), _level(levels["inodes"]), None if quota is None else _level(quota))


def _level(pair: Iterable[object]) -> Level:
    used, free = pair
    return Level(_count(used), _count(free))


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_BYTES:
        raise ValueError("no count")
    return value


# Where a temp root is heading: how fast it fills, when it would be full. Pure: from the history and this moment.

_WINDOWS_NS = (3 * _HOUR_NS, 24 * _HOUR_NS)  # what began lately, and what goes on all day
_LEAST_POINTS = 3  # two lines and now: one step alone is no direction
_MOST_POINTS = 64
_NOTHING = 0.01  # of the whole, in a day: less is no growth
_FARTHEST_S = 7 * 86400.0  # nobody knows what will be in a week


@dataclass(frozen=True, slots=True)
class Growing:
    """`full_in_s` None: not within a week."""

    what: str  # "bytes", "inodes" or "quota": what runs out first
    per_hour: float
    full_in_s: float | None
    over_s: float  # the time that was looked back at


@dataclass(frozen=True, slots=True)
class Steady:
    """It stays as it is, or gets emptier."""


@dataclass(frozen=True, slots=True)
class TooFew:
    """Not known yet: the history is too short."""


Trend = Growing | Steady | TooFew


def trend(history: Iterable[Moment], root: str, now: Usage, now_ns: int) -> Trend:
    """By the median of all slopes between two moments: neither one big build nor one clean makes a direction."""
    seen = [(each.at_ns, each.roots[root]) for each in history if root in each.roots]
    kinds: list[Growing | Steady] = []
    for window_ns in _WINDOWS_NS:
        points = [(at_ns, used) for at_ns, used in seen if now_ns - window_ns <= at_ns < now_ns][-_MOST_POINTS:]
        if len(points) + 1 >= _LEAST_POINTS and now_ns - points[0][0] >= _HOUR_NS:
            kinds += _by_kind([*points, (now_ns, now)])
    growing = [each for each in kinds if isinstance(each, Growing)]
    if not growing:
        return Steady() if kinds else TooFew()
    return min(growing, key=lambda each: (each.full_in_s is None, each.full_in_s or 0.0, -each.over_s))


def trends(history: Sequence[Moment], spaces: Iterable[Space], now_ns: int) -> tuple[Trend, ...]:
    return tuple(trend(history, space.path, usage(space), now_ns) for space in spaces)


def sentence(trend_: Trend) -> str:
    """`grows by 1.2 GB an hour, full in about 9 h`; nothing to say is nothing."""
    match trend_:
        case Growing(what, per_hour, full_in_s):
            amount = f"{per_hour:,.0f} inodes" if what == "inodes" else size(round(per_hour))
            end = {"bytes": "full", "inodes": "out of inodes", "quota": "at your quota"}[what]
            when = "" if full_in_s is None else f", {end} in about {about(full_in_s)}"
            return f"grows by {amount} an hour{when}"
        case Steady() | TooFew():
            return ""


def _by_kind(points: Sequence[tuple[int, Usage]]) -> Iterable[Growing | Steady]:
    yield _of("bytes", [(at_ns, seen.bytes) for at_ns, seen in points])
    yield _of("inodes", [(at_ns, seen.inodes) for at_ns, seen in points])
    yield _of("quota", [(at_ns, seen.quota) for at_ns, seen in points if seen.quota])


def _median(values: list[float]) -> float:
    """The statistics module would cost each status more than all the rest."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _of(what: str, points: Sequence[tuple[int, Level]]) -> Growing | Steady:
    if len(points) < _LEAST_POINTS:
        return Steady()
    slopes = [(b.used - a.used) / (b_ns - a_ns) for (a_ns, a), (b_ns, b) in combinations(points, 2) if b_ns > a_ns]
    per_hour = _median(slopes) * _HOUR_NS if slopes else 0.0
    now = points[-1][1]
    if per_hour <= 0 or per_hour * 24 < _NOTHING * (now.used + now.free):
        return Steady()
    full_in_s = now.free / per_hour * 3600
    over_s = (points[-1][0] - points[0][0]) / 1e9
    return Growing(what, per_hour, full_in_s if full_in_s <= _FARTHEST_S else None, over_s)


# What an observing hook would have removed, and whether anybody has used it since: would it have been wrong?

KIND = "observed"  # in the journal
_NAMED = 50  # of a swarm: hooks may see the same one every minute


def fields(verdict: Remove) -> dict[str, object]:
    """One line for `Journal.note`."""
    finding, measure = verdict.finding, verdict.evidence.measure
    fields_: dict[str, object] = {"path": finding.path, "row": finding.litter.key, "reason": verdict.reason.value}
    if finding.members:
        fields_ |= {"count": len(finding.members), "names": list(finding.members[:_NAMED])}
    return fields_ | ({"newest_ns": measure.newest_ns} if measure is not None else {})


def distinct(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each thing as it was first seen; hooks see it again until it is gone."""
    unique: dict[tuple[object, ...], dict[str, Any]] = {}
    for entry in entries:
        if entry.get("t") == KIND:
            unique.setdefault((entry.get("path"), entry.get("row"), *(entry.get("names") or ())), entry)
    return list(unique.values())


def was_used_since(entry: dict[str, Any]) -> bool | None:
    """Whether anything of it has been written or read since; None: not measured. What is gone is not in use."""
    then_ns = entry.get("newest_ns")
    if not isinstance(then_ns, int):
        return None
    return any(newest_ns > then_ns for newest_ns in _newest(str(entry.get("path")), entry.get("names") or ()))


def _newest(path: str, names: Iterable[object]) -> Iterator[int]:
    parent, names_ = (path, [str(name) for name in names]) if names else os.path.split(path.rstrip("/"))
    try:
        directory = walk.open_dir(parent)
    except OSError:
        return
    with closing(directory):
        for name in [names_] if isinstance(names_, str) else names_:
            measured = walk.measure(directory, name, uid=places.uid(), count_atime=True)
            if measured is not None:
                yield measured.newest_ns
