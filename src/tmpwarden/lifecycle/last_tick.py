"""What became of a timer's last run, written down so that `status` can tell it: a timer's words are read by nobody."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ..lazy_dataclass import dataclass
from ..oskit.files import atomic, own_dirs, places

_NAME = "last-timer"


@dataclass(frozen=True, slots=True)
class LastTick:
    at_ns: int
    failed: Mapping[str, str]  # user -> why; a user's own timer knows of that user alone


def note(failed: Mapping[str, str]) -> None:
    try:
        own_dirs.make_private_dir(places.state_dir())
        atomic.write(_path(), json.dumps({"failed": dict(failed)}))
    except OSError:
        return  # a full disk: the journal of the system has it


def read() -> LastTick | None:
    try:
        with open(_path(), encoding="utf-8", opener=atomic.at_once) as file:
            failed = json.load(file)["failed"]
            at_ns = os.fstat(file.fileno()).st_mtime_ns
        return LastTick(at_ns, {str(user): str(why) for user, why in failed.items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _path() -> str:
    return os.path.join(places.state_dir(), _NAME)
