"""Roots below which a scratch was ever leased: `lease(root=R)`, or the TMPDIR of one shell. A timer knows neither.

One path a line, in our state. Part of the hot path: it costs one look at a small file, and only for uncommon roots.
"""

import os

from ..oskit.files import atomic, own_dirs, places
from ..stamped import private_lines

_NAME, _MOST, _LONGEST = "leased-roots", 64, 1 << 16


def note(root: str) -> None:
    """Remember `root`, unless every run looks there anyway."""
    path = os.path.abspath(root)
    known = remembered()
    if places.is_common_root(path) or path in known or "\n" in path:
        return
    try:
        own_dirs.make_private_dir(places.state_dir())
        atomic.write(_path(), "".join(f"{each}\n" for each in (*known, path)[-_MOST:]))
    except OSError:
        return  # a full disk: the next lease tries again


def remembered() -> tuple[str, ...]:
    """Those that are known; whether they are still there, and safe, is for the run to see."""
    return tuple(line for line in private_lines(_path(), _LONGEST) if line.startswith("/"))


def _path() -> str:
    return os.path.join(places.state_dir(), _NAME)
