"""What hooks of one user tell each other: when the next job is due, and what the last one has to say.

All of it lies in `<state>/hooks`. A due time is the mtime of an empty file, so that asking costs one stat.
"""

import posix
import time

from ..bundle import refuse_strangers, state_dir
from ..small_files import APPENDED, REPLACED, read_text, write
from ..small_files import session_key as session_key

OFF = "off"  # below the configuration directory; `tmpwarden off` makes it
MARKERS, CLEAN, BIRTHS, ROOM = "markers.due", "clean.due", "births.seen", "room.due"
LOW = "room.low"  # so many bytes must be free, or what grows is looked at
STEP_BYTES = 1 << 30
MARKERS_EVERY_S, CLEAN_EVERY_S, ROOM_EVERY_S = 60.0, 3600.0, 30.0
FARTHEST_S = 7 * 86400.0  # a due time beyond comes from a wrong clock
_LONGEST_NOTE, _LONGEST_NUMBER = 600, 32
_NOTED_LATELY_S = 900.0
_BIRTHS_EVERY_S = 30.0  # for calls that do not speak of the temp root: agents put markers of their own there
_LONGEST_LOG = 1 << 18
_COMMON = ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp")
_BELOW = ("/tmp/", "/var/tmp/", "/dev/shm/", "/private/tmp/", "/var/folders/", "/private/var/folders/")
_CALLED_TEMPORARY = ("tmp", "temp", ".tmp", "t")


def directory(environ: dict[bytes, bytes]) -> str:
    """`<state>/hooks`. Raises PermissionError where the state directory is somebody else's."""
    state = state_dir(environ)
    if not state:
        from ..oskit.files import places

        state = places.state_dir()
    refuse_strangers(state)
    return state + "/hooks"


def config_directory(environ: dict[bytes, bytes]) -> str:
    """As oskit.files.places.config_dir."""
    config_home = environ.get(b"XDG_CONFIG_HOME", b"")
    base = config_home if config_home.startswith(b"/") else environ.get(b"HOME", b"") + b"/.config"
    return base.decode("utf-8", "surrogateescape") + "/tmpwarden"


def is_off(environ: dict[bytes, bytes]) -> bool:
    """Whether the user has switched every hook off: by a file of theirs, which is empty or dated when that ends."""
    off = status(f"{config_directory(environ)}/{OFF}")
    is_ours = off is not None and off.st_uid == posix.geteuid() and not off.st_mode & 0o002
    return is_ours and off is not None and (off.st_size == 0 or off.st_mtime > time.time())


def status(path: str) -> "posix.stat_result | None":
    """What is known of a file; None where there is none."""
    try:
        return posix.stat(path)
    except OSError:
        return None


def is_due(notes: str, name: str, *, every_s: float = FARTHEST_S) -> bool:
    """Whether the time in `name` has come. A time further away than `every_s` comes from a wrong clock."""
    due = status(f"{notes}/{name}")
    return due is None or not 0 <= due.st_mtime - time.time() <= every_s


def put_off(notes: str, name: str, seconds: float) -> bool:
    """Make `name` due in `seconds`. False: it cannot be written, so start no job, or every call would start one."""
    return _date(f"{notes}/{name}", time.time_ns() + int(seconds * 10**9))


def _date(path: str, at_ns: int) -> bool:
    """Give a file this date, and make it if it is not there; False where that cannot be done."""
    try:
        posix.utime(path, ns=(at_ns, at_ns))
        return True
    except FileNotFoundError:
        pass
    except OSError:
        return False
    try:
        make(path.rpartition("/")[0])
        posix.close(posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW, 0o600))
        posix.utime(path, ns=(at_ns, at_ns))
    except OSError:
        return False
    return True


