"""The directory right below a temp root that sessions share as their TMPDIR: `[redirect] target = "/tmp/claude"`.

A session's start makes and checks it. Which there were stands in `<state>/shared-temp`, so that a row sweeps them.
"""

from __future__ import annotations

from ..oskit.files import atomic
from ..oskit.files.own_dirs import make_private_dir
from ..stamped import private_lines

_FILE = "shared-temp"
_LONGEST = 1 << 16


def remembered(state: str) -> tuple[str, ...]:
    return tuple(line for line in private_lines(f"{state}/{_FILE}", _LONGEST) if line.startswith("/"))


def make(state: str, path: str) -> None:
    """There, ours, 0700 and no link; else UnsafeScratch, or OSError where there is no room."""
    make_private_dir(path)
    known = remembered(state)
    if path not in known:
        make_private_dir(state)
        atomic.write(f"{state}/{_FILE}", "".join(f"{each}\n" for each in (*known, path)))
