"""Whether we can see everybody who might carry a session. If not, "nobody carries it" is not known."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import namespaces, procs

# Processes of a user's own that hide from that user (not dumpable, or in a namespace of their own), and that start no
# agent's command in a way we would miss: docs/liveness.md tells why each is here.
SHY_COMMANDS = frozenset(
    (
        "(sd-pam)",
        "ssh-agent",
        "gpg-agent",
        "scdaemon",
        "keyboxd",
        "dirmngr",
        "sshd",
        "sshd-session",
        "gnome-keyring-d",
        "gnome-keyring-",
        "kwalletd5",
        "kwalletd6",
        "fusermount",
        "fusermount3",
        "polkit-agent-he",
    )
)
_CONTAINER_CLIENTS = frozenset(("docker", "nerdctl", "podman", "docker-compose"))
_SANDBOXED_BROWSER = (b"--type=renderer", b"--type=zygote", b"--type=gpu-process", b"--type=utility", b"-contentproc")


def doubts(known: dict[int, procs.Process], unreadable: Iterable[int]) -> tuple[str, ...]:
    """Every reason, in words, why a process that matters may have been missed."""
    found = []
    if not namespaces.in_initial_pid_namespace():
        found.append("processes outside this pid namespace cannot be seen")
    if os.geteuid() != 0 and _hides_processes():
        found.append("/proc is mounted with hidepid")
    owners = _Owners()
    found += [doubt for pid in unreadable if (doubt := _doubt_about(pid, known, owners))]
    if os.geteuid() != 0:
        found += [doubt for process in known.values() if (doubt := _doubt_behind(process))]
    return tuple(found)


def _hides_processes() -> bool:
    table = namespaces.MountTable.of()
    if table is None:
        return True
    hidden = {option for option in table.options("/proc") if option.startswith("hidepid=")}
    return bool(hidden - {"hidepid=0", "hidepid=off"})


class _Owners(dict[int, int | None]):
    """Effective uid by process, each asked once: all daemons have the same few ancestors."""

    def __missing__(self, pid: int) -> int | None:
        self[pid] = procs.owner_of(pid)
        return self[pid]


def _doubt_about(pid: int, known: dict[int, procs.Process], owners: _Owners) -> str | None:
    """Why this unreadable process matters; None if it does not: a stranger's, or one of the shy ones."""
    process = known.get(pid)
    owner = owners[pid]
    if process is None or owner is None or pid == 1:
        return None  # gone, or init, which runs no agent itself: what it starts has numbers of its own
    if owner == os.geteuid():
        return None if _is_shy(process) else f"process {pid} ({process.command}) of this user cannot be read"
    if any(owners[ancestor] == os.geteuid() for ancestor in procs.ancestors(pid, known)):
        return f"process {pid} ({process.command}) was started by this user as another one"
    return None


def _doubt_behind(process: procs.Process) -> str | None:
    """A client of ours whose container root's daemon runs: nothing in there descends from us."""
    if process.command not in _CONTAINER_CLIENTS or procs.owner_of(process.pid) != os.geteuid():
        return None
    return f"process {process.pid} ({process.command}) may run a container that cannot be looked into"


def _is_shy(process: procs.Process) -> bool:
    if process.command in SHY_COMMANDS:
        return True
    return any(word.startswith(_SANDBOXED_BROWSER) for word in procs.arguments(process.pid)[1:])
