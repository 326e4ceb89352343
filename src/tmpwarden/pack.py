"""The guard's compiled modules in one file. Hot path: it needs ninety, and finding each costs more than running it.

The file holds nothing that its sources do not say: if one of them has changed, or anything else is odd, it is not used.
What a typical call needs is read at once; other functions and modules stay in the file until somebody calls them.
"""

import posix
import sys
from marshal import loads

from .stamped import CodeFinder, are_unchanged, interpreter, open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FunctionType

    Place = tuple[int, int]  # offset and length in the file
    Given = list[tuple[str, tuple[str, ...]]]  # which names from which modules
    Packed = tuple[str, str, bool, CodeType, Given]
    Later = dict[str, tuple[str, bool, list[object], Place]]  # name -> source, is it a package, its stamp, its code

MAX_BYTES = 1 << 23
NUMBER = 8  # bytes of each of the two numbers at the head: how much is read at once, how much is left
THAW = "_thaw"  # by which a function that is not there yet is called
_Module = type(sys)


def path_for(state: str, dialect: str) -> str:
    """One for each dialect, which import different modules, and for each copy of us."""
    here = __file__.rpartition("/")[0].replace("/", "-")[-120:]
    return f"{state}/guard/code-{dialect if dialect.isalpha() else 'other'}{here}"


def use(path: str) -> bool:
    """Load everything in the pack at `path`; False if there is none that fits the sources and this interpreter."""
    fd, size = open_private(path, MAX_BYTES)
    if fd < 0:
        return False
    try:
        numbers = posix.read(fd, 2 * NUMBER)
        at_once, cold = int.from_bytes(numbers[:NUMBER], "big"), int.from_bytes(numbers[NUMBER:], "big")
        if 2 * NUMBER + at_once + cold != size:  # cut
            return False
        kind, stamps, modules, later = loads(posix.read(fd, at_once))
    except (OSError, ValueError, EOFError, TypeError):
        return False
    if kind != interpreter() or not are_unchanged(stamps):
        return False
    return _execute(modules, later, _Rest(fd, size - cold))


class _Rest(CodeFinder):
    """What was left in the file, which stays open: another pack of that name would be another file."""

    __slots__ = ("_fd", "_later", "_start")

    def __init__(self, fd: int, start: int) -> None:
        self._fd = fd
        self._start = start
        self._later: Later = {}

    def code(self, place: "Place") -> "CodeType":
        return loads(posix.pread(self._fd, place[1], self._start + place[0]))  # type: ignore[no-any-return]

    def thaw(self, key: "tuple[str, str, int, int]") -> "FunctionType":
        """The function that was called before its code was there; from now on it has it."""
        module, name, offset, length = key
        found: object = sys.modules[module]
        for part in name.split("."):
            found = vars(found)[part]
        function: FunctionType = getattr(found, "fget", None) or getattr(found, "__func__", found)  # type: ignore[assignment]
        function.__code__ = self.code((offset, length))
        return function

    def offer(self, later: "Later") -> None:
        self._later = later
        if later:
            sys.meta_path.insert(0, self)

    def source_of(self, name: str) -> "tuple[str, bool] | None":
        if name not in self._later:
            return None
        source, is_package, stamp, _ = self._later[name]
        return (source, is_package) if are_unchanged([stamp]) else None  # its file is another one by now

    def code_of(self, name: str) -> "CodeType":
        return self.code(self._later[name][3])


def _forward(module: str, name: str) -> "Callable[..., object]":
    """A function of a module that nothing has needed yet."""

    def call(*given: object, **named: object) -> object:
        return getattr(__import__(module, None, None, (name,)), name)(*given, **named)

    return call


def _execute(modules: "list[Packed]", later: "Later", rest: _Rest) -> bool:
    """Each module after those that it imports from, whose names it is handed: no import machinery is needed."""
    ready = sys.modules
    fresh = {}
    thaw = rest.thaw
    for name, source, is_package, code, given in modules:
        if name not in ready:
            fresh[name] = code, given
            ready[name] = module = _Module(name)
            names = module.__dict__
            names["__file__"] = source
            names["__package__"] = name if is_package else name.rpartition(".")[0]
            names[THAW] = thaw
            if is_package:
                names["__path__"] = [source.rpartition("/")[0]]
    try:
        for name, (code, given) in fresh.items():
            names = ready[name].__dict__
            parent, _, child = name.rpartition(".")
            if parent:
                ready[parent].__dict__[child] = ready[name]
            for base, wanted in given:
                if base in later:
                    for one in wanted:
                        names[one] = _forward(base, one)
                    continue
                there = ready[base].__dict__
                for one in wanted:
                    names[one] = there[one]
            exec(code, names)
    except Exception:
        for name in fresh:
            del ready[name]
        return False
    rest.offer(later)
    return True
