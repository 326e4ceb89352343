"""A session ends: when the agent is gone, an empty scratch goes and one with files waits in quarantine,
unless the file system is short of room.

Not even an empty one goes at once: a command that outlives the agent would find its TMPDIR missing.
"""

from ...leases import scratch
from ...oskit.files.places import temp_roots
from ...oskit.proc.procs import start_ticks
from .. import notebook
from ..dialects.common import Answer
from .hook_call import HookCall, is_second
from .session_scratch import remember

GOES_ON = ("clear", "resume")  # the same process starts another session, and this one may be resumed


def end(call: HookCall) -> Answer | None:
    if call.text_of("reason") in GOES_ON or is_second(call):
        return None
    if notebook.has_stated(call.notes, call.session):
        from ...lifecycle import background
        from .stating import note_made

        background.detach(lambda: note_made(call))
    paths = _paths(call)
    if not paths:
        remember(call, "")
    from ...lifecycle import background

    background.detach(lambda: _make_room(call, paths))
    return None


def _make_room(call: HookCall, paths: list[str]) -> None:
    """What it had in its scratch may still lie in quarantine, on the file system that it filled."""
    from .jobs import relieve_at_end

    _give_back(call, paths)
    relieve_at_end(call)


def _paths(call: HookCall) -> list[str]:
    """Every scratch of this agent process: sessions that it left by /clear have no end of their own."""
    pid = call.owner_pid
    mine = (call.dialect.agent, pid, start_ticks(pid))
    leases = scratch.read_all(tuple(temp_roots()))
    return [lease.path for lease in leases if (lease.agent, lease.pid, lease.start) == mine]


def _give_back(call: HookCall, paths: list[str]) -> None:
    """In the background: the lease names the agent, which ends a moment after this hook."""
    import os

    from ...lifecycle import background

    for path in paths:
        try:
            lease = scratch.read(path)
            if lease is not None and background.has_ended(lease.pid, lease.start):
                if lease.session == call.session and not os.listdir(path):
                    remember(call, "")  # nothing of it can be lost
                background.give_back(lease, observe=call.observes)
        except Exception as problem:
            notebook.log(call.notes, f"{path}: {type(problem).__name__}: {problem}")
