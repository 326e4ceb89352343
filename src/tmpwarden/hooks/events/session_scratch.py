"""Where a session's scratch is, as its start wrote it down: one small file, so that the guard reads no leases."""

import posix

from ...oskit import system
from ...oskit.proc import own_mount
from ...small_files import REPLACED, read_text, write
from .. import notebook
from .hook_call import HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...model.belongings import ScratchDirectory

_IS_TMPDIR = "\0TMPDIR"  # behind the path: the session's commands have it as theirs


def scratch_of(call: HookCall) -> tuple[str | None, bool]:
    """The scratch of this session if it is there and ours, else None; and whether the start of this session gave it to
    its commands as TMPDIR: one that was made later could not."""
    note = _noted(call)
    path = note.removesuffix(_IS_TMPDIR)
    if not path or own_mount.frozen(path):
        return None, False
    try:
        status = posix.lstat(path)
    except OSError:
        return None, False
    is_ours = status.st_uid == posix.geteuid() and status.st_mode & 0o170000 == 0o040000
    return (path, path != note) if is_ours else (None, False)


def has_no_end(state: str) -> str:
    """Why it could not be proven that a session's scratch is no longer used, so that none is handed out; "" where it
    can, and what is left of it is removed."""
    if why := system.proof.doubt(state):
        return why
    if system.proof.IS_UNATTENDED:
        return ""
    from ...sweep.weigh.unattended import refusal

    return refusal()


def open_scratch(call: HookCall) -> "ScratchDirectory":
    """Make or find it, and write down where it is: most calls find that. Raises UnsafeScratch or NoSpace."""
    from ...leases import scratch
    from ...oskit.files.places import temp_roots

    config_home = call.environ.get(call.dialect.facts["variable"].encode(), b"")
    directory = scratch.open_scratch(
        temp_roots()[0],
        call.dialect.agent,
        call.session,
        pid=call.owner_pid,
        config_home=config_home.decode("utf-8", "surrogateescape") or None,
        sandboxed=call.dialect.is_sandboxed(call.environ, call.payload),
    )
    remember(call, directory.path)
    return directory


def inherited_temp_dir(call: HookCall) -> str:
    """The scratch that `tmpwarden run` gave the agent itself, and with it all that it starts."""
    temp_dir = call.environ.get(b"TMPDIR", b"").decode("utf-8", "surrogateescape")
    if not temp_dir.startswith("/") or f"/tmpwarden-{posix.geteuid()}/" not in temp_dir:
        return ""
    from ...leases import scratch

    return temp_dir if scratch.read(temp_dir) is not None else ""


def remembered(call: HookCall) -> str:
    return _noted(call).removesuffix(_IS_TMPDIR)


def _noted(call: HookCall) -> str:
    return read_text(_file(call), 4096)


def remember(call: HookCall, path: str, *, is_tmpdir: bool = False) -> None:
    """Write down where it is; an empty path means that nothing of it was left to lose."""
    note = path + _IS_TMPDIR if is_tmpdir else path
    try:
        notebook.make(call.notes)
    except OSError:
        return
    write(_file(call), note.encode("utf-8", "surrogateescape"), REPLACED)


def _file(call: HookCall) -> str:
    return f"{call.notes}/{notebook.session_key(call.session)}.scratch"
