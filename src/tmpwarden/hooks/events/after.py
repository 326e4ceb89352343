"""After a tool call, and when a turn ends: start the small jobs that are due, tell what the last one did."""

from .. import notebook
from ..dialects.common import Answer
from .first_come import is_second
from .hook_call import HookCall


def after(call: HookCall) -> Answer | None:
    if is_second(call):
        return None
    if call.kind == "after" and notebook.was_told_lately(call.notes):
        _note_a_dropped_rewrite(call)
    if call.kind == "after":
        from .births import note_births

        note_births(call)
    words = []
    if call.kind == "stop":
        from .growth import warning

        words.append(warning(call))
    has_markers = notebook.is_due(call.notes, notebook.MARKERS, every_s=notebook.MARKERS_EVERY_S)
    wants_clean = call.kind == "stop" and notebook.is_due(call.notes, notebook.CLEAN)
    # put off for everybody else in the same breath; where that cannot be written, every call would start a job
    has_markers = has_markers and notebook.put_off(call.notes, notebook.MARKERS, notebook.MARKERS_EVERY_S)
    wants_clean = wants_clean and notebook.put_off(call.notes, notebook.CLEAN, notebook.CLEAN_EVERY_S)
    if has_markers or wants_clean:
        from .jobs import clear_all

        clear_all(call, markers=has_markers, clean=wants_clean)
    if notebook.has_note(call.notes, call.session):
        words.append(notebook.take_note(call.notes, call.session))
    return call.dialect.tell(call.event, "\n".join(filter(None, words)))


def _note_a_dropped_rewrite(call: HookCall) -> None:
    """An agent that was given another input may have run its own all the same; the audit then says so."""
    from ...guard.log.audit import check_ran

    try:
        check_ran(call.state, call.dialect.tool_call(call.payload, call.session))
    except OSError:
        pass
