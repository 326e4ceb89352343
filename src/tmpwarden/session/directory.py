"""A session's directory `s<8 hex>`: taken with a lock and a lease, given back whole."""

from __future__ import annotations

import os
import stat

from ..errors import BadArgument, NoSpace, UnsafeScratch
from ..leases import record
from ..oskit.files import own_dirs, own_files
from ..oskit.files.opening import closing
from ..oskit.proc import locks
from ..text import shown
from .private import HAS_DIR_FDS, Folder, explained, make_file, make_folder, open_folder

if HAS_DIR_FDS:
    from ..oskit.files.purge import purge_own

_TRIES = 100  # a sweeper may take our directory before we have locked it; it is empty then, and we take another
_HEX = frozenset("0123456789abcdef")


class SessionDirectory:
    """One session's directory and the root it lies in, both held by descriptors."""

    __slots__ = ("folder", "name", "root")

    def __init__(self, root: Folder, name: str, folder: Folder) -> None:
        self.root = root
        self.name = name
        self.folder = folder

    def give_back(self) -> bool:
        """Remove it all; whether nothing is left. The lease goes last: the rest stays a dead owner's."""
        is_gone = remove(self.root, self.name)
        if is_gone:
            remove_lease(self.root, self.name)
        self.let_go()
        return is_gone

    def let_go(self) -> None:
        """Close the descriptors, and with the last copy of them the lock. Nothing is removed."""
        self.folder.close()
        self.root.close()


def lease_name(session_name: str) -> str:
    return session_name + ".lease"


def is_session_name(name: str) -> bool:
    return len(name) == 9 and name[0] == "s" and _HEX.issuperset(name[1:])


def make_directory(root: Folder, app: str) -> SessionDirectory:
    """A fresh directory, locked before its lease is written and leased before anything else is put into it."""
    for _ in range(_TRIES):
        name = "s" + os.urandom(4).hex()
        try:
            folder = make_folder(root, name)
        except (FileExistsError, FileNotFoundError):
            if root.fd is not None and not os.fstat(root.fd).st_nlink:
                break  # the whole root was removed under us
            continue
        except OSError as error:
            remove(root, name)
            raise explained(error, root.path) from None
        taken = SessionDirectory(root, name, folder)
        if _is_leased(taken, app):
            return taken
    raise FileNotFoundError(root.path)


def _is_leased(taken: SessionDirectory, app: str) -> bool:
    """Lock it and write the lease; False if a sweeper was faster and it is gone."""
    try:
        if taken.folder.fd is not None:
            locks.flock(taken.folder.fd)
            if not os.fstat(taken.folder.fd).st_nlink:
                taken.folder.close()
                return False
        _write_lease(taken, app)
    except (OSError, NoSpace, UnsafeScratch) as error:
        remove(taken.root, taken.name)
        remove_lease(taken.root, taken.name)
        taken.folder.close()
        raise explained(error, taken.root.path) if isinstance(error, OSError) else error from None
    return True


def _write_lease(taken: SessionDirectory, app: str) -> None:
    line = record.encode(record.lease_for(taken.folder.path, app, taken.name, os.getpid())).encode("ascii")
    with closing(make_file(taken.root, lease_name(taken.name))) as fd:
        while line:
            line = line[os.write(fd, line) :]


def remove(parent: Folder, name: str) -> bool:
    """A file or a tree below a directory of ours; whether it is gone. Never raises: leaving always works."""
    try:
        if parent.fd is None:
            return _removed_by_path(parent.join(name))
        purge_own(parent.fd, name)
        return parent.look(name) is None
    except OSError:
        return False


def _removed_by_path(path: str) -> bool:
    from ..oskit.files.doomed import own  # Windows

    try:
        with own(None, path) as doomed:
            return own_files.remove_tree(doomed)
    except FileNotFoundError:
        return True


def remove_lease(root: Folder, session_name: str) -> None:
    own_files.remove_file(root.at(lease_name(session_name)), root.fd)


# The one directory of an app and a user, `<tmp>/<app>-<uid>`, below which its sessions and hand-overs live.

_APP_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_APP = 32  # an AF_UNIX path has 107 bytes; most of them are for the author's socket
_RESERVED = ("tmpwarden",)  # <tmp>/tmpwarden-<uid> holds the agents' scratch directories


def check_app(app: str) -> None:
    if not app or not _APP_CHARACTERS.issuperset(app) or not app[0].isalnum() or len(app) > _LONGEST_APP:
        raise BadArgument(
            f"{shown(app) or 'an empty name'} cannot name an app: up to {_LONGEST_APP} letters, digits, dots, dashes "
            "and underscores, the first one a letter or digit"
        )
    if app in _RESERVED:
        raise BadArgument(f"the name {app} is reserved for tmpwarden")


def temp_dir(explicit: str | None = None) -> str:
    """`explicit`, else the first of TMPDIR, TEMP, TMP and the system's own places that is a directory."""
    if explicit is not None:
        return os.path.abspath(explicit)
    candidates = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for path in (*candidates, *_system_places()):
        if path and os.path.isdir(path):
            return os.path.abspath(path)
    raise UnsafeScratch("/tmp", "there is no such directory", hint="point TMPDIR at a directory of your own")


def _system_places() -> tuple[str, ...]:
    if os.name == "nt":
        return (os.path.expandvars(r"%LOCALAPPDATA%\Temp"), r"C:\TEMP", r"C:\TMP")
    return ("/tmp", "/var/tmp", "/usr/tmp")


def root_name(app: str) -> str:
    return f"{app}-{os.geteuid()}" if hasattr(os, "geteuid") else f"{app}-user"


def open_root(app: str, tmp: str) -> tuple[Folder, bool]:
    """The verified root, and whether this call made it."""
    parent = _open_temp(tmp)
    name = root_name(app)
    try:
        try:
            return make_folder(parent, name), True
        except FileExistsError:
            return open_folder(parent, name), False
    except OSError as error:
        raise explained(error, parent.join(name)) from None
    finally:
        parent.close()


def forget_root(app: str, tmp: str) -> None:
    """Take an empty root away again: entering failed, and it was not there before."""
    try:
        parent = _open_temp(tmp)
    except (NoSpace, UnsafeScratch):
        return
    own_files.remove_empty_dir(parent.at(root_name(app)), parent.fd)
    parent.close()


def _open_temp(tmp: str) -> Folder:
    """The temp directory, which others share. Windows has no directory descriptors, and a temp directory per user."""
    if not HAS_DIR_FDS:
        return Folder(tmp, None)
    try:
        folder = Folder(tmp, own_dirs.open_base(tmp))
    except OSError as error:
        raise explained(error, tmp) from None
    try:
        _refuse_free_for_all(tmp, folder)
    except UnsafeScratch:
        folder.close()
        raise
    return folder


def _refuse_free_for_all(tmp: str, folder: Folder) -> None:
    """Where everybody may rename everything, no check of ours lasts longer than the moment it is made."""
    mode = os.fstat(folder.fd).st_mode if folder.fd is not None else 0
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise UnsafeScratch(
            shown(tmp),
            "all users can rename files in it (mode 0777 without the sticky bit)",
            hint=f"chmod +t {shown(tmp)}, or set TMPDIR to a directory of yours",
        )
