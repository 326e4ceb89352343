"""The one directory of an app and a user, `<tmp>/<app>-<uid>`, below which its sessions and hand-overs live."""

from __future__ import annotations

import os
import stat

from ..errors import BadArgument, NoSpace, UnsafeScratch
from ..oskit.files import own_dirs, own_files
from ..text import shown
from .private import HAS_DIR_FDS, Folder, explained, make_folder, open_folder

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
        raise BadArgument(f"the name {app} is taken by tmpwarden itself")


def temp_dir(explicit: str | None = None) -> str:
    """`explicit`, else the first of TMPDIR, TEMP, TMP and the system's own places that is a directory."""
    if explicit is not None:
        return os.path.abspath(explicit)
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for path in (*named, *_system_places()):
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
            "everybody may rename what lies in it (mode 0777 without the sticky bit)",
            hint=f"chmod +t {shown(tmp)}, or point TMPDIR at a directory of your own",
        )
