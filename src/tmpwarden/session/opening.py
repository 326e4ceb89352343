"""From the name of an app to a claimed directory: the root, what the dead left in it, the claim."""

from __future__ import annotations

import os
import time

from . import leftovers
from .claim import Claim, claim
from .private import explained
from .root import forget_root, open_root

_TRIES = 10  # a run that failed to enter may remove the root it made while we stand in it


def open_claim(app: str, tmp: str) -> Claim:
    """First clear what the dead left: on a full disk that may be the room we need."""
    for _ in range(_TRIES):
        root, is_new = open_root(app, tmp)
        try:
            if not is_new:
                leftovers.clear(root, now_s=time.time())
            return claim(root, app)
        except BaseException as error:
            root.close()
            if is_new:
                forget_root(app, tmp)
            if not isinstance(error, FileNotFoundError):
                raise
    raise explained(FileNotFoundError(2, "it is removed again and again while we make it"), os.path.join(tmp, app))
