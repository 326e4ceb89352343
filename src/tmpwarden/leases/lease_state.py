"""Whether a lease's owner lives. Apart from the files of leases, which hooks read without asking this."""

from __future__ import annotations

from ..model.belongings import Lease
from ..model.terms import OwnerState
from ..oskit.proc.identity import identity_state


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


def live_pids(lease: Lease) -> tuple[int, ...]:
    return tuple(pid for pid, state in states(lease) if state is OwnerState.ALIVE)
