"""Write the file that a person named with `-o`: whole or not at all, and never in the place of what is no file."""

from __future__ import annotations

import os

from ..errors import BadArgument
from ..oskit.files import atomic
from ..text import shown


def write(path: str, content: bytes | str, mode: int) -> None:
    """Replace a file or a link to one, or make it. Root's `-o /dev/stdout` would else put a file there."""
    if os.path.isdir(path):
        raise BadArgument(f"{shown(path)} is a directory", hint="name a file in it")
    if not _may_be_replaced(path):
        raise BadArgument(f"{shown(path)} is not a file", hint="`-o -` or no -o writes to stdout")
    atomic.write(path, content, mode)


def _may_be_replaced(path: str) -> bool:
    """A file, a link to one, or nothing; not a device, and not /dev/stdout, whatever it leads to now."""
    if os.path.islink(path) and os.readlink(path).startswith("/proc/"):
        return False
    return os.path.isfile(path) or not os.path.exists(path)
