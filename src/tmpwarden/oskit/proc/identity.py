"""Whether the process that a record names still lives. A pid alone is no identity: numbers are used again."""

from __future__ import annotations

from ...model.terms import OwnerState
from . import namespaces, procs

# btime moves with every correction of the clock, so dates closer than this prove nothing.
CLOCK_SLACK_S = 600.0


def identity_state(
    pid: int,
    start: int | None = None,
    boot: str | None = None,
    machine: str | None = None,
    pidns: str | None = None,
    recorded_s: float | None = None,
) -> OwnerState:
    """ALIVE, DEAD or UNKNOWN, as law 2 of the design says. `recorded_s`: when the record was written."""
    if not _is_this_machine(boot, machine):
        return OwnerState.UNKNOWN
    if boot is not None and boot != namespaces.boot_id():
        return OwnerState.DEAD
    if not _is_this_pid_namespace(pidns):
        return OwnerState.UNKNOWN
    try:
        process = procs.living(pid)
    except OSError:
        return OwnerState.UNKNOWN
    if process is None:
        return OwnerState.DEAD
    if start is not None:
        return OwnerState.ALIVE if process.start == start else OwnerState.DEAD
    return _without_start(process, recorded_s)


def _is_this_machine(boot: str | None, machine: str | None) -> bool:
    """One boot id is one kernel. Another boot id is an earlier boot only if the machine is known to be this one."""
    ours = namespaces.boot_id()
    if ours is None:
        return False
    if boot == ours:
        return True
    if boot is None and machine is None:
        return True
    return machine is not None and machine == namespaces.machine_id()


def _is_this_pid_namespace(pidns: str | None) -> bool:
    """A record that does not say is taken for ours only where ours is the whole machine's."""
    if pidns is None:
        return namespaces.in_initial_pid_namespace()
    return pidns == namespaces.pid_namespace()


def _without_start(process: procs.Process, recorded_s: float | None) -> OwnerState:
    """The number is in use, and the record does not say by whom: only dates are left."""
    booted, started = procs.boot_time_s(), procs.started_s(process.pid, process.start)
    if recorded_s is None or booted is None or started is None:
        return OwnerState.ALIVE
    if recorded_s < booted - CLOCK_SLACK_S:
        return OwnerState.DEAD
    return OwnerState.UNKNOWN if recorded_s < started - CLOCK_SLACK_S else OwnerState.ALIVE
