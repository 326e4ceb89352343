"""A session that goes on after its scratch went to quarantine gets its files back."""

import os

from .. import notebook
from . import Call
from .whereabouts import remembered


def bring_back(call: Call) -> bool:
    """Put the files of this session's scratch back where they were. False: it had files, and they are lost."""
    path = remembered(call)
    if not path or os.path.isdir(path):
        return True
    from ...errors import TmpwardenError
    from ...oskit.places import state_dir
    from ...sweep.journal import restorable  # type: ignore[import-not-found,unused-ignore]
    from ...sweep.undo import undo  # type: ignore[import-not-found,unused-ignore]

    receipts = [token for token, entry in restorable(state_dir()).items() if entry.get("path") == path]
    if not receipts:
        return False
    try:
        undo(receipts[-1])
    except (TmpwardenError, OSError) as problem:
        notebook.log(call.notes, f"cannot bring back {path}: {problem}")
        return False
    return True