def make(notes: str) -> None:
    """The directory and what is missing above it, private."""
    try:
        posix.mkdir(notes, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        make(notes.rpartition("/")[0])
        posix.mkdir(notes, 0o700)


def has_note(notes: str, session: str) -> bool:
    note = status(f"{notes}/{session_key(session)}.note")
    return note is not None and note.st_size > 0


def take_note(notes: str, session: str) -> str:
    """What a background job left for this session to tell, once."""
    try:
        fd = posix.open(f"{notes}/{session_key(session)}.note", posix.O_RDWR | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        posix.lockf(fd, posix.F_LOCK, 0)
        text = posix.read(fd, _LONGEST_NOTE).decode("utf-8", "replace")
        posix.ftruncate(fd, 0)
        return text.strip()
    except OSError:
        return ""
    finally:
        posix.close(fd)


def was_noted_lately(notes: str) -> bool:
    """Whether the guard has given anybody another input within the last quarter of an hour (guard/log/audit.py)."""
    note = status(f"{notes.rpartition('/')[0]}/guard/told")
    return note is not None and time.time() - note.st_mtime < _NOTED_LATELY_S


def stated_file(notes: str, session: str) -> str:
    """Where calls of this session state the names that they are about to make (leases/stated.py)."""
    return f"{notes}/{session_key(session)}.stated"


def has_stated(notes: str, session: str) -> bool:
    stated = status(stated_file(notes, session))
    return stated is not None and stated.st_size > 0


def has_windows(notes: str, session: str) -> bool:
    """Whether this session has made something by name: then each of its calls is remembered (leases/claims.py)."""
    return status(f"{notes}/{session_key(session)}.calls") is not None


def note_asked(notes: str, session: str) -> None:
    """A call of this session is about to be judged, and may wait for a permission then."""
    _date(f"{notes}/{session_key(session)}.asked", time.time_ns())


def asked_ns(notes: str, session: str) -> int:
    """When the last call of this session was judged; 0 where none was."""
    note = status(f"{notes}/{session_key(session)}.asked")
    return 0 if note is None else note.st_mtime_ns


def temp_roots(environ: dict[bytes, bytes]) -> tuple[str, ...]:
    """Where a fresh name becomes the session's."""
    roots = environ.get(b"TMPWARDEN_ROOTS", b"").decode("utf-8", "surrogateescape")
    if roots:
        return tuple([root.rstrip("/") for root in roots.split(":") if root.startswith("/")])
    return tuple(dict.fromkeys((temp_root(environ), "/tmp", "/var/tmp", "/dev/shm")))


def shared_roots(environ: dict[bytes, bytes]) -> tuple[str, ...]:
    """Those of them that are temp directories by what they are, not only by a variable, which a project can set: a
    fresh name in the user's home is not the session's."""
    home = environ.get(b"HOME", b"").decode("utf-8", "surrogateescape")
    return tuple([root for root in temp_roots(environ) if _is_shared(root) and not f"{home}/".startswith(f"{root}/")])


def _is_shared(root: str) -> bool:
    """A directory, no link, that lies where systems keep such, is called so, or is root's and everybody's."""
    if root in _COMMON:
        return True
    try:
        mode = posix.lstat(root).st_mode
    except OSError:
        return False
    if mode & 0o170000 != 0o040000 or "/.." in root:
        return False
    return root.startswith(_BELOW) or root.rpartition("/")[2].lower() in _CALLED_TEMPORARY or mode & 0o1002 == 0o1002


def temp_root(environ: dict[bytes, bytes]) -> str:
    """Where commands put what they do not put into their scratch: above a scratch of ours, else TMPDIR, else /tmp."""
    root = environ.get(b"TMPWARDEN_ROOTS", b"").partition(b":")[0] or environ.get(b"TMPDIR", b"")
    path = root.partition(b"/tmpwarden-%d" % posix.geteuid())[0].rstrip(b"/")
    above, is_in_sandbox, _ = path.partition(b"-%d/tw/" % posix.geteuid())  # /tmp/AGENT-1000/tw/1a2b3c4d
    path = above.rpartition(b"/")[0] if is_in_sandbox else path
    return path.decode("utf-8", "surrogateescape") if path.startswith(b"/") else "/tmp"


def has_births(notes: str, environ: dict[bytes, bytes], raw: bytes) -> bool:
    """Whether the temp root has changed since it was last seen, and the call speaks of it or that is a while ago."""
    root = temp_root(environ)
    there, seen = status(root), status(f"{notes}/{BIRTHS}")
    if there is None or seen is None:
        return there is not None
    if there.st_mtime_ns == seen.st_mtime_ns:
        return False
    return root.encode("utf-8", "surrogateescape") in raw or time.time() - seen.st_ctime > _BIRTHS_EVERY_S


def saw_root(notes: str, root: str) -> int:
    """Remember the root's date. If it has changed: when it was last looked at, in nanoseconds; else 0."""
    path = f"{notes}/{BIRTHS}"
    there, seen = status(root), status(path)
    if there is None or not _date(path, there.st_mtime_ns):
        return 0
    return 0 if seen is None or seen.st_mtime_ns == there.st_mtime_ns else seen.st_ctime_ns


def is_filling(notes: str, environ: dict[bytes, bytes]) -> bool:
    """Whether the temp root has lost as much room since the last look as is worth another one."""
    noted = read_text(f"{notes}/{LOW}", _LONGEST_NUMBER)
    if not noted.isdecimal():
        return False
    free = _free_bytes(temp_root(environ))
    return free is not None and free < int(noted)


def note_room(notes: str, root: str, step_bytes: int = STEP_BYTES) -> None:
    """How much room is there now, less what may be lost before the next look."""
    free = _free_bytes(root)
    if free is None:
        return
    try:
        make(notes)
    except OSError:
        return
    write(f"{notes}/{LOW}", b"%d" % max(0, free - step_bytes), REPLACED)


def has_room_noted(notes: str) -> bool:
    return status(f"{notes}/{LOW}") is not None


def _free_bytes(root: str) -> "int | None":
    try:
        status_of_root = posix.statvfs(root)
    except OSError:
        return None
    return status_of_root.f_bavail * status_of_root.f_frsize


def leave_note(notes: str, session: str, text: str) -> None:
    _append(f"{notes}/{session_key(session)}.note", text)


def log(notes: str, line: str) -> None:
    """One line for a person who asks why a hook did nothing. Starts over when it has grown long."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path = f"{notes}/log"
    try:
        if posix.stat(path).st_size > _LONGEST_LOG:
            posix.truncate(path, 0)
    except OSError:
        pass
    _append(path, f"{stamp} {line[:500]}")


def _append(path: str, text: str) -> None:
    try:
        make(path.rpartition("/")[0])
    except OSError:
        return  # read-only or full: there is nobody left to tell
    write(path, (text.replace("\n", " ") + "\n").encode("utf-8", "replace"), APPENDED)
