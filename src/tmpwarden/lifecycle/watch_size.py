"""Watch how much a command leaves in its temp directory, and end it when that is too much. A process of its own."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress

from ..oskit.files import walk
from ..text import size

_EVERY_S = 0.5
_PATIENCE_S = 5.0


def start(child: int, scratch: str, max_bytes: int) -> None:
    """Fork the watcher. It ends with the command; whoever kills it loses the limit and nothing else."""
    grip = os.pidfd_open(child)
    middle = os.fork()
    if middle == 0:
        try:
            if os.fork() == 0:  # nobody has to wait for it
                _watch(grip, scratch, max_bytes)
        finally:
            os._exit(0)
    os.close(grip)
    with suppress(ChildProcessError):  # a host that ignores SIGCHLD
        os.waitpid(middle, 0)


def _watch(grip: int, scratch: str, max_bytes: int) -> None:
    while not select.select([grip], [], [], _EVERY_S)[0]:
        taken = _bytes_in(scratch)
        if taken is None or taken <= max_bytes:
            continue
        words = f"its temp directory holds {size(taken)}, more than --max-bytes {size(max_bytes)}; it is ended"
        os.write(2, os.fsencode(f"tmpwarden run: {words}\n"))
        signal.pidfd_send_signal(grip, signal.SIGTERM)
        if not select.select([grip], [], [], _PATIENCE_S)[0]:
            signal.pidfd_send_signal(grip, signal.SIGKILL)
        return


def _bytes_in(scratch: str) -> int | None:
    parent, _, name = scratch.rpartition("/")
    try:
        fd = walk.open_dir(parent)
    except OSError:
        return None
    try:
        seen = walk.measure(fd, name, uid=os.geteuid(), count_atime=False)
    except OSError:
        return None
    finally:
        os.close(fd)
    return seen.bytes if seen is not None else None
