"""Plugin and settings may both call us for one session. The first to come works for it; the other stays inert."""

from ...small_files import CREATED, EMPTIED, read, write
from .. import notebook
from .hook_call import HookCall

_SOURCE = __file__.rsplit("/", 4)[0]  # where this copy of tmpwarden lies
_WRITING_S = 5.0


def is_second(call: HookCall) -> bool:
    """Whether another copy of us already works for this session of this agent process."""
    mine = f"{call.dialect.owner_pid(call.environ, call.payload)} {_SOURCE}".encode("utf-8", "surrogateescape")
    path = f"{call.notes}/{notebook.session_key(call.session)}.claim"
    theirs = read(path, 8192)
    if theirs is None:
        return not _create(path, mine, call.notes) and read(path, 8192) not in (None, mine)
    if theirs == mine:
        return False
    if theirs.partition(b" ")[0] == mine.partition(b" ")[0]:
        return True
    if not theirs and _is_fresh(path):  # made this instant by somebody else, not yet written
        return True
    write(path, mine, EMPTIED)  # an earlier process of a resumed session
    return False


def _create(path: str, text: bytes, notes: str) -> bool:
    try:
        notebook.make(notes)
    except OSError:
        return False
    return write(path, text, CREATED)


def _is_fresh(path: str) -> bool:
    import time

    made = notebook.status(path)
    return made is not None and time.time() - made.st_mtime < _WRITING_S
