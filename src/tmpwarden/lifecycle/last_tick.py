"""What became of a timer's last run, written down so that `status` can tell it: a timer's words are read by nobody."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..lazy_dataclass import dataclass
from ..oskit.files import places, state_file

_NAME = "last-timer"


@dataclass(frozen=True, slots=True)
class LastTick:
    at_ns: int
    failed: Mapping[str, str]  # user -> why; a user's own timer knows of that user alone


def note(failed: Mapping[str, str]) -> None:
    state_file.write(_path(), {"failed": dict(failed)})  # on a full disk the journal of the system has it


def read() -> LastTick | None:
    try:
        failed = state_file.read(_path())["failed"]
        return LastTick(os.stat(_path()).st_mtime_ns, {str(user): str(why) for user, why in failed.items()})
    except (OSError, KeyError, TypeError, AttributeError):
        return None


def _path() -> str:
    return os.path.join(places.state_dir(), _NAME)
