"""A lease of this moment; as text, and back."""

from __future__ import annotations

import time

from .. import small_json
from ..model.belongings import Lease
from ..oskit.proc import namespaces, procs

LONGEST = 1 << 16
_FIELDS = ("path", "agent", "session", "machine", "pid", "start", "boot", "pidns", "config_home", "created", "cgroup")


def lease_for(
    path: str, agent: str, session: str, pid: int, start: int | None = None, config_home: str | None = None
) -> Lease:
    """Who runs this session, as far as the system tells."""
    return Lease(
        path,
        agent,
        session,
        pid=pid,
        start=procs.start_ticks(pid) if start is None else start,
        boot=namespaces.boot_id(),
        machine=namespaces.machine_id(),
        pidns=namespaces.pid_namespace(),
        config_home=config_home,
        created=time.time(),
        cgroup=procs.cgroup(pid),
    )


def encode(lease: Lease) -> str:
    """One JSON object on one line."""
    fields: dict[str, object] = {name: getattr(lease, name) for name in _FIELDS}
    if lease.others:
        fields["others"] = lease.others
    return small_json.encode(fields) + "\n"


def decode(text: str, path: str) -> Lease | None:
    """The lease of the scratch at `path` (where it lies counts, not what it says), or None if this is no lease."""
    fields = small_json.decode_object(text)
    if fields is None:
        return None
    agent, session, pid = fields.get("agent"), fields.get("session"), fields.get("pid")
    if not isinstance(agent, str) or not isinstance(session, str) or not is_pid(pid):
        return None
    return Lease(
        path,
        agent,
        session,
        pid=pid,  # type: ignore[arg-type]
        start=whole_number(fields.get("start")),
        boot=_text(fields.get("boot")),
        machine=_text(fields.get("machine")),
        pidns=_text(fields.get("pidns")),
        config_home=_text(fields.get("config_home")),
        created=_seconds(fields.get("created")),
        others=_others(fields.get("others")),
        cgroup=_text(fields.get("cgroup")),
    )


def is_pid(value: object) -> bool:
    return type(value) is int and 0 < value < 1 << 22


def whole_number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1 << 63 else 0.0


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _others(value: object) -> tuple[tuple[int, int | None], ...]:
    if not isinstance(value, list):
        return ()
    pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2 and is_pid(pair[0])]
    return tuple((pid, whole_number(start)) for pid, start in pairs)
