"""After a tool call, and when a turn ends: start the small jobs that are due, tell what the last one did."""

import posix

from .. import notebook
from ..dialects.common import Answer
from ..payload import FILE_TOO_LARGE
from .hook_call import HookCall, is_second

LIMIT_BYTES = 1 << 30


def after(call: HookCall) -> Answer | None:
    if is_second(call):
        return None
    if call.kind == "after" and notebook.was_noted_lately(call.notes):
        _note_a_dropped_rewrite(call)
    if call.kind == "after":
        from .births import note_births

        note_births(call)
        _watch_the_room(call)
    words = [_too_large(call)] if call.kind == "after" else []
    if call.kind == "stop":
        words.append(_warning(call))
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
        check_ran(call.state, call.tool)
    except OSError:
        pass


def _watch_the_room(call: HookCall) -> None:
    """A command can fill a disk between two hourly looks; the room that is left tells it."""
    if notebook.is_filling(call.notes, call.environ):
        from .jobs import look_at_growth

        look_at_growth(call)
    elif not notebook.has_room_noted(call.notes):
        notebook.note_room(call.notes, notebook.temp_root(call.environ))


def _too_large(call: HookCall) -> str:
    """Why a command died, where `[brake] ulimit` may be what ended it."""
    answers = [str(call.payload.get(key, "")) for key in ("tool_response", "tool_output", "output", "error")]
    if not any(FILE_TOO_LARGE in text for text in answers):
        return ""
    from ...catalogue.settings import load_settings
    from ...text import size

    limit = load_settings().brake_ulimit_bytes
    if limit is None:
        return ""
    held = f"a command was ended because it wrote a file larger than {size(limit)}"
    return f"tmpwarden: {held} ([brake] ulimit in config.toml); `ulimit -S -f unlimited` lifts it for one command"


def _warning(call: HookCall) -> str:
    """For the user, when the output of a running command has grown past a gigabyte: it fills the disk in silence.

    The same file is named again only after it has doubled.
    """
    biggest, path = _biggest(call)
    note = f"{notebook.session_key(call.session)}.grown"
    last_note = notebook.status(f"{call.notes}/{note}")
    if biggest <= LIMIT_BYTES or (last_note is not None and biggest < 2 * last_note.st_size):
        return ""
    _remember(call.notes, note, biggest)
    grown = f"{path} has grown to {biggest / (1 << 30):.1f} GB"
    return f"tmpwarden: {grown} and is still in use; stop its command if it is not needed"


def _biggest(call: HookCall) -> tuple[int, str]:
    own = call.dialect.facts["temp_own_variable"].encode()
    temp = call.environ.get(own) or call.environ.get(b"TMPDIR") or b"/tmp"
    largest = (0, "")
    for directory in call.dialect.output_directories(temp.decode("utf-8", "surrogateescape"), call.session):
        try:
            with posix.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        size = entry.stat(follow_symlinks=False).st_blocks * 512
                        largest = max(largest, (size, entry.path))
        except OSError:
            continue
    return largest


def _remember(notes: str, name: str, size: int) -> None:
    """The size lives in a sparse file of that size: no parser, no content."""
    try:
        notebook.make(notes)
        fd = posix.open(f"{notes}/{name}", posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0o600)
    except OSError:
        return
    try:
        posix.ftruncate(fd, size)
    except OSError:
        pass
    finally:
        posix.close(fd)
