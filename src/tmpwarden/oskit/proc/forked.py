"""A child of ours that does one piece of work and never comes back into its caller's code. Light enough for hooks."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def forked(work: "Callable[[], object]") -> int:
    """The child's pid; its status is 0 when `work` came to its end, else 1. Raises OSError where no process is had."""
    try:
        child = posix.fork()
    except RuntimeError as refusal:  # from 3.12 on: the interpreter is ending, as in a host's `atexit`
        raise BlockingIOError(11, str(refusal)) from None
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    finally:
        posix._exit(status)


def reap(child: int) -> None:
    """Wait until it has ended. A host that ignores SIGCHLD, or reaps every child itself, has none to wait for."""
    try:
        posix.waitpid(child, 0)
    except ChildProcessError:
        pass
