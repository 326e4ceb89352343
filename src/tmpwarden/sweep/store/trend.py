"""Where a temp root is heading: how fast it fills, when it would be full. Pure: from the history and this moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from ...lazy_dataclass import dataclass
from ...model.sweep import Space
from ...text import about, size
from .history import Level, Moment, Usage, usage

_HOUR_NS = 3600 * 10**9
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
    found: list[Growing | Steady] = []
    for window_ns in _WINDOWS_NS:
        points = [(at_ns, used) for at_ns, used in seen if now_ns - window_ns <= at_ns < now_ns][-_MOST_POINTS:]
        if len(points) + 1 >= _LEAST_POINTS and now_ns - points[0][0] >= _HOUR_NS:
            found += _by_kind([*points, (now_ns, now)])
    growing = [each for each in found if isinstance(each, Growing)]
    if not growing:
        return Steady() if found else TooFew()
    return min(growing, key=lambda each: (each.full_in_s is None, each.full_in_s or 0.0, -each.over_s))


def trends(history: Sequence[Moment], spaces: Iterable[Space], now_ns: int) -> tuple[Trend, ...]:
    return tuple(trend(history, space.path, usage(space), now_ns) for space in spaces)


def sentence(found: Trend) -> str:
    """`grows by 1.2 GB an hour, full in about 9 h`; nothing to say is nothing."""
    match found:
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
