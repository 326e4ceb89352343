"""A mount namespace in which /tmp itself is the scratch: literal paths land there, and programs that ignore TMPDIR."""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
from collections.abc import Callable, Iterator

from ..errors import NoNamespace
from ..model.answers import NotMeasured
from ..oskit import system
from ..oskit.files import own_files
from ..oskit.files.opening import closing, descend, open_dir
from ..oskit.proc import locks, procs
from ..oskit.proc.forked import forked, reap
from ..oskit.proc.namespaces import MountTable, mount_namespace
from ..oskit.race import race_window as _race_window
from ..text import is_within

TMP = "/tmp"
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
    if not system.private_mounts.IS_THERE:
        raise NoNamespace("only Linux has mount namespaces")
    answer_end, tell = os.pipe()
    child = forked(lambda: os.write(tell, bytes([_try_in_child()])))
    os.close(tell)
    answer = os.read(answer_end, 1)  # not its exit status: the process that started us may ignore SIGCHLD
    os.close(answer_end)
    reap(child)
    if answer != b"\0":
        raise NoNamespace(system.private_mounts.why_not(answer[0] if answer else errno.EPERM))


def _try_in_child() -> int:
    """In a child: 0, or the number of the error that stands in the way."""
    ours = system.private_mounts
    try:
        ours.unshare()
        ours.mount("none", "/", ours.RECURSIVE | ours.PRIVATE)  # some systems allow the namespace, and no mount in it
    except OSError as error:
        return error.errno or errno.EPERM
    return 0


def enter(scratch: str, program: str, size_bytes: int | None = None) -> list[Placeholder]:
    """Leave the shared /tmp for `scratch`, and tell what was made in it to mount on. For a child that is about to exec
    `program`, which is found there as without, and so are the directory we stand in and sockets that are listened on.
    `size_bytes`: it lies in memory and holds no more than that; with the last process in there it is gone."""
    cwd = _cwd()
    places = _places(cwd, program)
    ours = system.private_mounts
    ours.unshare()
    ours.mount("none", "/", ours.RECURSIVE | ours.PRIVATE)
    if size_bytes is not None:
        ours.mount("tmpfs", scratch, 0, kind="tmpfs", options=f"size={size_bytes},mode=0700")
    placeholders: list[Placeholder] = []
    shown: list[str] = []
    for path, may_be in [*places, *_files_and_sockets()]:
        covered = any(is_within(path, above) for above in shown)
        if _show(path, may_be, scratch, placeholders if not covered else None):
            shown.append(path)
    ours.mount(scratch, TMP, ours.BIND | ours.RECURSIVE)
    if is_within(cwd, TMP):
        os.chdir(cwd)
    return placeholders


def warnings(program: str) -> list[str]:
    """What a person should know before: the parts of the shared /tmp that are not private in there."""
    cwd, sentences = _cwd(), []
    for path, _ in _places(cwd, program):
        if path == cwd:
            sentences.append(
                f"{path} is not private: it is the working directory, and what COMMAND removes there is gone"
            )
        elif os.path.exists(path):
            sentences.append(f"{path} is not private, but read-only: {os.path.basename(program)} is in it")
    return sentences


def tidy(scratch: str, placeholders: list[Placeholder]) -> None:
    """Remove the placeholders, so that an unused scratch is empty again.

    Only for a scratch in whose namespace nobody lives any more: such a removal would take the mount away with it. From
    outside that namespace nothing is mounted on them; what the command put in their place is no placeholder.
    """
    for placeholder in reversed(placeholders):
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
    try:
        return any(mount_namespace(pid) == namespace for pid in procs.pids())
    except OSError:
        return True


def _places(cwd: str, program: str) -> list[tuple[str, Callable[[os.stat_result], bool]]]:
    """The directory that we stand in, and what the program lies in; those above others first. /tmp itself never."""
    import shutil  # only for a private /tmp: a plain run starts without

    program_path = os.path.join(cwd, shutil.which(program) or program)
    homes = {_home(os.path.normpath(path)) for path in (program_path, os.path.realpath(program_path))}
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
    paths = [value[at:].split(",")[0].split(";")[0].split(":")[0] for value in _values() for at in _starts(value)]
    paths.append(f"{TMP}/krb5cc_{os.geteuid()}")  # where Kerberos looks when no variable says another place
    kind_of_path: dict[str, Callable[[os.stat_result], bool]] = {}
    for path in paths:
        if parts := _parts(path):
            kind_of_path[f"{TMP}/{'/'.join(parts)}"] = _is_file_or_socket
    listening = locks.listening_sockets()
    for path in () if isinstance(listening, NotMeasured) else sorted(listening):
        if parts := _parts(path):
            offered = any(fnmatch.fnmatchcase(parts[0], pattern) for pattern in _OFFERED_BY_OTHERS)
            kind_of_path.setdefault(f"{TMP}/{'/'.join(parts)}", _is_socket if offered else _is_our_socket)
    table = MountTable.of()
    answering = [(path, may_be) for path, may_be in kind_of_path.items() if not (table and table.may_hang(path))]
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


def _show(
    path: str, may_be: Callable[[os.stat_result], bool], scratch: str, placeholders: list[Placeholder] | None
) -> bool:
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
            if placeholders is not None:
                _make(scratch, parts, stat.S_ISDIR(status.st_mode), placeholders)
            with closing(_opened(scratch, parts)) as place:
                ours = system.private_mounts
                rest = ours.RECURSIVE if may_be is _is_cwd else 0
                ours.mount(system.descriptors.way_to(pin), system.descriptors.way_to(place), ours.BIND | rest)
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
        ours = system.private_mounts
        try:
            ours.mount("none", system.descriptors.way_to(top), ours.CHANGE | ours.BIND | ours.READ_ONLY | kept)
        except OSError:
            ours.detach(system.descriptors.way_to(top))
            return False
    return True


def _opened(top: str, parts: list[str]) -> int:
    """What lies there, component by component: no link on the way is followed, nor at the end."""
    fd = os.open(top, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for name in parts:
        with closing(fd):
            fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
    return fd


def _make(scratch: str, parts: list[str], is_directory: bool, placeholders: list[Placeholder]) -> None:
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
            placeholders.append(Placeholder("/".join(parts[:count]), status.st_dev, status.st_ino))
