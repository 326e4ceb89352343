"""Where the files of the catalogue lie, and how a small text file is read: never waiting, never without end."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping

from ..oskit.files import places
from ..oskit.files.atomic import is_null_device
from ..oskit.files.opening import closing

BUILT_IN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agents")
SYSTEM = "/etc/tmpwarden/agents.d"
XDG = {"cache": ".cache", "config": ".config", "data": ".local/share", "state": ".local/state"}  # below a home
_LARGEST = 1 << 20
_MAC_TEMP = re.compile(r"/.*/folders/[^/]+/[^/]+/T")


def read_text(path: str, largest: int = _LARGEST) -> str:
    """Raises OSError, UnicodeDecodeError, or ValueError with a sentence. /dev/null, the usual mask, reads as empty."""
    with closing(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)) as fd:
        status = os.fstat(fd)
        if is_null_device(status):
            return ""
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("is not a file")
        if status.st_size > largest:
            raise ValueError(f"is larger than {largest >> 20} MB")
        return os.read(fd, largest).decode()


def dangling(path: str) -> str | None:
    """The link at or above `path` that leads nowhere, such as into dotfiles on a disk that is not mounted: what lies
    behind it is not known to be missing."""
    while path != (above := os.path.dirname(path)):
        if os.path.lexists(path):
            return path if os.path.islink(path) and not os.path.exists(path) else None
        path = above
    return None


def text_if_there(path: str) -> str:
    """The same; "" where there is no such file."""
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""


def xdg(home: str, environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The bases of rows that lie below an XDG directory."""
    directories: dict[str, tuple[str, ...]] = {}
    for kind, below_home in XDG.items():
        directory = environ.get(f"XDG_{kind.upper()}_HOME", "")
        directories[f"xdg_{kind}"] = (directory if os.path.isabs(directory) else os.path.join(home, below_home),)
    return directories


def mac_folders(roots: Iterable[str]) -> tuple[str, ...]:
    """Beside the temp root of a user of macOS, /var/folders/zz/xyz/T, lie other directories of hers: X, C."""
    return tuple(os.path.dirname(root) for root in roots if _MAC_TEMP.fullmatch(root))


def default_dirs() -> tuple[str, ...]:
    """Drop-in directories, in the order in which they are read: a later file masks an earlier one of the same name."""
    return (SYSTEM, os.path.join(places.config_dir(), "agents.d"))
