"""What earlier runs of an app left behind: sessions whose owner was killed, hand-overs whose time is up."""

from __future__ import annotations

import os

from ..leases import record
from ..model.belongings import Lease
from ..oskit.files import own_files
from ..oskit.files.opening import closing
from ..oskit.proc import locks, namespaces
from ..oskit.race import race_window as _race_window
from .directory import is_session_name, lease_name, remove, remove_lease
from .envelope import OUT, expiry_s, session_of
from .private import Folder, open_folder

_READ = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def clear(root: Folder, *, now_s: float) -> None:
    """Remove the dead of this root. What is alive, or in doubt, stays; nothing here ever fails the run that does it."""
    try:
        names = root.names()
    except OSError:
        return
    for name in names:
        if is_session_name(name):
            _clear_session(root, name)
        elif name.endswith(".lease") and is_session_name(name[: -len(".lease")]):
            _clear_orphaned_lease(root, name)
    if OUT in names:
        _clear_hand_overs(root, now_s)


def _clear_session(root: Folder, name: str) -> None:
    """Take the lock first: a living owner holds it. Without descriptors (Windows) nothing is known, so nothing goes."""
    if root.fd is None:
        return
    try:
        fd = os.open(name, _READ, dir_fd=root.fd)
    except PermissionError:
        # mode 0: its owner stands, or was killed, between mkdir and chmod. It is empty, and a live owner tries again
        own_files.remove_empty_dir(name, root.fd)
        return
    except OSError:
        return
    with closing(fd):
        _race_window("opened, not yet locked")
        if locks.try_flock(fd) and _is_still(root, name, fd):
            _clear_unlocked(root, name)


def _is_still(root: Folder, name: str, fd: int) -> bool:
    status = root.look(name)
    return status is not None and os.path.samestat(status, os.fstat(fd))


def _clear_unlocked(root: Folder, name: str) -> None:
    lease = _read_lease(root, name)
    if lease is None:  # killed before it was written, when nothing else could be in there yet
        is_gone = own_files.remove_empty_dir(name, root.fd)
    elif _is_over(lease) and not _is_used(root, name, lease.pidns):
        is_gone = remove(root, name)
    else:
        return
    if is_gone:
        remove_lease(root, name)


def _clear_orphaned_lease(root: Folder, name: str) -> None:
    """A directory is made before its lease and removed before it: a lease alone is the end of a removal."""
    try:
        session_name = name[: -len(".lease")]
        if root.look(session_name) is None:
            remove_lease(root, session_name)
    except OSError:
        return


def _read_lease(root: Folder, session_name: str) -> Lease | None:
    """None: there is none that can be read."""
    text = own_files.read_small(root.at(lease_name(session_name)), record.LONGEST, root.fd)
    return record.decode(text[0].decode("utf-8", "replace"), root.join(session_name)) if text else None


def _is_over(lease: Lease) -> bool:
    """Whether the owner has ended. On the same boot a free lock proves it for every pid namespace."""
    if namespaces.boot_id() is None:
        return _has_no_such_pid(lease.pid)
    from ..leases.lease_state import state_of
    from ..model.terms import OwnerState

    state = state_of(lease)
    return state is OwnerState.DEAD or (state is OwnerState.UNKNOWN and lease.boot == namespaces.boot_id())


def _has_no_such_pid(pid: int) -> bool:
    """For systems without /proc: the lock is free, and the number is, too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _is_used(root: Folder, name: str, pidns: str | None) -> bool:
    """Whether a child of the dead owner may still work in there. What goes here goes for good, so every doubt keeps: it
    is left to `tmpwarden clean`, which has a quarantine. Looked at only after a kill: it reads all of /proc."""
    from ..model.answers import Held, Nobody, NotMeasured
    from ..oskit.files import kernel_word
    from ..oskit.proc.holders import Holders

    path = _real_path(root, name)
    if path is None or root.fd is None:
        return True
    # its children were born in its pid namespace, which is ours: nobody outside matters
    match Holders.look(outside=pidns != namespaces.pid_namespace(), closely=True).within(path):
        case Held() | NotMeasured():
            return True
        case Nobody():  # a descriptor on its way between two processes is in no table of /proc
            return isinstance(kernel_word.ask(root.fd, name), Held)


def _real_path(root: Folder, name: str) -> str | None:
    """As the kernel spells it, and so /proc: a TMPDIR may lead through links. None where it is not that directory."""
    path = os.path.realpath(root.join(name))
    status = root.look(name)
    try:
        is_it = status is not None and os.path.samestat(status, os.lstat(path))
    except OSError:
        return None
    return path if is_it else None


def _clear_hand_overs(root: Folder, now_s: float) -> None:
    try:
        out = open_folder(root, OUT)
    except Exception:  # not ours or no directory: hand_over() will say so when it is needed
        return
    try:
        for name in out.names():
            _clear_hand_over(root, out, name, now_s)
    except OSError:
        return
    finally:
        out.close()


def _clear_hand_over(root: Folder, out: Folder, name: str, now_s: float) -> None:
    """Its time is up when the expiry in its name and its owner's last word (mtime, may lie ahead) have passed."""
    expiry, owner = expiry_s(name), session_of(name)
    status = out.look(name)
    if expiry is None or status is None or (owner is not None and root.look(owner) is not None):
        return  # a session that is still there is alive: the time counts from its end
    if now_s >= max(expiry, status.st_mtime):
        remove(out, name)
    else:
        own_files.remove_empty_dir(out.at(name), out.fd)  # the caller has run the cleanup command
