"""Whether a lease's owner lives. Apart from the files of leases, which hooks read without asking this."""

from __future__ import annotations

from ..model.answers import Beginning
from ..model.belongings import Lease
from ..model.terms import OwnerState
from ..oskit.files import dated
from ..oskit.files.opening import closing
from ..oskit.proc import namespaces
from ..oskit.proc.identity import identity_state
from . import lease_files


def states(lease: Lease) -> tuple[tuple[int, OwnerState], ...]:
    """Each process that the lease names, and what became of it."""
    return tuple(
        (
            pid,
            identity_state(
                pid, start, boot=lease.boot, machine=lease.machine, pidns=lease.pidns, recorded_s=lease.created or None
            ),
        )
        for pid, start in ((lease.pid, lease.start), *lease.others)
    )


def state_of(lease: Lease) -> OwnerState:
    """Alive while any of its processes is, dead when all are gone."""
    all_states = {state for _, state in states(lease)}
    return next((state for state in (OwnerState.ALIVE, OwnerState.UNKNOWN) if state in all_states), OwnerState.DEAD)


def began(lease: Lease) -> Beginning | None:
    """When the first process that the lease names did, and when its scratch was made. None where one of the two is not
    known, or was in another boot."""
    starts = [start for start in (lease.start, *(start for _, start in lease.others)) if start is not None]
    if len(starts) <= len(lease.others) or lease.boot is None or lease.boot != namespaces.boot_id():
        return None
    parent, _, name = lease.path.rpartition("/")
    try:
        with closing(lease_files.open_holder(parent)) as fd:
            born_ns = dated.born_ns(fd, name)
    except OSError:
        return None
    return None if born_ns is None else (min(starts), born_ns / 1e9)


def live_pids(lease: Lease) -> tuple[int, ...]:
    return tuple(pid for pid, state in states(lease) if state is OwnerState.ALIVE)
