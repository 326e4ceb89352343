"""Roots below which a scratch was ever leased: `lease(root=R)`, or the TMPDIR of one shell. A timer knows neither.

One path a line, in our state. Part of the hot path: it costs one look at a small file, and only for uncommon roots.
"""

import os

from ..oskit.files import atomic, own_dirs, own_files, places

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
    found = own_files.read_small(_path(), _LONGEST)
    text = found[0].decode("utf-8", "surrogateescape") if found else ""
    return tuple(line for line in text.split("\n") if line.startswith("/"))


def _path() -> str:
    return os.path.join(places.state_dir(), _NAME)
