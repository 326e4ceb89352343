"""The walk in quarantine before the first unlink: what came, went or changed since the judging sends a unit back.

A walk takes time, and what is written into a part that it has passed is not in its sum. Once a unit lies in quarantine
nobody finds it by its name any more, so a second walk there sees whatever the first one missed.
"""

from __future__ import annotations

import os

from ...model.answers import Held, Nobody, NotMeasured
from ...model.sweep import Measure
from ...model.terms import Reason
from ...oskit.files import roll as rolls
from ...oskit.files import walk
from ...oskit.files.roll import Roll
from ..weigh.world import World
from .doubt import may_only_wait
from .lastlook import users_of
from .taking import Deed


def why_back(deed: Deed, token: str, world: World, inside: Measure | None) -> tuple[Reason, str] | None:
    """Why a unit, or that member of a swarm, has to go back; None if it need not. `inside`: of a unit that is to be
    purged at once, what a walk in quarantine has just seen of it."""
    verdict, judged, place = deed.verdict, deed.verdict.evidence.measure, f"{deed.directory}/{token}"
    match users_of(verdict, world, deed.quarantine_fd, deed.directory, token, inside, for_good=deed.is_doomed):
        case Held(by):
            return Reason(by[0].kind.value), by[0].detail
        case NotMeasured(why):
            return Reason.NOT_MEASURED, why
        case Nobody() if deed.is_doomed and may_only_wait(verdict.finding) and world.is_in_doubt(place, judged):
            # somebody hides since it was judged: the next run puts it where it can come back from
            return Reason.NOT_MEASURED, "somebody who cannot be looked at came meanwhile"
        case Nobody() as nobody:
            deed.users = nobody
    if judged is not None and verdict.finding.members and _member_changed(deed.quarantine_fd, token, judged):
        return Reason.CHANGED, "it was written after it was judged"
    changed = change(judged, inside) if judged is not None and inside is not None else None
    return (Reason.CHANGED, changed) if changed else None


def measured_inside(world: World, quarantine_fd: int, token: str, roll: Roll | None = None) -> Measure | None:
    """What lies in quarantine as `token`; None if it is gone. Our own rename is no change of it. `roll`: the names that
    its judging saw."""
    if roll and (same := rolls.called(quarantine_fd, token, roll, uid=world.uid, locked=world.newly_locked)):
        return same
    return walk.measure(
        quarantine_fd, token, uid=world.uid, count_atime=False, locked=world.newly_locked, was_moved=walk.JUST_NOW
    )


def change(judged: Measure, now: Measure) -> str | None:
    """What is not as it was judged, in words; None if nothing could be lost that nobody has judged."""
    if now.entries != judged.entries:
        return f"it holds {now.entries:,} entries now, and held {judged.entries:,} when it was judged"
    if now.at_least or now.crosses_device or now.foreign:
        return "part of it is not as it was judged"
    if now.directories == now.entries == 1:
        return None  # empty: our own takes may have dated it, and rmdir loses nothing
    return "something in it was written after it was judged" if now.newest_ns > judged.newest_ns else None


def _member_changed(quarantine_fd: int, token: str, judged: Measure) -> bool:
    """The same for one file of a swarm. Its ctime is our own rename's."""
    try:
        return os.lstat(token, dir_fd=quarantine_fd).st_mtime_ns > judged.newest_ns
    except OSError:
        return False  # gone
