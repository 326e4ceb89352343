"""Files of ours that were made from others, and are believed only while those look as they did. Hot path."""

import posix
from marshal import loads

from .bundle import read_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .bundle import Stamp


def stamp(paths: "Iterable[str]") -> "list[Stamp]":
    """What the sources look like now. A file that is not there has a stamp too."""
    return [_stamp(path) for path in paths]


def _stamp(path: str) -> "Stamp":
    try:
        seen = posix.stat(path)
    except OSError:
        return [path, 0, 0, 0]
    return [path, seen.st_mtime_ns, seen.st_size, seen.st_ino]


def private_lines(path: str, max_bytes: int) -> "list[str]":
    """The lines of such a file; none where there is no such file."""
    return (read_private(path, max_bytes) or b"").decode("utf-8", "surrogateescape").split("\n")


def kept_document(path: str, max_bytes: int) -> "dict[str, Any] | None":
    """What was compiled into a file of ours; None if it is not there, not ours, or nothing of the kind."""
    data = read_private(path, max_bytes)
    try:
        document = loads(data) if data else None
    except (ValueError, EOFError, TypeError):
        return None
    return document if isinstance(document, dict) else None
