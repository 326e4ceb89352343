"""A private directory for one session, and the lease beside it that says who it belongs to. Part of the hot path."""

from __future__ import annotations

import errno
import os

from ..agent_facts import FACTS, SANDBOXES
from ..errors import NoSpace, UnsafeScratch
from ..model.belongings import Lease, ScratchDirectory
from ..oskit.files import atomic, own_dirs, own_files, places
from ..oskit.proc import procs
from . import lease_files, record

_TRIES = 16
_DISPOSABLE = "r"
_YOUNG_S = 86400.0  # a lease is dated anew at most once a day
# Below a temp root: where our directories are, and where they are for an agent whose sandbox may write nowhere else.
_OURS = "tmpwarden-{uid}"
_PLACES = (_OURS, *SANDBOXES)


def open_scratch(
    root: str,
    agent: str,
    session: str,
    *,
    pid: int,
    start: int | None = None,
    config_home: str | None = None,
    sandboxed: bool = False,
    disposable: bool = False,
) -> ScratchDirectory:
    """The scratch of this session: the one it had, or a new one. Raises UnsafeScratch or NoSpace.

    `pid` is the agent's process. `sandboxed`: only the agent's own directory below the root can be written.
    `disposable`: nobody will want it back; its name says so, and the run that finds it without an owner destroys it.
    """
    base = _base(root, FACTS[agent]["sandbox"] if sandboxed else _OURS)
    try:
        fd = lease_files.open_holder(base, make=True)
        try:
            name = _free_name(fd, base, agent, session, _DISPOSABLE if disposable else "")
            path = f"{base}/{name}"
            lease = record.lease_for(path, agent, session=session, pid=pid, start=start, config_home=config_home)
            is_new = not own_files.exists(name, fd)
            os.close(own_dirs.open_child(fd, name, path, make=True))
            _write_beside(fd, name, lease, is_new)
        finally:
            os.close(fd)
    except OSError as error:
        if error.errno in atomic.NO_ROOM:
            raise NoSpace(root, error.strerror) from None
        raise
    note_root(root)
    return ScratchDirectory(path, lease, environment(path))


def environment(path: str) -> dict[str, str]:
    """What leads a command's temporary files into a scratch."""
    return {"TMPDIR": path, "TMP": path, "TEMP": path}


def find(root: str, agent: str, session: str) -> Lease | None:
    """The lease of this session below `root`, if it has one."""
    near = (lease for base in _bases(root) for lease in lease_files.leases_in(base, _names(agent, session)))
    return next((lease for lease in near if (lease.agent, lease.session) == (agent, session)), None)


def read(path: str) -> Lease | None:
    """The lease of the scratch at `path`; None if there is none, or it is broken or not ours."""
    base, name = os.path.split(path)
    return next(iter(lease_files.leases_in(base, [name])), None)


def read_all(roots: tuple[str, ...], unread: list[str] | None = None) -> tuple[Lease, ...]:
    """Every lease below these temp roots. One that cannot be read is passed over: its scratch has no known owner."""
    return tuple(
        lease for root in roots for base in _bases(root) for lease in lease_files.leases_in(base, unread=unread)
    )


def keep_young(roots: tuple[str, ...], now_s: float) -> None:
    """Date the leases of live owners, and their scratches, anew: macOS takes what lay in its temp directories unread
    for three days, systemd what is ten days old. A scratch whose lease is gone would have an unknown owner."""
    from .lease_state import live_pids  # a hook that opens a scratch does not ask who lives

    for lease in read_all(roots):
        try:
            if now_s - os.stat(lease.path + lease_files.ENDING).st_mtime < _YOUNG_S or not live_pids(lease):
                continue
            base, name = os.path.split(lease.path)
            fd = lease_files.open_holder(base)
            try:
                for each in (name + lease_files.ENDING, name):
                    os.utime(each, (now_s, now_s), dir_fd=fd, follow_symlinks=False)
            finally:
                os.close(fd)
        except (OSError, UnsafeScratch):
            continue  # gone meanwhile, or read-only


def adopt(lease: Lease, pid: int) -> Lease:
    """Add a process to those that own a scratch: it is free only when all of them are gone."""
    start = procs.start_ticks(pid)
    if (pid, start) not in ((lease.pid, lease.start), *lease.others):
        lease.others = (*lease.others, (pid, start))
        lease_files.write(lease)
    return lease


def disown(lease: Lease, survivors: tuple[tuple[int, int | None], ...] = ()) -> None:
    """Its owner gave it back: from now on only those of `staying` own it, or, with none, only those who use it keep it.
    No process ever started at tick 0."""
    if survivors:
        (lease.pid, lease.start), *others = survivors
        lease.others = tuple(others)
    else:
        lease.start, lease.others = 0, ()
    try:
        lease_files.write(lease)
    except OSError:
        if not survivors:
            lease_files.remove(lease.path)


