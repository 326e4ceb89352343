"""A mount namespace in which /tmp itself is the scratch: literal paths land there, and programs that ignore TMPDIR."""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
import sys
from collections.abc import Callable, Iterator

from ..errors import NoNamespace
from ..model.answers import NotMeasured
from ..oskit.files import own_files
from ..oskit.files.opening import closing, descend, entry_names, open_dir
from ..oskit.proc import locks
from ..oskit.proc.forked import forked, reap
from ..oskit.proc.namespaces import MountTable, mount_namespace
from ..oskit.race import race_window as _race_window
from ..text import is_within

TMP = "/tmp"
_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_RDONLY, _MS_REMOUNT, _MS_BIND, _MS_REC, _MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
_MNT_DETACH = 2

# Sockets of other users and of no variable: a display, a session manager, databases, docker.
_OFFERED_BY_OTHERS = (".X11-unix", ".ICE-unix", ".XIM-unix", ".font-unix", ".s.PGSQL.*", "mysql*.sock", "docker*.sock")
# What names a socket (whosever it is), or one small file that its socket is no use without: a cookie, a ticket.
_VARIABLES = (
    "SSH_AUTH_SOCK", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "DOCKER_HOST",
    "CONTAINER_HOST", "VSCODE_IPC_HOOK_CLI", "VSCODE_IPC_HOOK", "VSCODE_GIT_IPC_HANDLE", "NVIM", "NVIM_LISTEN_ADDRESS",
    "EMACS_SERVER_FILE", "KITTY_LISTEN_ON", "KRB5CCNAME", "PULSE_SERVER", "SESSION_MANAGER", "ICEAUTHORITY",
)  # fmt: skip
_MOST_SOCKETS = 1000


class Placeholder:
    """An empty file or directory that was made in the scratch to mount something on."""

    __slots__ = ("device", "inode", "relative")

    def __init__(self, relative: str, device: int, inode: int) -> None:
        self.relative, self.device, self.inode = relative, device, inode

    def __str__(self) -> str:
        return f"{self.device}:{self.inode}:{self.relative}"

    @classmethod
    def parse(cls, text: str) -> Placeholder:
        device, inode, relative = text.split(":", 2)
        return cls(relative, int(device), int(inode))


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


def enter(scratch: str, program: str, size_bytes: int | None = None) -> list[Placeholder]:
    """Leave the shared /tmp for `scratch`, and tell what was made in it to mount on. For a child that is about to exec
    `program`, which is found there as without, and so are the directory we stand in and sockets that are listened on.
    `size_bytes`: it lies in memory and holds no more than that; with the last process in there it is gone."""
    cwd = _cwd()
    places = _places(cwd, program)
    _unshare()
    _mount("none", "/", _MS_REC | _MS_PRIVATE)
    if size_bytes is not None:
        _mount("tmpfs", scratch, 0, kind="tmpfs", options=f"size={size_bytes},mode=0700")
    made: list[Placeholder] = []
    shown: list[str] = []
    for path, may_be in [*places, *_files_and_sockets()]:
        covered = any(is_within(path, above) for above in shown)
        if _show(path, may_be, scratch, made if not covered else None):
            shown.append(path)
    _mount(scratch, TMP, _MS_BIND | _MS_REC)
    if is_within(cwd, TMP):
        os.chdir(cwd)
    return made


def told(program: str) -> list[str]:
    """What a person should know before: the parts of the shared /tmp that are not private in there."""
    cwd, sentences = _cwd(), []
    for path, _ in _places(cwd, program):
        if path == cwd:
            sentences.append(f"{path} is not private: it is the working directory, and what is removed there is gone")
        elif os.path.exists(path):
            sentences.append(f"{path} is not private, but read-only: {os.path.basename(program)} is in it")
    return sentences


def tidy(scratch: str, made: list[Placeholder]) -> None:
    """Remove the placeholders, so that an unused scratch is empty again.

    Only for a scratch in whose namespace nobody lives any more: such a removal would take the mount away with it. From
    outside that namespace nothing is mounted on them; what the command put in their place is no placeholder.
    """
    for placeholder in reversed(made):
        parent, _, name = placeholder.relative.rpartition("/")
        try:
            with closing(open_dir(scratch)) as top, closing(descend(top, parent)) as at:
                status = os.stat(name, dir_fd=at, follow_symlinks=False)
                if (status.st_dev, status.st_ino) != (placeholder.device, placeholder.inode):
                    continue
                if stat.S_ISDIR(status.st_mode):
                    own_files.remove_empty_dir(name, at)
                elif stat.S_ISREG(status.st_mode) and status.st_size == 0:
                    own_files.remove_file(name, at)
        except OSError:
            continue


def is_inhabited(namespace: str) -> bool:
    """Whether some process that we can see lives in that mount namespace."""
    return any(mount_namespace(pid) == namespace for pid in entry_names("/proc") if pid.isdecimal())


def _places(cwd: str, program: str) -> list[tuple[str, Callable[[os.stat_result], bool]]]:
    """The directory that we stand in, and what the program lies in; those above others first. /tmp itself never."""
    import shutil  # only for a private /tmp: a plain run starts without

    found = os.path.join(cwd, shutil.which(program) or program)
    homes = {_home(os.path.normpath(path)) for path in (found, os.path.realpath(found))}
    wanted: dict[str, Callable[[os.stat_result], bool]] = {
        path: _is_file_or_directory for path in homes if _parts(path)
    }
    if _parts(cwd):
        wanted = {path: may_be for path, may_be in wanted.items() if not is_within(path, cwd)} | {cwd: _is_cwd}
    return sorted(wanted.items())


