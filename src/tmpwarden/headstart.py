"""Before anything else of a hook: what it needs comes out of one file of compiled modules instead of ten. Hot path.

Such a pack holds nothing that its sources do not say: if one of them has changed, or anything else is odd, it is not
used. This module imports none of ours: it is the only one that every hook has to find the ordinary way.
"""

import gc
import posix
import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType

    Stamp = list[object]  # path, mtime in ns, size, inode; a list, because JSON knows no tuples
    Place = tuple[int, int]  # offset and length in the rear of the file
    Given = list[tuple[str, tuple[str, ...]]]  # which names from which modules
    Asleep = tuple[str, str, int, int]  # a function: its name, its module if that comes later, else where it is defined
    Lay = Callable[[list[Asleep], dict[str, object]], None]
    Packed = tuple[str, str, bool, CodeType | None, Given, list[Asleep]]
    Opened = tuple[list[Packed], Place, int, int]  # modules, what may come later, the descriptor, where its rear starts

NAME = "headstart"  # of the pack with what all hooks need
MAX_BYTES = 1 << 23
NUMBER = 8  # bytes of each of the two numbers at the head: how much is read at once, how much is left
THAW = "_thaw"  # by which a method that is not there yet is called
_US = "tmpwarden"
_Module = type(sys)


def prepare(package: str) -> None:
    """`package` is our directory."""
    gc.disable()  # nothing in a hook lives long enough to be worth a look
    is_packed = False
    try:
        state = own_state(posix.environ)
        opened = open_pack(path_for(state, NAME)) if state else None
        is_packed = opened is not None and execute(opened[0], None)
    except OSError:  # somebody else's state directory: whoever needs it says so
        pass
    above = package.rpartition("/")[0]
    sys.path.insert(len(sys.path) if is_packed else 0, above)


def is_prepared() -> bool:
    """Whether it came out of a pack that fits."""
    return getattr(sys.modules.get(f"{_US}.hooks.entry"), "__spec__", None) is None


def path_for(state: str, dialect: str) -> str:
    """One for each dialect, which import different modules, and for each copy of us."""
    here = __file__.rpartition("/")[0].replace("/", "-")[-120:]
    return f"{state}/guard/code-{dialect if dialect.isalpha() else 'other'}{here}"


def open_pack(path: str) -> "Opened | None":
    """What is to be loaded at once; None if there is no pack that fits the sources and this interpreter."""
    fd, size = open_private(path, MAX_BYTES)
    if fd < 0:
        return None
    try:
        numbers = posix.read(fd, 2 * NUMBER)
        at_once, cold = int.from_bytes(numbers[:NUMBER], "big"), int.from_bytes(numbers[NUMBER:], "big")
        if 2 * NUMBER + at_once + cold != size:  # cut
            return None
        kind, stamps, modules, later = loads(posix.read(fd, at_once))
    except (OSError, ValueError, EOFError, TypeError):
        return None
    is_fitting = kind == interpreter() and are_unchanged(stamps)
    return (modules, later, fd, size - cold) if is_fitting else None


def execute(modules: "list[Packed]", lay: "Lay | None") -> bool:
    """Each module after those that it imports from, whose names it is handed: no import machinery is needed.

    `lay` puts something in the place of functions that are not there yet.
    """
    ready = sys.modules
    fresh = {}
    for packed in modules:
        name, source, is_package, *_ = packed
        if name not in ready:
            ready[name] = module = _Module(name)
            fresh[name] = packed, module.__dict__
            names = module.__dict__
            names["__file__"] = source
            names["__package__"] = name if is_package else name.rpartition(".")[0]
            if is_package:
                names["__path__"] = [source.rpartition("/")[0]]
    try:
        for name, ((_, _, _, code, given, asleep), names) in fresh.items():
            parent, _, child = name.rpartition(".")
            if parent:
                ready[parent].__dict__[child] = ready[name]
            for base, wanted in given:
                there = ready[base].__dict__
                for one in wanted:
                    names[one] = there[one]
            if lay is not None:
                lay(asleep, names)
            if code is not None:
                exec(code, names)
    except Exception:
        for name in fresh:
            del ready[name]
        return False
    return True


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
