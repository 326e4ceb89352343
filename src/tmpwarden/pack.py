"""The guard's compiled modules in one file. Hot path: it needs ninety, and finding each costs more than running it.

What a typical call needs is read at once; other functions and modules stay in the file until somebody calls them.
"""

import posix
import sys
from marshal import loads

from .headstart import THAW, are_unchanged, execute, open_pack
from .stamped import CodeFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType, ModuleType
    from typing import Any

    from .headstart import Asleep, Place, Stamp

    Later = dict[str, tuple[str, bool, Stamp, Place]]  # name -> source, is it a package, its stamp, its code


def use(path: str) -> bool:
    """Load everything in the pack at `path`; False if there is none that fits."""
    opened = open_pack(path)
    if opened is None:
        return False
    modules, later, fd, start = opened
    rest = _Rest(fd, start, later)
    if not execute(modules, rest.lay):
        return False
    sys.meta_path.insert(0, rest)
    return True


class _Rest(CodeFinder):
    """What was left in the file, which stays open: another pack of that name would be another file."""

    __slots__ = ("_fd", "_later", "_place", "_start")

    def __init__(self, fd: int, start: int, place: "Place") -> None:
        self._fd = fd
        self._start = start
        self._place = place
        self._later: Later | None = None

    def lay(self, asleep: "list[Asleep]", names: "dict[str, object]") -> None:
        """Put what is not there yet in the place of a module's functions and methods."""
        names[THAW] = self._thaw
        for one in asleep:
            names[one[0]] = _Sleeper(self, names, one)

    def woken(self, names: "dict[str, object]", asleep: "Asleep") -> "Callable[..., object]":
        name, module, offset, length = asleep
        if module:
            return getattr(__import__(module, None, None, (name,)), name)  # type: ignore[no-any-return]
        if isinstance(names[name], _Sleeper):
            exec(self._read((offset, length)), names)
        return names[name]  # type: ignore[return-value]

    def _thaw(self, key: "tuple[str, str, int, int]") -> "FunctionType":
        """The method that was called before its code was there; from now on it has it."""
        module, name, offset, length = key
        found: object = sys.modules[module]
        for part in name.split("."):
            found = vars(found)[part]
        function: FunctionType = getattr(found, "fget", None) or getattr(found, "__func__", found)  # type: ignore[assignment]
        function.__code__ = self._read((offset, length))
        return function

    def _read(self, place: "Place") -> "Any":
        return loads(posix.pread(self._fd, place[1], self._start + place[0]))

    def source_of(self, name: str) -> "tuple[str, bool] | None":
        if self._later is None:
            self._later = self._read(self._place)
        if not self._later or name not in self._later:
            return None
        source, is_package, stamp, _ = self._later[name]
        return (source, is_package) if are_unchanged([stamp]) else None  # its file is another one by now

    def exec_module(self, module: "ModuleType") -> None:
        assert self._later is not None
        source, _, _, place = self._later[module.__name__]
        code, given, asleep = self._read(place)
        names = module.__dict__
        names["__file__"] = source
        for base, wanted in given:
            there = __import__(base, None, None, wanted).__dict__
            for one in wanted:
                names[one] = there[one]
        self.lay(asleep, names)
        exec(code, names)


class _Sleeper:
    """Stands for a function that nobody has called yet."""

    __slots__ = ("_asleep", "_function", "_names", "_rest")

    def __init__(self, rest: _Rest, names: "dict[str, object]", asleep: "Asleep") -> None:
        self._rest = rest
        self._names = names
        self._asleep = asleep
        self._function: Callable[..., object] | None = None

    def __call__(self, *given: object, **named: object) -> object:
        if self._function is None:
            self._function = self._rest.woken(self._names, self._asleep)
        return self._function(*given, **named)
