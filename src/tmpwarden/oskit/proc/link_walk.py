"""Follow the links of a path by hand, and stop before a place that must not be touched. Part of the hot path."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_LINKS = 40  # as the kernel


def follow(path: str, is_end: "Callable[[str], bool]") -> tuple[str, tuple[str, ...], bool]:
    """(where an absolute path leads, the names that are left beyond that, whether `is_end` said so). It is asked about
    each place before anything looks at that; with too many links the way ends unasked."""
    here, left, links = "/", path.split("/")[::-1], 0
    while left:
        part = left.pop()
        if part == "..":
            here = os.path.dirname(here)
        if part in ("", ".", ".."):
            continue
        step = f"{here.rstrip('/')}/{part}"
        if is_end(step):
            return step, tuple(left[::-1]), True
        if links > _MOST_LINKS:
            return step, tuple(left[::-1]), False
        try:
            target = os.readlink(step)
        except (OSError, ValueError):  # no link, or nothing there
            here = step
            continue
        links += 1
        left += target.split("/")[::-1]
        here = "/" if target.startswith("/") else here
    return here, (), False
