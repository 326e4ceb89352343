"""Before anything else of a hook: what all of them need comes out of one file instead of ten. Hot path."""

import posix
import sys

from .pack import path_for, use

NAME = "headstart"  # of that pack
_US = "tmpwarden"


def prepare(package: str) -> None:
    """`package` is our directory. The script that started us has put an empty package in the place of the real one."""
    del sys.modules[_US]
    try:
        state = own_state(posix.environ)
        is_packed = bool(state) and use(path_for(state, NAME))
    except OSError:  # somebody else's state directory: whoever needs it says so
        is_packed = False
    above = package.rpartition("/")[0]
    sys.path.insert(len(sys.path) if is_packed else 0, above)


def is_prepared() -> bool:
    """Whether it came out of a pack that fits."""
    return getattr(sys.modules.get(f"{_US}.hooks.entry"), "__spec__", None) is None


def own_state(environ: "dict[bytes, bytes]") -> str:
    """tmpwarden's state directory, as oskit.files.places.state_dir has it, where HOME is ours; else "".

    Raises PermissionError where somebody else made it, or the link that stands for it: XDG_STATE_HOME=/tmp.
    """
    named, home = environ.get(b"XDG_STATE_HOME", b""), environ.get(b"HOME", b"")
    if not _is_ours(named if named.startswith(b"/") else home):
        return ""
    base = named if named.startswith(b"/") else home + b"/.local/state"
    state = base.decode("utf-8", "surrogateescape") + "/tmpwarden"
    refuse_strangers(state)
    return state


def refuse_strangers(state: str) -> None:
    try:
        owners = {posix.lstat(state).st_uid, posix.stat(state).st_uid}
    except FileNotFoundError:
        return
    if owners != {posix.geteuid()}:
        raise PermissionError(f"{state} is not ours")


def _is_ours(path: bytes) -> bool:
    try:
        return path.startswith(b"/") and posix.lstat(path).st_uid == posix.geteuid()
    except OSError:
        return False
