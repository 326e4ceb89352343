"""A scratch for an agent that somebody else starts: one call at spawn, and it is given back at the end."""

from __future__ import annotations

import os
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..errors import UnsafeRoot
from ..lazy_dataclass import dataclass
from ..leases.scratch import adopt, open_scratch
from ..model.belongings import ScratchDirectory
from ..oskit.files import places
from ..text import parse_size
from . import watch_size
from .teardown import teardown

_Block = tuple[int, str, str]  # process, temp root, session
_blocks: Counter[_Block] = Counter()  # that are open: threads may share a session
_lock = threading.Lock()


def _begin_anew() -> None:
    """In a fork: another thread of the parent may have held the lock."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_begin_anew)


@contextmanager
def lease(
    agent: str,
    session: str | None = None,
    *,
    pid: int | None = None,
    root: str | None = None,
    max_file: int | str | None = None,
    max_bytes: int | str | None = None,
    warn: Callable[[str], None] | None = None,
) -> Iterator[Scratch]:
    """Give an agent that you start a private temp directory for as long as the `with` block lasts.

    Use it as `with tmpwarden.lease("claude") as scratch:`. Leaving the block tears the session down: an empty directory
    is removed, one with files moves to quarantine for a day, and one that a child still uses stays until the next
    clean-up after the child's end. The lease names your process (or `pid`): if you crash, the next clean-up removes
    the directory as soon as no process has it in its environment any more. Where several threads are in blocks of one
    session, the last one to leave tears it down; a forked child that leaves the block does not.

    agent      whose files these are, such as "claude"; `tmpwarden agents` lists the known ones
    session    the name to use with `teardown`; without it, a random one
    root       make the directory below this one instead of the machine's temp root
    max_file   the largest size of a single file, such as "10G": a process that writes more is ended by the kernel
    max_bytes  the largest size of the whole directory: above it, the agent's processes are ended
    warn       called with a sentence, from a thread, at half of `max_bytes` and when it is reached

    `max_file` and `max_bytes` hold for processes that you give to `Scratch.adopt`, and for what they start.

    Raises errors.NoSpace on a full disk, errors.UnsafeScratch or errors.UnsafeRoot where the place is not safe.

    Example:

        import subprocess

        import tmpwarden

        with tmpwarden.lease("claude", session="job-1") as scratch:
            agent = subprocess.Popen(["sh", "-c", "echo hello > $TMPDIR/notes"], env=scratch.env)
            scratch.adopt(agent.pid)
            agent.wait()
    """
    name = session or uuid.uuid4().hex
    roots = (root,) if root else tuple(places.temp_roots())
    if not roots:
        raise UnsafeRoot("the temp directory", "there is none")
    base = roots[0]
    limits = SpawnLimits(_bytes(max_file), _bytes(max_bytes), warn or _say_nothing)
    block = os.getpid(), base, name
    with _lock:
        scratch = Scratch(open_scratch(base, agent, name, pid=block[0] if pid is None else pid), limits)
        _blocks[block] += 1
    try:
        yield scratch
    finally:
        if os.getpid() == block[0]:  # else we are a forked child of the one who entered
            _leave(block, (base,) if root else ())


def _leave(block: _Block, roots: tuple[str, ...]) -> None:
    with _lock:
        _blocks[block] -= 1
        if _blocks[block] == 0:
            del _blocks[block]
            teardown(block[2], roots=roots)


def _say_nothing(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class SpawnLimits:
    """What an agent may take. None: as much as there is."""

    max_file_bytes: int | None = None  # of every single file: the kernel holds it
    max_bytes: int | None = None  # of the whole scratch: looked at twice a second
    warn: Callable[[str], None] = _say_nothing


class Scratch:
    """The temp directory of one agent, as `lease` gives it.

    Example:

        import os

        import tmpwarden

        with tmpwarden.lease("claude") as scratch:
            assert scratch.env["TMPDIR"] == scratch.path
            assert os.stat(scratch.path).st_mode & 0o777 == 0o700
    """

    def __init__(self, scratch: ScratchDirectory, limits: SpawnLimits) -> None:
        self._scratch = scratch
        self._limits = limits

    @property
    def path(self) -> str:
        """The directory, open to nobody else (mode 0700)."""
        return self._scratch.path

    @property
    def session(self) -> str:
        """The name of the session: what `teardown` takes."""
        return self._scratch.lease.session

    @property
    def env(self) -> dict[str, str]:
        """A whole environment for the agent: yours, with TMPDIR, TMP and TEMP leading here."""
        return {**os.environ, **self._scratch.env}

    def adopt(self, pid: int) -> None:
        """Make the agent's own process an owner too, so that the directory outlives a crash of yours.

        From now on `max_file` and `max_bytes` hold for this process and for what it starts."""
        adopt(self._scratch.lease, pid)
        if self._limits.max_file_bytes is not None:
            import resource

            most = self._limits.max_file_bytes
            if hasattr(resource, "prlimit"):
                with suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
            else:
                self._limits.warn("max_file is not held: on this system only a process itself can set its limits")
        if self._limits.max_bytes is not None:
            with suppress(ProcessLookupError):
                watch_size.start_thread(pid, self.path, self._limits.max_bytes, self._limits.warn)


def _bytes(limit: int | str | None) -> int | None:
    return parse_size(limit) if isinstance(limit, str) else limit
