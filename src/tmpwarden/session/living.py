"""The sessions that are open in this process, and what a forked child forgets of them."""

from __future__ import annotations

import os

from . import signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .session import Session

LIVE: dict[int, Session] = {}  # by id()


def _forget_after_fork() -> None:
    for one in list(LIVE.values()):
        one.disown()
    LIVE.clear()
    signals.forget_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
