"""A /tmp of one's own: there is none."""

from __future__ import annotations

import os

from .no_answer import no_answer

IS_THERE = False
BIND = RECURSIVE = PRIVATE = READ_ONLY = CHANGE = 0


def unshare() -> None:
    """Raises OSError."""
    raise no_answer()


def mount(source: str, target: str, flags: int, *, kind: str | None = None, options: str | None = None) -> None:
    """Raises OSError."""
    raise no_answer()


def detach(target: str) -> None:
    """Raises OSError."""
    raise no_answer()


def why_not(code: int) -> str:
    """What an error of the above says, in words."""
    return os.strerror(code).lower()