def _home(program: str) -> str:
    """What a program needs beside itself: its directory, for PREFIX/bin/program its PREFIX; never /tmp itself."""
    directory = os.path.dirname(program)
    above = os.path.dirname(directory)
    if os.path.basename(directory) in ("bin", "sbin") and above != TMP:
        return above
    return program if directory == TMP else directory


def _files_and_sockets() -> list[tuple[str, Callable[[os.stat_result], bool]]]:
    """What variables name below /tmp, and sockets there that somebody listens on."""
    named = [value[at:].split(",")[0].split(";")[0].split(":")[0] for value in _values() for at in _starts(value)]
    named.append(f"{TMP}/krb5cc_{os.geteuid()}")  # where Kerberos looks when no variable says another place
    found: dict[str, Callable[[os.stat_result], bool]] = {}
    for path in named:
        if parts := _parts(path):
            found[f"{TMP}/{'/'.join(parts)}"] = _is_file_or_socket
    listening = locks.listening_sockets()
    for path in () if isinstance(listening, NotMeasured) else sorted(listening):
        if parts := _parts(path):
            offered = any(fnmatch.fnmatchcase(parts[0], pattern) for pattern in _OFFERED_BY_OTHERS)
            found.setdefault(f"{TMP}/{'/'.join(parts)}", _is_socket if offered else _is_our_socket)
    table = MountTable.of()
    answering = [(path, may_be) for path, may_be in found.items() if not (table and table.may_hang(path))]
    return answering[:_MOST_SOCKETS]


def _is_cwd(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode)


def _is_file_or_directory(status: os.stat_result) -> bool:
    return stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)


def _is_file_or_socket(status: os.stat_result) -> bool:
    return _is_socket(status) or (stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid())


def _is_socket(status: os.stat_result) -> bool:
    return stat.S_ISSOCK(status.st_mode)


def _is_our_socket(status: os.stat_result) -> bool:
    return stat.S_ISSOCK(status.st_mode) and status.st_uid in (os.geteuid(), 0)


def _values() -> list[str]:
    return [os.environ.get(variable, "") for variable in _VARIABLES]


def _starts(value: str) -> Iterator[int]:
    """Where paths below /tmp begin in `unix:path=/tmp/x,guid=1`, `FILE:/tmp/x`, `/tmp/tmux-0/default,12,0`."""
    at = value.find(TMP + "/")
    while at >= 0:
        if at == 0 or not (value[at - 1].isalnum() or value[at - 1] in "._-"):
            yield at
        at = value.find(TMP + "/", at + 1)


def _parts(path: str) -> list[str]:
    """The names that lead from /tmp to `path`; none for what is not below it, or leads out again."""
    parts = [name for name in path.removeprefix(TMP).split("/") if name not in ("", ".")]
    return parts if path.startswith(TMP + "/") and ".." not in parts else []


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed under us
        return "/"


def _show(path: str, may_be: Callable[[os.stat_result], bool], scratch: str, made: list[Placeholder] | None) -> bool:
    """Make one object of the shared /tmp visible in the private one; what cannot be shown is left out. `made`: where
    placeholders are noted; None: it lies in what is shown already, and is only covered, so that it cannot be removed.

    Mounted is what was looked at, by its descriptor: the name may be another user's link by then."""
    parts = _parts(path)
    try:
        with closing(_opened(TMP, parts)) as pin:
            status = os.fstat(pin)
            if not may_be(status):
                return False
            _race_window("looked at, not yet shown")
            if made is not None:
                _make(scratch, parts, stat.S_ISDIR(status.st_mode), made)
            with closing(_opened(scratch, parts)) as place:
                rest = _MS_REC if may_be is _is_cwd else 0
                _mount(f"/proc/self/fd/{pin}", f"/proc/self/fd/{place}", _MS_BIND | rest)
            return may_be is _is_cwd or _is_read_only(scratch, parts, status)
    except OSError:
        return False


def _is_read_only(scratch: str, parts: list[str], status: os.stat_result) -> bool:
    """Whether what is mounted there can neither be changed nor get another mode; if not, it is no longer there.
    A socket on a read-only mount can be connected to all the same."""
    with closing(_opened(scratch, parts)) as top:
        if not os.path.samestat(os.fstat(top), status):
            return False
        kept = os.fstatvfs(top).f_flag & (os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC)
        try:
            _mount("none", f"/proc/self/fd/{top}", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | kept)
        except OSError:
            _call("umount2", f"/proc/self/fd/{top}".encode(), _MNT_DETACH)
            return False
    return True


def _opened(top: str, parts: list[str]) -> int:
    """What lies there, component by component: no link on the way is followed, nor at the end."""
    fd = os.open(top, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in parts:
        with closing(fd):
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    return fd


def _make(scratch: str, parts: list[str], is_directory: bool, made: list[Placeholder]) -> None:
    """The placeholder and the directories above it, as far as they are not there; all 0700, as tmux and ssh want."""
    for count in range(1, len(parts) + 1):
        with closing(_opened(scratch, parts[: count - 1])) as at:
            name = parts[count - 1]
            try:
                if is_directory or count < len(parts):
                    os.mkdir(name, 0o700, dir_fd=at)
                else:
                    os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=at))
            except FileExistsError:
                continue
            status = os.stat(name, dir_fd=at, follow_symlinks=False)
            made.append(Placeholder("/".join(parts[:count]), status.st_dev, status.st_ino))


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
