"""Watch how much a command leaves in its temp directory: a word at half of the limit, its end when that is too much."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable

from ..oskit import system
from ..oskit.files import walk
from ..oskit.files.opening import closing
from ..oskit.proc.forked import forked, reap
from ..text import duration, size

_EVERY_S = 0.5


def start(child: int, scratch: str, max_bytes: int) -> int:
    """Fork the watcher. It ends with the command; killing it loses the limit and nothing else. Where the system
    gives it nothing to wait by, a descriptor is returned, to be closed when the command has ended; else -1."""
    grip, over = (system.ending.hold(child), -1) if system.ending.SURVIVES_FORK else os.pipe()

    def watch() -> None:
        if over >= 0:
            os.close(over)
        _watch(child, grip, scratch, max_bytes, say)

    reap(forked(lambda: forked(watch)))  # nobody has to wait for it
    os.close(grip)
    return over


def start_thread(child: int, scratch: str, max_bytes: int, tell: Callable[[str], None]) -> None:
    """The same for a program that has threads of its own, and must not fork. Ends with the child."""
    try:
        grip = system.ending.hold(child)
    except ProcessLookupError:
        raise
    except OSError as error:
        tell(f"max_bytes={size(max_bytes)} cannot be enforced: process {child} cannot be waited for ({error.strerror})")
        return

    def watch() -> None:
        with closing(grip):
            _watch(child, grip, scratch, max_bytes, tell)

    threading.Thread(target=watch, name="tmpwarden watches a scratch", daemon=True).start()


def say(sentence: str) -> None:
    os.write(2, os.fsencode(f"tmpwarden run: {sentence}\n"))


def _watch(child: int, grip: int, scratch: str, max_bytes: int, tell: Callable[[str], None]) -> None:
    started_s, is_reported = time.monotonic(), False
    while not select.select([grip], [], [], _EVERY_S)[0]:
        taken = walk.bytes_at(scratch)
        if taken is None or taken <= max_bytes // 2:
            continue
        if taken <= max_bytes:
            if not is_reported:
                rate = taken / max(0.001, time.monotonic() - started_s)
                soon = duration(max(1.0, (max_bytes - taken) / rate))
                tell(f"{_holds(taken)}, half of {_limit(max_bytes)}; at this rate COMMAND is ended in about {soon}")
            is_reported = True
            continue
        tell(f"{_holds(taken)}, more than {_limit(max_bytes)}; COMMAND is ended")
        _end(child, scratch)
        return


def _end(child: int, scratch: str) -> None:
    """The command, what descends from it, and what else has the scratch as its TMPDIR: a shell that ends alone leaves
    the one that writes."""
    from ..model.processes import Fate, Orphan  # few commands come here
    from ..oskit.proc.environs import temp_directories
    from ..processes import census, end

    seen = census.Census.take()
    if child not in seen.known:  # nobody can be seen here: it is our own child, and not yet waited for
        os.kill(child, signal.SIGTERM)
        return
    inside = {one.pid for one in seen.own() if any(value == scratch for _, value in temp_directories(one.environ))}
    pids = {child, *seen.descendants(child), *inside}
    doomed = [
        Orphan(
            pid=one.pid,
            start=one.start,
            command=one.name,
            age_s=0.0,
            cpu_s=one.cpu_s,
            memory_bytes=0,
            ports=(),
            held_bytes=0,
            row=None,
            binding=None,
            fate=Fate.KEEP,
            reason="it exceeds --max-bytes",
        )
        for one in (seen.known[pid] for pid in pids if pid in seen.known)
    ]
    end.end(doomed, tell=lambda ended: None)


def _holds(taken: int) -> str:
    return f"its temp directory holds {size(taken)}"


def _limit(max_bytes: int) -> str:
    return f"--max-bytes {size(max_bytes)}"
