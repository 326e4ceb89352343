"""A file system that is mounted read-only: no mode and no owner is to blame, so no chmod helps."""

from __future__ import annotations

import itertools
import os

from ..lazy_dataclass import dataclass
from ..oskit import system
from ..oskit.files import space
from ..small_files import read
from ..text import plural, quoted, shown


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """What to say of it, and the command that ends it; without one a person has to act."""

    words: str  # after the name of what lies there
    detail: str
    command: str


def read_only(path: str) -> ReadOnly | None:
    """None where `path` lies on a file system that can be written, or cannot be asked."""
    try:
        if not os.statvfs(path).f_flag & os.ST_RDONLY:
            return None
        room, device = space.space_of(path), os.stat(path).st_dev
    except OSError:
        return None
    point = room.mount_point
    words = "is on a file system that is mounted read-only"
    words += f" ({room.filesystem} at {shown(point)})" if point else ""
    if errors := _errors(room.filesystem, device):
        count = plural(errors, "error was recorded", "errors were recorded")
        return ReadOnly(words, f"{count} on it: save what you need and check it (fsck) before it is mounted again", "")
    sudo = "" if os.geteuid() == 0 else "sudo "
    target = quoted(point) if point else f'"$(df -P {quoted(path)} | sed -n "2s/^.*% *//p")"'
    return ReadOnly(words, "", f"{sudo}{system.customs.REMOUNT} {target}")


def _errors(filesystem: str, device: int) -> int:
    """How many ext4 has met on this disk: then it was the kernel that made it read-only."""
    link = f"/sys/dev/block/{os.major(device)}:{os.minor(device)}"
    name = os.path.basename(os.path.realpath(link))
    text = (read(f"/sys/fs/{filesystem}/{name}/errors_count", 64) or b"").strip()
    return int(text) if text.isdigit() else 0


def moved_aside(path: str, ending: str) -> str:
    """The command that moves it to a name nobody has: what was moved there before stays."""
    names = (f"{path}{ending}.{at}" if at else f"{path}{ending}" for at in itertools.count())
    free = next(name for name in names if not os.path.lexists(name))
    return f"{system.customs.MOVE_ASIDE} {quoted(path)} {quoted(free)}"
