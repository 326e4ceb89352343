"""A scratch for an agent that somebody else starts: one call at spawn, and it is given back at the end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ..errors import UnsafeRoot
from ..lazy_dataclass import dataclass
from ..leases.scratch import adopt, open_scratch
from ..model.belongings import Scratch
from ..oskit.files import places
from ..text import parse_size
from . import watch_size
from .teardown import teardown


@contextmanager
def lease(
    agent: str,
    session: str | None = None,
    *,
    pid: int | None = None,
    root: str | None = None,
    max_file: int | str | None = None,
    max_bytes: int | str | None = None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Iterator[LeasedScratch]:
    """`with tmpwarden.lease("claude") as scratch: Popen(command, env=scratch.env)`.

    The lease names the caller (or `pid`), so a crash of the caller frees the scratch; children that still have it in
    their environment keep it until they end. Leaving the block tears the session down: an empty scratch goes, one
    with files waits in quarantine for a day, one that a child still uses stays until the next clean after its end.
    `max_file` and `max_bytes` ("10G") hold for the processes that are handed to `adopt`, and for what these start:
    no file of theirs grows past the first (the kernel ends who tries), and they are ended when the scratch holds more
    than the second; `warn` hears of it, once at half of it, from a thread.
    Raises NoSpace where none can be made, UnsafeScratch and UnsafeRoot (all TmpwardenError) where none may be.
    """
    name = session or uuid.uuid4().hex
    roots = (root,) if root else tuple(places.temp_roots())
    if not roots:
        raise UnsafeRoot("the temp directory", "there is none")
    base = roots[0]
    limits = SpawnLimits(_bytes(max_file), _bytes(max_bytes), warn)
    scratch = LeasedScratch(open_scratch(base, agent, name, pid=os.getpid() if pid is None else pid), limits)
    try:
        yield scratch
    finally:
        teardown(name, roots=(base,) if root else ())


@dataclass(frozen=True, slots=True)
class SpawnLimits:
    """What an agent may take. None: as much as there is."""

    max_file_bytes: int | None = None  # of every single file: the kernel holds it
    max_bytes: int | None = None  # of the whole scratch: looked at twice a second
    warn: Callable[[str], None] = lambda sentence: None


class LeasedScratch:
    """Where the agent's temporary files go. `env` is a whole environment: yours, with TMPDIR, TMP and TEMP set."""

    def __init__(self, scratch: Scratch, limits: SpawnLimits) -> None:
        self._scratch = scratch
        self._limits = limits

    @property
    def path(self) -> str:
        return self._scratch.path

    @property
    def session(self) -> str:
        return self._scratch.lease.session

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, **self._scratch.env}

    def adopt(self, pid: int) -> None:
        """Add the agent's own process to the owners: the scratch then outlives a crash of the caller. From now on the
        limits hold for it, and for what it starts from now on."""
        adopt(self._scratch.lease, pid)
        if self._limits.max_file_bytes is not None:
            import resource

            most = self._limits.max_file_bytes
            with suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))
        if self._limits.max_bytes is not None:
            with suppress(ProcessLookupError):
                watch_size.start_thread(pid, self.path, self._limits.max_bytes, self._limits.warn)


def _bytes(limit: int | str | None) -> int | None:
    return parse_size(limit) if isinstance(limit, str) else limit
