"""Which file may be punched: one that only its writer has open, who can do nothing but append to it.

The blocks are gone for good. So the kernel is asked, with the writer's own open file in hand: it grants a lease only if
nobody else has the file open or mapped, in whatever way. /proc is asked only to name who does, and each refusal says
what to do instead.
"""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Sequence

from ..errors import BadArgument, NotFound, PermissionDenied
from ..lazy_dataclass import dataclass
from ..model.answers import Held, Nobody, NotMeasured, Users
from ..model.processes import Hole
from ..oskit import system
from ..oskit.files import kernel_word, punch
from ..oskit.files.doomed import judged
from ..oskit.files.opening import closing
from ..oskit.proc import procs
from ..oskit.proc.namespaces import MountTable
from ..oskit.proc.open_files import FileUser, OpenFile, flags_of, only_appends, open_files, taken, users_of
from ..oskit.race import race_window as _race_window

KEEP_LAST_BYTES = 64 << 20
_WATCH_S = 1.0
# Files that are read from their beginning again: databases, archives, disk images, programs, media. A log is none.
_MAGIC = (
    b"SQLite format 3\0", b"QFI\xfb", b"KDMV", b"vhdxfile", b"conectix", b"PK\x03\x04", b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf", b"!<arch>", b"PAR1", b"\x89HDF", b"\x7fELF", b"%PDF",
    b"RIFF", b"\x89PNG", b"PACK", b"\xd4\xc3\xb2\xa1", b"\x0a\x0d\x0d\x0a",
)  # fmt: skip
_MAGIC_AT = ((257, b"ustar"), (4, b"ftyp"))
_READ_FIRST = 512
_TO_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why not, and what to do instead."""

    why: str
    instead: str


def target_of(word: str, roots: Sequence[str]) -> list[OpenFile]:
    """Everybody who writes FILE, or the one file of PID:FD. Raises where there is none."""
    table = MountTable.of()
    pid, _, fd = word.partition(":")
    if pid.isascii() and pid.isdecimal() and fd.isascii() and fd.isdecimal():
        wanted = [file for file in open_files(int(pid), roots, table) if file.fd == int(fd)]
        identities = {file.identity for file in wanted}
    else:
        try:
            status = os.stat(word, follow_symlinks=False)
        except OSError as error:
            raise NotFound(f"{word}: {error.strerror}") from None
        identities = {(status.st_dev, status.st_ino)}
    candidates = [
        file for one in procs.pids() or () for file in open_files(one, roots, table) if file.identity in identities
    ]
    writers = [file for file in candidates if file.is_written]
    if not writers:
        raise NotFound(
            f"no process writes {word} below a temp root", hint="a file that no process writes can simply be removed"
        )
    return writers


def punch_file(writers: Sequence[OpenFile], keep_last_bytes: int = KEEP_LAST_BYTES) -> int:
    """Free all but its end; the bytes that came back. Raises where it is not provably safe."""
    first = writers[0]
    with closing(_taken(first)) as fd:
        status = os.fstat(fd)
        # since we looked, that number may have been closed and given to another file
        if (status.st_dev, status.st_ino) != first.identity:
            raise NotFound(f"no process writes {first.path} any more")
        try:
            refusal = (
                _kind_refused(fd, first.pid)
                or _writer_refused(fd, first)
                or _punch_while_watching(fd, first, keep_last_bytes)
            )
        except (punch.CannotPunch, OSError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise BadArgument(f"{first.path}: {why}", hint=_end(first.pid)) from None
    if isinstance(refusal, int):
        return refusal
    raise BadArgument(
        f"{first.path} was not changed: {refusal.why}. Freeing its beginning could destroy data that is still needed",
        hint=refusal.instead,
    )


def _punch_while_watching(fd: int, first: OpenFile, keep_last_bytes: int) -> _Refusal | int:
    """Some open their file for each read, and have nothing open in between."""
    with punch.watched(fd) as watch:
        if refusal := _touch_refused(watch, _WATCH_S):
            return refusal
        _race_window("watched, the kernel not yet asked")
        with kernel_word.alone(fd) as users:
            _race_window("the kernel asked, not yet punched")
            refusal = _touch_refused(watch) or _writer_refused(fd, first) or _users_refused(fd, first, users)
            if refusal is not None:
                return refusal
            with judged(None, "", Hole(fd, *first.identity), users) as doomed:
                return punch.punch(doomed, keep_last_bytes=keep_last_bytes)


def _taken(file: OpenFile) -> int:
    """Its writer's own open file: with one more of our own the kernel could not be asked."""
    try:
        return taken(file.pid, file.fd)
    except PermissionError:
        raise PermissionDenied(
            f"{_process_text(file.pid)} does not let us ask who else has {file.path} open", hint=_as_root(file)
        ) from None
    except OSError as error:
        if error.errno == errno.ENOSYS:
            why = f"{file.path} was not changed: this kernel cannot tell who else has it open"
            raise BadArgument(why, hint=_end(file.pid)) from None
        raise NotFound(f"no process writes {file.path} any more") from None


