"""The background jobs that hooks start, and what they leave for the session's next hook to tell."""

from ...lifecycle import background
from .. import notebook
from ..dialects.common import MARKER_ROW, MARKER_SHAPE
from .hook_call import HookCall

_HELD_BACK = "backlog.due"
_A_MONTH_S = 30 * 86400

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def clear_all(call: HookCall, *, markers: bool = True, clean: bool = True) -> None:
    """Stale markers, and what ended sessions left."""
    jobs = ((_markers,) if markers else ()) + ((_left_overs, _old_notes) if clean else ())
    background.detach(lambda: _work(call, jobs))


def clear_scratches(call: HookCall) -> None:
    """No clean is due, but a killed session has left its scratch."""
    background.detach(lambda: _work(call, (_scratches, _relieved)))


def look_at_growth(call: HookCall) -> None:
    """Much room has gone since the last look."""
    background.detach(lambda: _work(call, (_growth,), lock="growth.lock"))  # a clean goes on beside it


def _growth(call: HookCall) -> str:
    step_bytes, warnings = background.what_grows(observe=call.observes)
    notebook.note_room(call.notes, notebook.temp_root(call.environ), step_bytes)
    return "; ".join(warnings)


def relieve(call: HookCall) -> None:
    """No clean is due, but a root may have run out of room since."""
    background.detach(lambda: _work(call, (_relieved,)))


def relieve_at_end(call: HookCall) -> None:
    """In the background already: this session has ended, so the next one that starts is told."""
    with background.Alone(f"{call.notes}/job.lock"):  # a look at the room that a session left is never one too many
        try:
            relief = background.clear_the_dead(observe=call.observes, only_if_short=True).relief
        except Exception as problem:
            notebook.log(call.notes, f"background: {type(problem).__name__}: {problem}")
            return
    if relief:
        background.leave_word(call.state, f"tmpwarden: {relief}.")


def _relieved(call: HookCall) -> str:
    return background.clear_the_dead(observe=call.observes, only_if_short=True).relief


def _work(call: HookCall, jobs: "tuple[Callable[[HookCall], str], ...]", *, lock: str = "job.lock") -> None:
    with background.Alone(f"{call.notes}/{lock}") as is_alone:
        for job in jobs if is_alone else ():
            _run_logged(call, job)


def _run_logged(call: HookCall, work: "Callable[[HookCall], str]") -> None:
    """One job's failure is a line in the log, and no reason to skip the next."""
    try:
        outcome = work(call)
    except Exception as problem:
        notebook.log(call.notes, f"background: {type(problem).__name__}: {problem}")
        return
    if outcome and not call.observes:
        notebook.leave_note(call.notes, call.session, f"tmpwarden: {outcome}")


def _markers(call: HookCall) -> str:
    if not background.has_marker(MARKER_SHAPE):
        return ""
    count = background.clear_markers(MARKER_ROW, observe=call.observes)
    return f"removed {count:,} stale cwd file{'' if count == 1 else 's'}" if count else ""


def _scratches(call: HookCall) -> str:
    background.clear_scratches(observe=call.observes)
    return ""


def _left_overs(call: HookCall) -> str:
    cleared = background.clear_the_dead(observe=call.observes)
    notebook.note_room(call.notes, notebook.temp_root(call.environ), background.growth_step())
    notebook.put_off(call.notes, notebook.CLEAN, cleared.every_s)
    if not cleared.held_back or not notebook.is_due(call.notes, _HELD_BACK):
        return cleared.sentence
    notebook.put_off(call.notes, _HELD_BACK, notebook.FARTHEST_S)  # one message, not one an hour
    return "; ".join(filter(None, (cleared.sentence, cleared.held_back)))


def _old_notes(call: HookCall) -> str:
    """What we wrote about sessions that nobody has resumed for a month."""
    import os
    import time

    from ...oskit.files.own_files import remove_file

    for name in os.listdir(call.notes):
        path = f"{call.notes}/{name}"
        is_about_a_session = name.endswith((".note", ".claim", ".scratch", ".grown", ".stated", ".asked", ".calls"))
        if is_about_a_session and time.time() - os.lstat(path).st_mtime > _A_MONTH_S:
            remove_file(path)
    return ""
