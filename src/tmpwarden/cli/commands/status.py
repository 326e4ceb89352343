"""`tmpwarden`: how full, what runs, what was done last, what to do next. Quick: it looks at no litter."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import click

from ...catalogue import policy
from ...catalogue.load import load
from ...catalogue.settings import load_settings
from ...errors import TmpwardenError
from ...lazy_dataclass import dataclass
from ...lifecycle import last_tick
from ...lifecycle.last_tick import LastTick
from ...lifecycle.living import LivingSession, living_sessions
from ...model.sweep import Space
from ...oskit.files import places, space
from ...oskit.proc import proven
from ...setup import apply, timer
from ...sweep.find.scan import Finder
from ...sweep.store import ahead, books, history
from ...sweep.store.books import Saved
from ...sweep.store.history import Trend
from ...sweep.store.labels import restorable, still_there
from ...sweep.survey import Glance, glance
from ...sweep.weigh import consent
from ...text import duration, plural, shown, size
from .. import documents, render
from ..call import Answer, Call
from ..group import pass_call
from ..kinds import all_users_option, budget, for_whom
from ..paint import FULL_PERCENT, Painter, percent_style
from .off import off_until

_FULL_PERCENT = 80
_GLANCE_S = 0.5
_SHAPES = 3
_MOST_ROOTS = 3
_STATES = {"absent": "not set up", "installed": "set up"}


@dataclass(frozen=True, slots=True)
class Status:
    spaces: tuple[Space, ...]
    sessions: tuple[LivingSession, ...]
    unseen: str  # why it could not be checked that these live, and that there are no others
    hooks: tuple[tuple[str, str], ...]  # agent, state
    timer: str
    last_tick: LastTick | None  # of a timer
    last_clean_s: float | None  # how long ago
    waiting: int  # units in quarantine
    waiting_bytes: int
    glances: tuple[Glance, ...]
    saved: Saved
    trends: tuple[Trend, ...]  # of `spaces`

    @property
    def next_step(self) -> str:
        if any(space.percent_used(each) >= _FULL_PERCENT for each in self.spaces):
            return "tmpwarden doctor"
        if self.last_clean_s is not None and any(state == "absent" for _, state in self.hooks):
            return "tmpwarden setup"
        return "tmpwarden scan"


@click.command()
@click.option("--min-free", type=budget, help="Exit 2 if a temp root has less room than this, such as 10% or 2G.")
@all_users_option
@pass_call
def command(call: Call, all_users: bool, min_free: tuple[int | None, int | None] | None) -> Answer:
    """Overview: disk usage, running sessions, setup, last clean-up, next step.

    With --min-free, for cron, CI and prompts: prints only temp roots with less room than this, and exits with 2. Bytes,
    inodes and quota count.
    """
    if min_free is not None:
        return for_whom(call, all_users, lambda: _room(call, min_free))
    if not all_users:
        ahead.make_for(call.roots)
    return for_whom(call, all_users, lambda: _answer(call))


def _room(call: Call, least: tuple[int | None, int | None]) -> Answer:
    roots = places.temp_roots(call.roots)
    call.warn(*roots.warnings)
    spaces = [space.space_of(root) for root in roots]
    short = [each for each in spaces if _is_short(each, least)]
    data = {
        "roots": [documents.space(each) | {"percent_used": space.percent_used(each)} for each in spaces],
        "short": [each.path for each in short],
    }
    return Answer(data, lambda: [f"{render.used(each)}" for each in short], exit_code=2 if short else 0)


def _is_short(room: Space, least: tuple[int | None, int | None]) -> bool:
    least_bytes, least_percent = least
    if least_percent is not None:
        return 100 - space.percent_used(room) < least_percent
    free = room.bytes_free
    if room.quota_bytes is not None and room.quota_used is not None:
        free = min(free, max(0, room.quota_bytes - room.quota_used))
    return least_bytes is not None and free < least_bytes


def _answer(call: Call) -> Answer:
    settings = load_settings(call.config_file)
    catalogue = load(overrides=settings.rows)
    roots = places.temp_roots(call.roots)
    call.warn(*settings.warnings, *catalogue.warnings, *roots.warnings)
    _warn_of_guard(call)
    if (until := off_until()) is not None:
        when = time.strftime(" until %H:%M", time.localtime(until)) if until else ""
        call.warn(f"all hooks are switched off{when}; to switch them on again: tmpwarden on")
    state = places.state_dir()
    last_ns = consent.last_clean_ns(state)
    quarantined_sizes = [int(each.get("bytes", 0)) for each in still_there(restorable(state).values(), state)]
    spaces = tuple(space.space_of(root) for root in roots)
    status = Status(
        spaces=spaces,
        sessions=living_sessions(catalogue, tuple(roots)),
        unseen=proven.doubt(),
        hooks=_hooks(call),
        timer=timer.state(),
        last_tick=last_tick.read(),
        last_clean_s=None if last_ns is None else _ago_s(last_ns),
        waiting=len(quarantined_sizes),
        waiting_bytes=sum(quarantined_sizes),
        glances=glance(Finder(catalogue.places(roots)), tuple(roots), within_s=_GLANCE_S),
        saved=books.saved_so_far(state),
        trends=history.trends(history.read(state, lately=True), spaces, call.now_ns()),
    )
    return Answer(lambda: _document(status), lambda: _lines(status))


def _warn_of_guard(call: Call) -> None:
    """Rules that are broken are not in force; without a file there is nothing to read, and nothing to load for it."""
    config = places.config_dir()
    if os.path.isdir(config) or os.path.exists(policy.SYSTEM):
        from ...guard.rules.verify import complaint_now

        if broken := complaint_now(config, places.state_dir()):
            call.warn(broken)


def _hooks(call: Call) -> tuple[tuple[str, str], ...]:
    try:
        return tuple((each.id, each.state) for each in apply.table())
    except (TmpwardenError, OSError) as error:
        call.warn(f"the settings of an agent could not be read: {error}")
        return ()


def _document(status: Status) -> documents.Document:
    return {
        "roots": [
            documents.space(each) | {"percent_used": space.percent_used(each), "trend": documents.trend(trend)}
            for each, trend in zip(status.spaces, status.trends, strict=True)
        ],
        "sessions": [documents.session(each) for each in status.sessions],
        "sessions_checked": not status.unseen,
        "hooks": dict(status.hooks),
        "timer": status.timer,
        "timer_last_run": _tick_document(status.last_tick),
        "last_clean_seconds": None if status.last_clean_s is None else round(status.last_clean_s),
        "quarantine": {"units": status.waiting, "bytes": status.waiting_bytes},
        "accounts": [_account(each) for each in status.glances],
        "freed": {"bytes": status.saved.bytes, "entries": status.saved.entries},
        "next": status.next_step,
    }


def _account(seen: Glance) -> documents.Document:
    """Counted by names; `scan` measures."""
    return {
        "root": seen.root,
        "matched_count": seen.matched_count,
        "unmatched_count": sum(each.count for each in seen.unmatched),
        "others_count": seen.others_count,
        "shapes": {each.shape: each.count for each in seen.unmatched[:_SHAPES]},
    } | ({} if seen.saw_all else {"at_least": True})


def _items(glances: tuple[Glance, ...]) -> str:
    """Counted by names in all temp roots."""
    agents, others = sum(each.matched_count for each in glances), sum(each.others_count for each in glances)
    unknown = sum(sum(shape.count for shape in each.unmatched) for each in glances)
    parts = [f"{agents:,} of agents"]
    parts += [f"{unknown:,} not recognised"] * (unknown > 0)
    parts += [f"{others:,} of other users"] * (others > 0)
    return f"{'' if all(each.saw_all for each in glances) else 'at least '}{', '.join(parts)}"


def _lines(status: Status) -> Iterator[str]:
    """Eight lines: three for the temp roots, the fullest first, and the last one says what to do."""
    paint = Painter()
    of_each = sorted(zip(status.spaces, status.trends, strict=True), key=lambda pair: -space.percent_used(pair[0]))
    most = _MOST_ROOTS if len(of_each) <= _MOST_ROOTS else _MOST_ROOTS - 1
    for each, trend in of_each[:most]:
        percent = space.percent_used(each)
        full = f"{render.bar(percent)} {percent:>3}% {'FULL' if percent >= FULL_PERCENT else 'full'}"
        facts = [paint(full, percent_style(percent)), f"{size(each.bytes_used)} of {size(each.bytes_total)}"]
        facts += [render.limits(each), _shorter(history.sentence(trend))]
        yield _fact(shown(each.path), ", ".join(filter(None, facts)))
    if rest := of_each[most:]:
        yield _fact("", f"and {plural(len(rest), 'temp root')} less full")
    yield _fact("items", _items(status.glances))
    yield _fact("sessions", _sessions(status))
    yield _fact("setup", _setup(status))
    ago = "never" if status.last_clean_s is None else f"{duration(status.last_clean_s)} ago"
    if status.saved.entries:
        ago += f"; {size(status.saved.bytes)} freed so far"
    if status.waiting:
        ago += f"; {plural(status.waiting, 'item')}, {size(status.waiting_bytes)}, can be undone"
    yield _fact("last clean", ago)
    yield _fact("next", paint(status.next_step, "command"))


def _shorter(trend: str) -> str:
    """`full in about 9 h`, where the status line has its label and its share already."""
    return trend.rpartition(", ")[2] if ", " in trend else trend


def _sessions(status: Status) -> str:
    """How many of each agent; of a single one, its process and directory too."""
    sessions = status.sessions
    if status.unseen:
        recorded = f"; recorded, may have ended: {', '.join(f'{one.agent} (pid {one.pid})' for one in sessions)}"
        return f"could not be checked here: {status.unseen}{recorded * bool(sessions)}"
    if not sessions:
        return "none running"
    if len(sessions) == 1:
        (one,) = sessions
        name = f"{one.agent}, pid {one.pid}" + (f", session {shown(one.id)}" if one.id else "")
        return name + (f", temp directory {shown(one.scratch)}" if one.scratch else "")
    agents: dict[str, list[str]] = {}
    for each in sessions:
        agents.setdefault(each.agent, []).append(str(each.pid))
    text = (
        f"{agent} (pid {', '.join(pids[:_SHAPES])}{', ...' * (len(pids) > _SHAPES)})" for agent, pids in agents.items()
    )
    return f"{len(sessions)} running: {', '.join(text)}"


def _setup(status: Status) -> str:
    """Agents by their state, and the timer."""
    states: dict[str, list[str]] = {}
    for agent, state in status.hooks:
        states.setdefault(_STATES.get(state, state), []).append(agent)
    states_text = [f"{', '.join(agents)} {state}" for state, agents in states.items()] or ["no agent found"]
    timer_text = "no hourly clean-up" if status.timer == "absent" else f"hourly clean-up {status.timer}"
    return "; ".join([*states_text, timer_text + _tick_text(status.last_tick)])


def _tick_document(tick: LastTick | None) -> documents.Document | None:
    return None if tick is None else {"seconds_ago": round(_ago_s(tick.at_ns)), "failed": dict(tick.failed)}


def _tick_text(tick: LastTick | None) -> str:
    if tick is None:
        return ""
    reasons = "; ".join(f"{shown(user)}: {shown(why)}" for user, why in tick.failed.items())
    return f", last run {duration(_ago_s(tick.at_ns))} ago" + (f", FAILED for {reasons}" if reasons else "")


def _ago_s(at_ns: int) -> float:
    return max(0.0, (time.time_ns() - at_ns) / 1e9)


def _fact(name: str, words: str) -> str:
    return f"{name:<10}  {words}"
