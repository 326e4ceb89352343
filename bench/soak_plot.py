"""The soak as a picture and a page: usage over ten days, one line per way to live. Plain SVG, written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.soak import Result

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 820, 380, 56, 24, 16, 48
_LINES = {  # colour, dash and words: no meaning by colour alone
    "nothing": ("#c0392b", "", "without tmpwarden"),
    "hourly": ("#1f6fb2", "", "hourly clean"),
    "hooks": ("#2e7d32", "6 3", "hooks alone"),
}


def plot(results: Sequence[Result]) -> str:
    days = max(len(result.percents) for result in results) / 48
    body = [*_axes(int(days)), *_limits(), *(_line(result) for result in results), *_legend(results)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12" role="img">\n<title>How full the temp directory is over eleven days</title>\n'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(percent: float) -> float:
    return _HEIGHT - _BOTTOM - percent / 100 * (_HEIGHT - _TOP - _BOTTOM)


def _axes(days: int) -> Iterable[str]:
    for percent in range(0, 101, 20):
        yield _across(percent, 'stroke="#dddddd"')
        yield f'<text x="{_LEFT - 8}" y="{_y(percent) + 4:.1f}" text-anchor="end">{percent} %</text>'
    for day in range(days + 1):
        yield f'<text x="{_x(day / days):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{day}</text>'
    yield f'<text x="{_x(0.5):.1f}" y="{_HEIGHT - 10}" text-anchor="middle">days</text>'


def _limits() -> Iterable[str]:
    return [_across(percent, 'stroke="#888888" stroke-dasharray="2 4"') for percent in (50, 80)]


def _across(percent: float, stroke: str) -> str:
    return f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(percent):.1f}" y2="{_y(percent):.1f}" {stroke}/>'


def _line(result: Result) -> str:
    colour, dash, _ = _LINES[result.mode]
    last = max(1, len(result.percents) - 1)
    points = " ".join(f"{_x(at / last):.1f},{_y(percent):.1f}" for at, percent in enumerate(result.percents))
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline fill="none" stroke="{colour}" stroke-width="1.6"{dashes} points="{points}"/>'


def _legend(results: Sequence[Result]) -> Iterable[str]:
    for number, result in enumerate(results):
        colour, dash, words = _LINES[result.mode]
        y = _TOP + 14 + 18 * number
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        stroke = f'stroke="{colour}" stroke-width="2"{dashes}'
        yield f'<line x1="{_LEFT + 12}" x2="{_LEFT + 44}" y1="{y}" y2="{y}" {stroke}/>'
        yield f'<text x="{_LEFT + 52}" y="{y + 4}">{words}: at most {result.highest:.0f} %</text>'


def page(results: Sequence[Result]) -> str:
    rows = "\n".join(_row(result) for result in results if not result.is_dominated)
    dominated = "\n".join(_dominated_row(result) for result in results if result.is_dominated)
    return f"""# Ten days on a file system with a limit

`make soak` makes this page and its picture. It replays what happened to a server on which agents ran for ten days
under a quota of 1 GB: a sixteenth of its size (64 MB, 4,312 inodes), the same number of days, one simulated hour after
the other. Sessions begin, write, delete and end by day; one of three is killed, one is not closed for six days. Their
processes are real, and so is the limit.

![Usage over eleven days](soak.svg)

| file system | who clears up | highest usage | first failed write | failed writes | files of live sessions lost |
|---|---|---|---|---|---|
{rows}

- **without tmpwarden** nothing is removed, and writes fail when the limit is reached.
- **hourly clean** is the timer, a server's `Periodic`, or `tmpwarden clean --if-due 1h --yes` from cron.
- **hooks alone**: a clean when it is due at a session's start or at the end of a turn, so never at night;
  and the scratch of a session goes into quarantine when it ends.
- After every simulated hour each file of each live session is looked for. What a command left in the one directory that
  all sessions of an agent share (`claude-<uid>/`) names no session: it goes when nobody has touched it for 72 hours, so
  it counts as wanted for 48. With hooks such files lie in the session's own scratch, and all of them count as long as
  the session lives.
- The load is a model: how much is written per day was set so that the limit is reached about day ten, and the session
  that stays open for six days writes little. Hooks are replayed as the cleans they ask for, not as hook processes.
- The day in quarantine and the 72 hours in which a session can be resumed are part of the usage.
- Each item in quarantine takes one more inode: an empty file beside it, whose name says what it is and where it was.

## One session that leaves more than all others together

On its first morning one session writes 40 % of the limit, is killed six hours later, and its agent drops its record: no
process carries it, and nobody can prove that it is dead. The others write half of what they write above. An unattended
run takes at most half of what it finds by absence or age (`[automatic] max`), but always the oldest unit.

| who clears up | highest usage | the dominant session is gone | failed writes | files of live sessions lost |
|---|---|---|---|---|
{dominated}
"""


def _dominated_row(result: Result) -> str:
    gone = "never" if result.dominant_gone_hour is None else f"on day {result.dominant_gone_hour / 24:.1f}"
    cells = (
        _LINES[result.mode][2],
        f"{result.highest:.0f} %",
        gone,
        f"{result.failed_writes:,}",
        str(len(result.lost)),
    )
    return f"| {' | '.join(cells)} |"


def _row(result: Result) -> str:
    day = "never" if result.first_failure_hour is None else f"day {result.first_failure_hour / 24:.1f}"
    _, _, words = _LINES[result.mode]
    cells = (
        result.filesystem,
        words,
        f"{result.highest:.0f} %",
        day,
        f"{result.failed_writes:,}",
        str(len(result.lost)),
    )
    return f"| {' | '.join(cells)} |"
