"""A child of ours that does one piece of work and never comes back into its caller's code."""

from __future__ import annotations

import os
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def forked(work: Callable[[], object]) -> int:
    """The child's pid; its status is 0 when `work` came to its end, else 1. Raises OSError where no process is had."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def reap(child: int) -> None:
    """Wait until it has ended. A host that ignores SIGCHLD, or reaps every child itself, has none to wait for."""
    with suppress(ChildProcessError):
        os.waitpid(child, 0)
