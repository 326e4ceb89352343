"""One clean at a time for each user. The lock is a flock, so the kernel lets go of it whatever happens to us."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..errors import LockHeld
from ..oskit.files import own_dirs, walk
from ..oskit.files.opening import closing
from ..oskit.proc import locks

_POLL_S = 0.05
_held: set[int] = set()


def _let_go() -> None:
    """In a fork: a helper that is stopped, and whose clean was killed, must not hold the lock for it. The number stays
    taken, for a host that forks in the middle ends its copy of the block as well."""
    for fd in _held:
        with suppress(OSError), closing(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)) as null:
            os.dup2(null, fd, inheritable=False)
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


@contextmanager
def clean_lock(state: str, wait_s: float) -> Iterator[None]:
    """Hold the lock for the block; LockHeld if it is not free within `wait_s`."""
    with closing(_open(state)) as fd:
        deadline = time.monotonic() + wait_s
        while not locks.try_flock(fd):
            if time.monotonic() >= deadline:
                raise LockHeld()
            time.sleep(_POLL_S)
        _held.add(fd)
        try:
            yield
        finally:
            _held.discard(fd)
            locks.unlock(fd)


def _open(state: str) -> int:
    """The state directory itself carries the lock; where it cannot be made, what exists of the way to it."""
    try:
        return own_dirs.open_private_dir(state)
    except OSError:
        while state != "/" and not os.path.isdir(state):
            state = os.path.dirname(state) or "/"
    return walk.open_dir(state)
