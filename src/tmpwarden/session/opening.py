"""From the name of an app to a directory of its own: the root, what the dead left in it, the directory."""

from __future__ import annotations

import os
import time

from . import leftovers
from .directory import SessionDirectory, make_directory
from .private import explained
from .root import forget_root, open_root

_TRIES = 10  # a run that failed to enter may remove the root it made while we stand in it


def open_directory(app: str, tmp: str) -> SessionDirectory:
    """First clear what the dead left: on a full disk that may be the room we need."""
    for _ in range(_TRIES):
        root, is_new = open_root(app, tmp)
        try:
            if not is_new:
                leftovers.clear(root, now_s=time.time())
            return make_directory(root, app)
        except BaseException as error:
            root.close()
            if is_new:
                forget_root(app, tmp)
            if not isinstance(error, FileNotFoundError):
                raise
    raise explained(FileNotFoundError(2, "it is removed again and again while we make it"), os.path.join(tmp, app))
