"""The error of all that is not told."""

from __future__ import annotations

import errno


def no_answer() -> OSError:
    """Neither "no" nor "gone": the caller keeps."""
    return OSError(errno.ENOSYS, WHY)


WHY = "this system does not tell us about processes"
