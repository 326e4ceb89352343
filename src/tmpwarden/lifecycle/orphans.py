"""End processes of dead sessions: when told, unattended where the configuration says so, at the end of a session."""

from __future__ import annotations

from collections.abc import Collection

from ..catalogue.settings import Settings
from ..model.processes import Ended, Fate, Orphan
from ..oskit.files import places
from ..processes import end as ending
from ..processes.find import look
from ..sweep.store.journal import Journal

KIND = "process"  # of a journal line


def end(doomed: Collection[Orphan]) -> list[Ended]:
    """End them and leave a receipt of each. The caller has judged them a moment ago."""
    journal, endings = Journal(places.state_dir()), []
    journal.open()
    by_pid = {one.pid: one for one in doomed}

    def tell(ended: Ended) -> None:
        endings.append(ended)
        journal.note(KIND, **_receipt(ended, by_pid.get(ended.pid)))

    ending.end(tuple(doomed), tell=tell)
    return endings


def end_unattended(settings: Settings) -> list[Ended]:
    """What `[orphans] end` names and has been at it for `after`. Nothing by default; but the look notes tool servers to
    which nobody can speak any more, so that a person who asks for them later need not wait."""
    orphans = look()
    doomed = [
        one
        for one in orphans
        if one.fate is Fate.END
        and one.row is not None
        and one.row.kind in settings.orphans_end
        and one.age_s >= settings.orphans_after_s
    ]
    return end(doomed) if doomed else []


def end_of_session(session: str, settings: Settings) -> list[Ended]:
    """At the end of a session, where `[orphans] at_end` wants it: what is certainly its own."""
    if not settings.orphans_at_end or not session:
        return []
    doomed = [one for one in look(sessions=(session,)) if one.fate is Fate.END]
    return end(doomed) if doomed else []


def _receipt(ended: Ended, orphan: Orphan | None) -> dict[str, object]:
    return {
        "pid": ended.pid,
        "command": ended.command[:200],
        "outcome": ended.outcome,
        "agent": orphan.binding.agent if orphan and orphan.binding else None,
        "session": orphan.binding.session if orphan and orphan.binding else None,
        "reason": orphan.reason if orphan else "a child of a process that was ended",
    }
