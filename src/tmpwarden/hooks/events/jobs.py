"""The background jobs that hooks start, and what they leave for the session's next hook to tell."""

from ...lifecycle import background
from .. import notebook
from ..dialects.spoken import MARKER_ROW, MARKER_SHAPE
from . import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def start_job(call: Call, *, markers: bool, clean: bool) -> None:
    background.detach(lambda: _work(call, markers=markers, clean=clean))


def _work(call: Call, *, markers: bool, clean: bool) -> None:
    with background.Alone(f"{call.notes}/job.lock") as is_alone:
        if not is_alone:
            return
        if markers:
            _told(call, _markers)
        if clean:
            _told(call, lambda call: background.clear_the_dead(observe=call.observes))


def _told(call: Call, work: "Callable[[Call], str]") -> None:
    """One job's failure is a line in the log, and no reason to skip the next."""
    try:
        said = work(call)
    except Exception as problem:
        notebook.log(call.notes, f"background: {type(problem).__name__}: {problem}")
        return
    if said and not call.observes:
        notebook.leave_note(call.notes, call.session, f"tmpwarden: {said}")


def _markers(call: Call) -> str:
    if not background.has_marker(MARKER_SHAPE):
        return ""
    count = background.clear_markers(MARKER_ROW, observe=call.observes)
    return f"removed {count:,} stale cwd file{'' if count == 1 else 's'}" if count else ""
