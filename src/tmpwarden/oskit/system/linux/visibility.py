"""Whether we can see everybody who might use a unit or carry a session. If not, "nobody does" is not known."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...proc import namespaces, procs
from .reading import read_whole

# Processes of a user's own that hide from that user (not dumpable, or in a namespace of their own), and that start no
# agent's command in a way we would miss: docs/liveness.md tells why each is here.
SHY_COMMANDS = frozenset((
    "(sd-pam)", "ssh-agent", "gpg-agent", "scdaemon", "keyboxd", "dirmngr", "sshd", "sshd-session", "gnome-keyring-d",
    "gnome-keyring-", "kwalletd5", "kwalletd6", "fusermount", "fusermount3", "polkit-agent-he",
))  # fmt: skip
_CONTAINER_CLIENTS = frozenset(("docker", "nerdctl", "podman", "docker-compose"))
_SANDBOXED_BROWSER = (b"--type=renderer", b"--type=zygote", b"--type=gpu-process", b"--type=utility", b"-contentproc")


def doubts(
    known: dict[int, procs.Process], unreadable: Mapping[int, OSError], *, outside: bool = True
) -> tuple[str, ...]:
    """Every reason, in words, why a process that matters may have been missed. `outside`: also those do that do not
    descend from this pid namespace."""
    reasons = []
    if outside and not namespaces.in_initial_pid_namespace():
        reasons.append("processes outside this PID namespace are not visible")
    if os.geteuid() != 0 and _hides_processes():
        reasons.append("/proc is mounted with hidepid")
    owners = _Owners()
    reasons += [doubt for pid, error in unreadable.items() if (doubt := _doubt_about(pid, error, known, owners))]
    if os.geteuid() != 0:
        reasons += [doubt for process in known.values() if (doubt := _doubt_behind(process))]
    return tuple(reasons)


def _hides_processes() -> bool:
    table = namespaces.MountTable.of()
    if table is None:
        return True
    hidden = {option for option in table.options("/proc") if option.startswith("hidepid=")}
    return bool(hidden - {"hidepid=0", "hidepid=off"})


_ENDED = -1  # nobody's


class _Owners(dict[int, int | None]):
    """Effective uid by process, each asked once: all daemons have the same few ancestors. None: not measured."""

    def __missing__(self, pid: int) -> int | None:
        try:
            owner = procs.owner_of(pid)
        except OSError:
            self[pid] = None
        else:
            self[pid] = _ENDED if owner is None else owner
        return self[pid]


def _doubt_about(pid: int, error: OSError, known: dict[int, procs.Process], owners: _Owners) -> str | None:
    """Why this unreadable process matters; None if it does not: a stranger's, or one of the shy ones."""
    owner, process = owners[pid], known.get(pid)
    if owner == _ENDED or _is_ending(pid):
        return None
    name = f"process {pid} ({process.command})" if process else f"process {pid}"
    is_refused = isinstance(error, PermissionError)
    if owner is None or (os.geteuid() == 0 and not is_refused):  # root may look at everybody
        return f"{name} cannot be read: {error.strerror}"
    if pid == 1 and is_refused:
        return None  # init runs no agent itself: what it starts has numbers of its own
    if owner == os.geteuid():
        if is_refused and process and _is_shy(process):
            return None
        return f"{name} of this user cannot be read" + ("" if is_refused else f": {error.strerror}")
    if any(owners[ancestor] in (os.geteuid(), None) for ancestor in procs.ancestors(pid, known)):
        return f"{name} was started by this user under another user's name"
    return None


def _is_ending(pid: int) -> bool:
    try:
        return procs.is_ending(pid)
    except OSError:
        return False


def _doubt_behind(process: procs.Process) -> str | None:
    """A client of ours whose container root's daemon runs: nothing in there descends from us."""
    if process.command not in _CONTAINER_CLIENTS or not procs.may_be_ours(process.pid):
        return None
    return f"process {process.pid} ({process.command}) may run a container that cannot be inspected"


def _is_shy(process: procs.Process) -> bool:
    if process.command in SHY_COMMANDS:
        return True
    words = (read_whole(f"/proc/{process.pid}/cmdline") or b"").split(b"\0")
    return any(word.startswith(_SANDBOXED_BROWSER) for word in words[1:])
