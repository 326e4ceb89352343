"""What became of a timer's last run, written down so that `status` can tell it: a timer's words are read by nobody."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..lazy_dataclass import dataclass
from ..oskit.files import state_file

_NAME = "last-timer"


@dataclass(frozen=True, slots=True)
class LastTick:
    at_ns: int
    failed: Mapping[str, str]  # user -> why; a user's own timer knows of that user alone


def note(failed: Mapping[str, str]) -> None:
    """On a full disk the journal of the system has it."""
    state_file.write(state_file.path(_NAME), {"failed": dict(failed)})


def read() -> LastTick | None:
    path = state_file.path(_NAME)
    try:
        failed = state_file.read(path)["failed"]
        return LastTick(os.stat(path).st_mtime_ns, {str(user): str(why) for user, why in failed.items()})
    except (OSError, KeyError, TypeError, AttributeError):
        return None
