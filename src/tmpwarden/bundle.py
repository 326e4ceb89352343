"""The modules that a hook needs, compiled, in one file: finding seventy of them one by one takes longer than they run.

Hot path. A bundle holds nothing that its sources do not say: each module stands in it with what its file looked like,
in the order in which they finished loading, and so each finds what it imports already there. If one file has changed,
or anything else is odd, nothing of the bundle is used and Python imports the ordinary way. This is the only module of
ours that every hook has to find by itself, so it imports none of the others.
"""

import gc
import sys
from marshal import loads

try:
    import posix
except ImportError:  # Windows, where nothing is bundled; sessions work there, and their modules import this one
    import os as posix  # type: ignore[no-redef]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import CodeType

    Stamp = list[object]  # path, mtime in ns, size, inode; a list, because JSON knows no tuples
    Bundled = tuple[str, bool, Stamp, CodeType]  # a module: its name, whether it is a package, its file, what it runs

HERE = __file__.rpartition("/")[0]
FOR_ALL = "all"  # the bundle with what every hook needs
_MAX_BYTES = 1 << 23
_US = "tmpwarden"
_LONGER_BY_LINKS = 8  # the root is its own parent
_Module = type(sys)
_ways: "dict[str, bool]" = {}


def prepare() -> None:
    """At the start of a hook: load what all of them need, and let Python find the rest."""
    gc.disable()  # nothing in a hook lives long enough to be worth a look
    is_used = False
    try:
        if state := state_dir(posix.environ):
            refuse_strangers(state)
            is_used = use(path_for(state, FOR_ALL))
    except OSError:  # another user's state directory: the command that needs it says so
        pass
    sys.path.insert(len(sys.path) if is_used else 0, HERE.rpartition("/")[0])


def path_for(state: str, name: str) -> str:
    """One for each copy of us."""
    return f"{state}/guard/code-{name if name.isalpha() else 'other'}{HERE.replace('/', '-')[-120:]}"


def use(path: str) -> bool:
    """Load every module in the bundle at `path`. False if there is none that fits."""
    directory = path.rpartition("/")[0]
    if directory not in _ways:
        _ways[directory] = is_way_ours(directory)
    data = read_private(path, _MAX_BYTES) if _ways[directory] else None
    if data is None:
        return False
    try:
        kind, modules = loads(data)
        stamps = [stamp for name, is_package, stamp, _ in modules if _is_of(name, is_package, stamp)]
    except (ValueError, EOFError, TypeError):
        return False
    if kind != interpreter() or len(stamps) != len(modules) or not are_unchanged(stamps):
        return False
    # what is loaded already stays: two copies of one module would not know each other's classes
    ready = sys.modules
    fresh = {name: code for name, _, _, code in modules if name not in ready}
    # all modules stand in sys.modules before the first one runs: an import among them then finds its partner
    for name, is_package, (source, *_), _ in modules:
        if name in fresh:
            ready[name] = module = _Module(name)
            names = module.__dict__
            names["__file__"], names["__package__"] = source, name if is_package else name.rpartition(".")[0]
            if is_package:
                names["__path__"] = [source.rpartition("/")[0]]
    try:
        for name, code in fresh.items():
            above, _, child = name.rpartition(".")
            if above:
                ready[above].__dict__[child] = ready[name]
            exec(code, ready[name].__dict__)
    except Exception:
        # half a bundle is worse than none: the plain import that follows must find nothing of it
        for name in fresh:
            del ready[name]
        return False
    return True


def _is_of(name: str, is_package: bool, stamp: "Stamp") -> bool:
    """Whether this is the stamp of that module's own file in our package, and of one that is there."""
    place = HERE + name[len(_US) :].replace(".", "/")
    is_ours = name == _US or name.startswith(f"{_US}.")
    return is_ours and stamp[0] == (f"{place}/__init__.py" if is_package else f"{place}.py") and stamp[1] != 0


def is_way_ours(directory: str) -> bool:
    """Whether nobody but we and root can put another thing in the place of what lies there: who owns the directories
    on the way, as they are named and (behind a link) as they are, and who may write to them."""
    names = directory.split("/")
    directories = ["/".join(names[:end]) or "/" for end in range(1, len(names) + 1)]
    real = [directory + "/.." * above for above in range(1, len(names) + _LONGER_BY_LINKS)]
    return all(map(_is_closed, directories + real))


def _is_closed(path: str) -> bool:
    """A sticky directory of root's, such as /tmp, lets nobody move what is another's; a group whose number is ours
    (Ubuntu, Fedora) is ours alone."""
    try:
        seen = posix.stat(path)
    except OSError:
        return False
    if seen.st_uid not in (0, posix.geteuid()):
        return False
    is_group_ours = seen.st_gid == posix.geteuid()
    return bool(seen.st_mode & 0o1000) or not seen.st_mode & (0o002 if is_group_ours else 0o022)


def is_bundled(name: str) -> bool:
    """Whether a module that is loaded came out of a bundle."""
    return sys.modules[name].__spec__ is None


def state_dir(environ: "Mapping[bytes, bytes]") -> str:
    """tmpwarden's state directory, where the directory above it is there and ours; else "", and
    oskit.files.places looks further."""
    state_home = environ.get(b"XDG_STATE_HOME", b"")
    base, rest = (state_home, "") if state_home.startswith(b"/") else (environ.get(b"HOME", b""), "/.local/state")
    return f"{base.decode('utf-8', 'surrogateescape')}{rest}/{_US}" if _is_ours(base) else ""


def refuse_strangers(state: str) -> None:
    """Raises PermissionError where somebody else made it, or the link that stands for it: XDG_STATE_HOME=/tmp."""
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


def open_private(path: str, max_bytes: int) -> "tuple[int, int]":
    """Descriptor and length of a file that is ours, no link, writable by nobody else, not too long; else -1 and 0."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK)
    except OSError:
        return -1, 0
    seen = posix.fstat(fd)
    is_file = seen.st_mode & 0o170000 == 0o100000
    if is_file and seen.st_uid == posix.geteuid() and not seen.st_mode & 0o022 and seen.st_size <= max_bytes:
        return fd, seen.st_size
    posix.close(fd)
    return -1, 0


def read_out(fd: int, most_bytes: int) -> "bytes | None":
    """What an open file holds, up to so many bytes; None where it cannot be read. It is closed then."""
    try:
        return posix.read(fd, most_bytes)
    except OSError:
        return None
    finally:
        posix.close(fd)


def read_private(path: str, max_bytes: int) -> "bytes | None":
    """The bytes of such a file; None where there is none."""
    fd, size = open_private(path, max_bytes)
    return None if fd < 0 else read_out(fd, size)


def are_unchanged(stamps: "Iterable[Stamp]") -> bool:
    """Whether every source still looks as it did."""
    for path, mtime_ns, size, inode in stamps:  # a hundred of them before every tool call
        try:
            seen = posix.stat(path)  # type: ignore[arg-type]
        except OSError:
            if mtime_ns or size or inode:
                return False
            continue  # it was not there either
        if seen.st_mtime_ns != mtime_ns or seen.st_ino != inode or seen.st_size != size:
            return False
    return True


def interpreter() -> str:
    """What compiled code is bound to."""
    return f"{sys.implementation.cache_tag} {sys.hexversion:x}"
