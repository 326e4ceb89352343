"""A mount namespace in which /tmp itself is the scratch: literal paths land there, and programs that ignore TMPDIR."""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
import sys
from collections.abc import Iterator

from ..errors import NoNamespace
from ..oskit.files import own_files
from ..oskit.files.descriptors import closing
from ..oskit.files.opening import entry_names
from ..oskit.proc.forked import forked, reap
from ..oskit.proc.namespaces import mount_namespace
from ..oskit.race import race_window as _race_window

_TMP = "/tmp"
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18

# What other programs offer in /tmp and a command may need: display, sound, agents, terminals, editors, databases.
PASSED_THROUGH = (
    ".X11-unix", ".ICE-unix", ".XIM-unix", ".font-unix", ".X*-lock", "wayland-*", "pulse-*", "ssh-*", "gpg-*",
    "dbus-*", "tmux-*", "screens", "uscreens", "vscode-*.sock", "vscode-ipc-*", "cursor-*.sock", "emacs*", "nvim*",
    "docker*.sock", "podman-run-*", ".s.PGSQL.*", "mysql*.sock", "systemd-private-*", "krb5cc*",
)  # fmt: skip
# What the user's programs are told about such places: /tmp/NAME in these is shown, whatever its name.
_VARIABLES = (
    "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "STY",
    "SCREENDIR", "DOCKER_HOST", "CONTAINER_HOST", "VSCODE_IPC_HOOK_CLI", "VSCODE_IPC_HOOK", "VSCODE_GIT_IPC_HANDLE",
    "NVIM", "NVIM_LISTEN_ADDRESS", "EMACS_SERVER_FILE", "KITTY_LISTEN_ON", "GNUPGHOME", "KRB5CCNAME", "PULSE_SERVER",
    "PIPEWIRE_RUNTIME_DIR", "SESSION_MANAGER", "ICEAUTHORITY",
)  # fmt: skip


def check() -> None:
    """Raise NoNamespace where this machine does not allow it, before anything is made. Tried out in a child."""
    if sys.platform != "linux":
        raise NoNamespace("only Linux has mount namespaces")
    told, tell = os.pipe()
    child = forked(lambda: os.write(tell, bytes([_tried()])))
    os.close(tell)
    answer = os.read(told, 1)  # not its exit status: whoever started us may ignore SIGCHLD
    os.close(told)
    reap(child)
    if answer != b"\0":
        raise NoNamespace(_why(answer[0] if answer else errno.EPERM))


def _tried() -> int:
    """In a child: 0, or the number of the error that stands in the way."""
    try:
        _unshare()
        _mount("none", "/", _MS_REC | _MS_PRIVATE)  # some systems allow the namespace and then no mount in it
    except OSError as error:
        return error.errno or errno.EPERM
    return 0


def _why(code: int) -> str:
    if code == errno.ENOSPC:  # what unshare(2) says of its own limit
        return "/proc/sys/user/max_user_namespaces is reached"
    return os.strerror(code).lower()


def enter(scratch: str, program: str, size_bytes: int | None = None) -> str:
    """Leave the shared /tmp for `scratch`; where temporary files go from now on. For a child that is about to exec
    `program`, which is found there as without, and so are the directory we stand in and what other programs offer.
    `size_bytes`: it lies in memory and holds no more than that; with the last process in there it is gone."""
    cwd = _cwd()
    shown = {name for name in entry_names(_TMP) if _is_passed_through(name)} | _places_of(program)
    _unshare()
    _mount("none", "/", _MS_REC | _MS_PRIVATE)
    if size_bytes is not None:
        _mount("tmpfs", scratch, 0, kind="tmpfs", options=f"size={size_bytes},mode=0700")
    for name in sorted(shown):
        _show(f"{_TMP}/{name}", f"{scratch}/{name}")
    _mount(scratch, _TMP, _MS_BIND | _MS_REC)
    if cwd == _TMP or cwd.startswith(_TMP + "/"):
        os.chdir(cwd)
    return _TMP


def tidy(scratch: str, program: str) -> None:
    """Remove the empty names on which other programs' sockets were shown, so that an unused scratch is empty again.

    Only for a scratch in whose namespace nobody lives any more: such a removal would take the mount away with it.
    """
    for name in {name for name in entry_names(scratch) if _is_passed_through(name)} | _places_of(program):
        path = f"{scratch}/{name}"
        if os.path.isdir(path):
            own_files.remove_empty_dir(path)
        elif os.path.isfile(path) and os.path.getsize(path) == 0:
            own_files.remove_file(path)


def is_inhabited(namespace: str) -> bool:
    """Whether some process that we can see lives in that mount namespace."""
    return any(mount_namespace(pid) == namespace for pid in entry_names("/proc") if pid.isdecimal())


def _places_of(program: str) -> set[str]:
    """The entries of /tmp that we stand in, that hold the program, and that the environment names for sockets."""
    import shutil  # only for a private /tmp: a plain run starts without

    found = shutil.which(program) or program
    paths = [_cwd(), found, os.path.realpath(found)]
    for variable in _VARIABLES:
        value = os.environ.get(variable, "")
        paths += [value[at:] for at in _starts(value)]
    return {name for path in paths if (name := _first_below_tmp(path))}


def _starts(value: str) -> Iterator[int]:
    """Where paths below /tmp begin in `unix:path=/tmp/x,guid=1`, `FILE:/tmp/x`, `/tmp/tmux-0/default,12,0`."""
    at = value.find(_TMP + "/")
    while at >= 0:
        if at == 0 or not (value[at - 1].isalnum() or value[at - 1] in "._-"):
            yield at
        at = value.find(_TMP + "/", at + 1)


def _first_below_tmp(path: str) -> str | None:
    if not path.startswith(_TMP + "/"):
        return None
    name = path.split("/")[2]
    for end in ",;:":
        name = name.split(end)[0]
    return name if name not in ("", ".", "..") else None


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return "/"


def _is_passed_through(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in PASSED_THROUGH)


def _show(original: str, place: str) -> None:
    """Make one entry of the shared /tmp visible in the private one; what cannot be shown is left out.

    Mounted is what was looked at, by its descriptor: the name may be another user's link by then."""
    try:
        with closing(os.open(original, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)) as pin:
            mode = os.fstat(pin).st_mode
            if stat.S_ISLNK(mode):
                return
            _race_window("looked at, not yet shown")
            if stat.S_ISDIR(mode):
                os.mkdir(place, 0o700)
            else:
                os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            _mount(f"/proc/self/fd/{pin}", place, _MS_BIND | _MS_REC)
    except OSError:
        return


def _unshare() -> None:
    """A mount namespace; for those who may not, inside a user namespace that maps only themselves."""
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        try:
            _call("unshare", _CLONE_NEWNS)
            return
        except PermissionError:
            pass  # root of a container
    _call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS)
    for name, content in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(content)


def _mount(source: str, target: str, flags: int, *, kind: str | None = None, options: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, options)]
    _call("mount", words[0], words[1], words[2], flags, words[3])


def _call(name: str, *args: object) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*(ctypes.c_ulong(a) if isinstance(a, int) else a for a in args)) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
