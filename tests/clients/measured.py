"""What a run of real agents found, for the page that is drawn from it: one JSON line each, in $TMPWARDEN_MEASURED."""

import fcntl
import os

_PATH = os.environ.get("TMPWARDEN_MEASURED")  # now: each test has a world of its own


def note(line: str) -> None:
    if _PATH is None:
        return
    with open(_PATH, "a") as file:  # several workers
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(line + "\n")