def destroy_own(path: str) -> None:
    """The scratch that this very process made and nobody is to want back, with its lease. What will not go is left to
    the next clean."""
    from ..oskit.files.purge import purge_own

    base, name = os.path.split(path)
    try:
        fd = lease_files.open_holder(base)
    except OSError:
        return
    try:
        purge_own(fd, name)
    finally:
        os.close(fd)
    forget(path)


def forget(path: str) -> None:
    """Remove the lease of a scratch that is no more."""
    if not os.path.lexists(path):
        lease_files.remove(path)


def _bases(root: str) -> tuple[str, ...]:
    return tuple(_base(root, place) for place in _PLACES)


def _base(root: str, place: str) -> str:
    return f"{root.rstrip('/')}/{place.format(uid=os.geteuid())}"


def _names(agent: str, session: str, prefix: str = "") -> list[str]:
    """The names a session may have, likeliest first. The same session always gets the same: what an agent wrote into an
    environment file stays true after a clean-up and a resume."""
    return [f"{prefix}{_hash(f'{attempt}:{agent}:{session}'):08x}" for attempt in range(_TRIES)]


def _hash(text: str) -> int:
    """FNV-1a, 32 bits: an import of hashlib or zlib would cost more. Nobody but us can create names in there."""
    value = 0x811C9DC5
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def _free_name(fd: int, base: str, agent: str, session: str, prefix: str) -> str:
    """The name this session has, else the first that no other session's lease has taken."""
    free = []
    for name in _names(agent, session, prefix):
        lease = lease_files.read_at(fd, name, f"{base}/{name}")
        if lease is None:
            free.append(name)
        elif (lease.agent, lease.session) == (agent, session):
            return name
    if not free:
        raise OSError(errno.EEXIST, "no free name for a scratch directory", base)
    return free[0]


def _write_beside(fd: int, name: str, lease: Lease, is_new: bool) -> None:
    """A full disk must not cost a session the scratch it has. The old lease then goes all the same: that gives room for
    the new one, and without any the owner is unknown, which spares the scratch; one that is dead would not."""
    known = lease_files.read_at(fd, name, lease.path)
    if known is not None and _same_owner(known, lease):
        lease.created, lease.others = known.created, known.others
        return
    lease.others = _others_alive(known, lease) if known is not None else ()
    try:
        atomic.write(name + lease_files.ENDING, record.encode(lease), dir_fd=fd)
    except OSError:
        if is_new:
            own_files.remove_empty_dir(name, fd)
            raise
        if known is None:
            raise
        own_files.remove_file(name + lease_files.ENDING, fd)
        _write_again(fd, name, lease)


def _write_again(fd: int, name: str, lease: Lease) -> None:
    try:
        atomic.write(name + lease_files.ENDING, record.encode(lease), dir_fd=fd)
    except OSError:
        pass


def _others_alive(known: Lease, lease: Lease) -> tuple[tuple[int, int | None], ...]:
    """Two processes may go on with one session: the end of one must not take the scratch from the other."""
    if (known.boot, known.machine, known.pidns) != (lease.boot, lease.machine, lease.pidns):
        return ()
    owners = ((known.pid, known.start), *known.others)
    return tuple(
        (pid, start) for pid, start in owners if start and pid != lease.pid and procs.start_ticks(pid) == start
    )


def _same_owner(known: Lease, lease: Lease) -> bool:
    return all(
        getattr(known, name) == getattr(lease, name) for name in ("pid", "start", "boot", "pidns", "config_home")
    )


# Roots below which a scratch was ever leased: `lease(root=R)`, or the TMPDIR of one shell. A timer knows neither.
#
# One path a line, in our state. Part of the hot path: it costs one look at a small file, and only for uncommon
# roots.

_NAME, _MOST, _LONGEST = "leased-roots", 64, 1 << 16


def note_root(root: str) -> None:
    """Remember `root`, unless every run looks there anyway."""
    path = os.path.abspath(root)
    known = leased_roots()
    if places.is_common_root(path) or path in known or "\n" in path:
        return
    try:
        own_dirs.make_private_dir(places.state_dir())
        atomic.write(_path(), "".join(f"{each}\n" for each in (*known, path)[-_MOST:]))
    except OSError:
        return  # a full disk: the next lease tries again


def leased_roots() -> tuple[str, ...]:
    """Those that are known; whether they are still there, and safe, is for the run to see."""
    content = own_files.read_small(_path(), _LONGEST)
    text = content[0].decode("utf-8", "surrogateescape") if content else ""
    return tuple(line for line in text.split("\n") if line.startswith("/"))


def _path() -> str:
    return os.path.join(places.state_dir(), _NAME)