def _as_root(file: OpenFile) -> str:
    if os.geteuid() == 0:
        return _end(file.pid)
    word = f"{file.pid}:{file.fd}" if file.is_deleted else shlex.quote(file.path)
    return f'as root: `sudo "$(command -v tmpwarden)" brake --punch {word}`; or {_end(file.pid)}'


def _end(pid: int) -> str:
    return f"`tmpwarden brake --end {pid}` ends its writer, `--stop {pid}` lets it wait"


def _kind_refused(fd: int, writer: int) -> _Refusal | None:
    status = os.fstat(fd)
    if status.st_nlink > 1:
        return _Refusal(
            f"it has {status.st_nlink} names (hard links)",
            f"`find / -xdev -inum {status.st_ino}` lists them; remove those that are not needed",
        )
    with closing(system.descriptors.reopened(fd, _TO_READ)) as opened:
        head = os.pread(opened, _READ_FIRST, 0)
    if head.startswith(_MAGIC) or any(head[at : at + len(word)] == word for at, word in _MAGIC_AT):
        why = "it is a database, archive, image or program, whose beginning is still needed"
        return _Refusal(why, _end(writer))
    return None


def _writer_refused(fd: int, first: OpenFile) -> _Refusal | None:
    """Allowed is only who can do nothing but append: the kernel holds him to that."""
    flags = flags_of(fd)
    if only_appends(flags):
        return None
    if flags & os.O_ACCMODE == os.O_RDWR:
        return _Refusal(f"{_process_text(first.pid)} has it open for reading and writing", _end(first.pid))
    why = f"{_process_text(first.pid)} did not open it for appending, and may write at its beginning again"
    return _Refusal(why, f"{_end(first.pid)}; a command that is started with `>> FILE` can be punched")


def _users_refused(fd: int, first: OpenFile, users: Users) -> _Refusal | None:
    match users:
        case Nobody():
            if kernel_word.somebody_waits(fd):
                return _Refusal("a process is opening it right now", "try again later")
            return None
        case NotMeasured(why):
            return _Refusal(f"who else uses it could not be checked: {why}", _end(first.pid))
        case Held():
            refusals = [words for user in users_of(fd) if (words := _user_refused(user, first))]
    return min(refusals, key=lambda one: one[0])[1] if refusals else _may_have_unseen_users(first)


def _user_refused(user: FileUser, first: OpenFile) -> tuple[int, _Refusal] | None:
    """What is wrong with that one, and how telling it is; None for the writer that may stay."""
    who = _process_text(user.pid)
    if user.may_read and user.may_write:
        return 0, _Refusal(f"{who} has it open for reading and writing", _end(user.pid))
    if user.may_read:
        why = f"{who} has it open for reading and may read its beginning again"
        return 0, _Refusal(why, f"end that reader first (`kill {user.pid}`), or: {_end(first.pid)}")
    if user.flags is None:
        why = f"{who} has mapped it into memory"
        return 0, _Refusal(why, f"end that process first (`kill {user.pid}`), or: {_end(first.pid)}")
    if not only_appends(user.flags):
        return 0, _Refusal(f"{who} also writes it, and not only at its end", _end(user.pid))
    if user.pid == first.pid:
        return None
    why = f"{who} may also have opened it; with two such processes the kernel cannot tell whether one of them reads it"
    return 1, _Refusal(why, f"end all writers but one: {_end(user.pid)}")


def _may_have_unseen_users(first: OpenFile) -> _Refusal:
    why = "something that /proc does not show has it open: another user, a container or the kernel"
    if os.geteuid() != 0:
        return _Refusal(why, _as_root(first))
    return _Refusal(why, f"`losetup` and `lsof +D` may show which; or {_end(first.pid)}")


def _touch_refused(watch: punch.TouchWatch, within_s: float = 0.0) -> _Refusal | None:
    if not watch.was_touched(within_s=within_s):
        return None
    return _Refusal("a process opened or read it just now", "end the program that reads it, or try again later")


def _process_text(pid: int) -> str:
    return f"process {pid} ({procs.described(pid) or '?'})"
