"""A session that goes on after its files went to quarantine gets them back: its scratch, and names it made in /tmp."""

import os

from .. import notebook
from .hook_call import HookCall
from .session_scratch import remembered


def bring_back(call: HookCall) -> bool:
    """Put the files of this session's scratch back where they were. False: it had files, and they are lost."""
    path = remembered(call)
    if not path or os.path.isdir(path):
        return True
    try:
        return _undone(path)
    except Exception as problem:  # whatever it is, the session must still get a scratch
        notebook.log(call.notes, f"cannot bring back {path}: {type(problem).__name__}: {problem}")
        return False


def bring_back_names(call: HookCall) -> None:
    """Names in a temp root that were this session's, as far as nobody else has them now."""
    from ...leases.births import read

    try:
        mine = [birth for birth in read(call.state).values() if birth.session == call.session and birth.owned]
        for birth in mine:
            if not os.path.lexists(birth.path):
                _undone(birth.path)
    except Exception as problem:
        notebook.log(call.notes, f"cannot bring back what this session made: {type(problem).__name__}: {problem}")


def _undone(path: str) -> bool:
    from ...oskit.files.places import state_dir
    from ...sweep.store.journal import restorable
    from ...sweep.store.undo import undo

    receipts = [token for token, entry in restorable(state_dir()).items() if entry.get("path") == path]
    if receipts:
        undo(receipts[-1])
    return bool(receipts)
