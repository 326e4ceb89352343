"""A scratch for an agent that somebody else starts: one call at spawn, and it is given back at the end."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import UnsafeRoot
from ..leases.scratch import adopt, open_scratch
from ..model.hot import Scratch
from ..oskit.files import places
from .teardown import teardown


@contextmanager
def lease(
    agent: str, session: str | None = None, *, pid: int | None = None, root: str | None = None
) -> Iterator[LeasedScratch]:
    """`with tmpwarden.lease("claude") as scratch: Popen(command, env=scratch.env)`.

    The lease names the caller (or `pid`), so a crash of the caller frees the scratch; children that still have it in
    their environment keep it until they end. Leaving the block tears the session down: an empty scratch goes, one
    with files waits in quarantine for a day, one that a child still uses stays until the next clean after its end.
    Raises NoSpace where none can be made, UnsafeScratch and UnsafeRoot (all TmpwardenError) where none may be.
    """
    name = session or uuid.uuid4().hex
    roots = (root,) if root else tuple(places.temp_roots())
    if not roots:
        raise UnsafeRoot("the temp directory", "there is none")
    base = roots[0]
    scratch = LeasedScratch(open_scratch(base, agent, name, pid=os.getpid() if pid is None else pid))
    try:
        yield scratch
    finally:
        teardown(name, roots=(base,) if root else ())


class LeasedScratch:
    """Where the agent's temporary files go. `env` is a whole environment: yours, with TMPDIR, TMP and TEMP set."""

    def __init__(self, scratch: Scratch) -> None:
        self._scratch = scratch

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
        """Add the agent's own process to the owners: the scratch then outlives a crash of the caller."""
        adopt(self._scratch.lease, pid)
