"""Leases by command, for orchestrators in any language: a process acquires a session's directory and gives it back.

`lifecycle/spawn.py` is the same for Python, where a `with` block says when. Here a session has as many owners as opened
it, and its directory goes when the last of them has closed it or is gone.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import BadArgument, NotFound, NotTheOwner, UnsafeRoot
from ..lazy_dataclass import dataclass, field
from ..leases import lease_files, scratch
from ..model.belongings import Lease, ScratchDirectory
from ..model.terms import OwnerState
from ..oskit.files import places
from ..oskit.files.opening import closing
from ..oskit.proc import locks, procs
from ..oskit.proc.identity import identity_state
from ..sweep.compose import leased_elsewhere
from ..text import shown
from .teardown import TeardownResult, TeardownWish, torn_down

ANY_AGENT = "agent"  # what a lease says that names none
_LONGEST_NAME = 255
_WAIT_S, _POLL_S = 5.0, 0.02


@dataclass(frozen=True, slots=True)
class Holding:
    """One process that a lease names, and what became of it."""

    pid: int
    start: int | None
    state: OwnerState


@dataclass(slots=True)
class Closed:
    """What closing did: the teardown, or those that own it still."""

    result: TeardownResult
    owners: list[Holding] = field(default_factory=list)


def acquire(
    session: str | None, agent: str | None, pid: int, start: int | None, root: str | None = None
) -> ScratchDirectory:
    """The session's directory, from now on also this process's. Raises NotFound if that process is gone."""
    for name, what in ((session, "--session"), (agent, "--agent")):
        if name is not None and not (name.strip() and len(name) <= _LONGEST_NAME):
            raise BadArgument(
                f"{what} is {'too long' if name.strip() else 'empty'}", hint="a variable that is not set?"
            )
    began = _start_of(pid, start)
    base = root or next(iter(places.temp_roots()), None)
    if base is None:
        raise UnsafeRoot("the temp directory", "there is none")
    session = session or uuid.uuid4().hex
    with _alone(places.ours(base)):
        agent = agent or _agent_of(base, session) or ANY_AGENT
        return scratch.open_scratch(base, agent, session, pid=pid, start=began)


def give_back(
    session: str,
    agent: str | None,
    pid: int,
    start: int | None,
    *,
    roots: tuple[str, ...] = (),
    config_file: str | None = None,
    wait: bool = False,
) -> Closed:
    """This process, and no other, needs the session's directory no more. The last one that says so tears it down.

    Closing what is closed does nothing. Raises NotTheOwner if the lease does not name this process."""
    wish = TeardownWish(session, None, agent)
    leases = [lease for lease in known(roots, by_name=True) if wish.means(lease)]
    if not leases:
        return Closed(TeardownResult(session))
    mine = [lease for lease in leases if any(_is(owner, pid, start) for owner in _owners(lease))]
    if not mine:
        raise NotTheOwner(shown(session), pid)
    remaining: list[Holding] = []
    for lease in mine:
        with _alone(os.path.dirname(lease.path)):
            # read again under the lock: another owner may have signed off since we listed the leases
            now = scratch.read(lease.path) or lease
            rest = [one for one in holdings(now) if not _is((one.pid, one.start), pid, start)]
            # an owner that cannot be checked counts as one that still needs it
            rest = [one for one in rest if one.state is not OwnerState.DEAD]
            if rest:
                scratch.disown(now, tuple((one.pid, one.start) for one in rest))
                remaining += rest
    if remaining:
        return Closed(TeardownResult(session), remaining)
    return Closed(torn_down(wish, roots=roots, config_file=config_file, wait=wait, givers=frozenset({pid})))


def known(roots: tuple[str, ...] = (), unread: list[str] | None = None, *, by_name: bool = False) -> tuple[Lease, ...]:
    """Every lease below these roots, or below all that a clean looks at; `by_name`: that a teardown looks at."""
    temp_roots = places.temp_roots(roots, extra=scratch.leased_roots())
    elsewhere = leased_elsewhere(temp_roots) if by_name and not roots else ()
    return scratch.read_all((*temp_roots, *elsewhere), unread)


def holdings(lease: Lease) -> list[Holding]:
    facts = lease.boot, lease.machine, lease.pidns, lease.created or None
    return [Holding(pid, start, identity_state(pid, start, *facts)) for pid, start in _owners(lease)]


def _owners(lease: Lease) -> tuple[tuple[int, int | None], ...]:
    return (lease.pid, lease.start), *lease.others


def _is(owner: tuple[int, int | None], pid: int, start: int | None) -> bool:
    return owner[0] == pid and start in (None, owner[1])


def _start_of(pid: int, start: int | None) -> int:
    """A number alone is no identity: what the process that is meant started at."""
    try:
        process = procs.living(pid)
    except OSError as error:
        raise NotFound(f"process {pid} could not be checked: {error.strerror}") from None
    if process is None:
        raise NotFound(f"there is no process {pid}", hint="--pid names the process that owns the directory")
    if start not in (None, process.start):
        raise NotFound(
            f"process {pid} started at {process.start}, not at {start}", hint="the process you meant has ended"
        )
    return process.start


def _agent_of(base: str, session: str) -> str | None:
    """Who names no agent means the one that has this session already."""
    agents = {lease.agent for lease in scratch.read_all((base,)) if lease.session == session}
    return agents.pop() if len(agents) == 1 else None


@contextmanager
def _alone(holder: str) -> Iterator[None]:
    """Two that own one session may open or close it at once, and neither may forget the other. One that is stopped in
    here must not keep the others waiting for ever."""
    with closing(lease_files.open_holder(holder, make=True)) as fd:
        until = time.monotonic() + _WAIT_S
        while not locks.try_flock(fd) and time.monotonic() < until:
            time.sleep(_POLL_S)
        yield
