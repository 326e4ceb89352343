"""Compiled modules in one file: finding each of a hundred costs more than running it.

The file holds the very code that Python keeps in __pycache__, and is believed only while every source looks as it did.
A module comes out of it when somebody imports it, as if it had been found the ordinary way.
"""

import sys
from marshal import dumps, loads

from ..headstart import are_unchanged, interpreter
from ..stamped import CodeFinder, stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType, ModuleType


class _Finder(CodeFinder):
    """Finds the modules that the file holds."""

    def __init__(self) -> None:
        self.codes: dict[str, tuple[str, bool, bytes]] = {}  # name -> source, whether it is a package, code

    def source_of(self, name: str) -> "tuple[str, bool] | None":
        return self.codes[name][:2] if name in self.codes else None

    def code_of(self, name: str) -> "CodeType":
        return loads(self.codes[name][2])  # type: ignore[no-any-return]


_finder = _Finder()


def use(path: str) -> None:
    """From now on imports look there first, if it fits the sources and this interpreter."""
    try:
        with open(path, "rb", buffering=0) as file:
            kind, stamps, codes = loads(file.read())
        if kind != interpreter() or not are_unchanged(stamps):
            return
        _finder.codes = dict(codes)
    except (OSError, ValueError, EOFError, TypeError):
        return  # the first call of this version, or a file that is none
    sys.meta_path.insert(0, _finder)


def has_served(module: "ModuleType") -> bool:
    """Whether a module came out of the file."""
    return getattr(module, "__loader__", None) is _finder


def make(path: str, names: "Iterable[str]") -> None:
    """Write the file anew, with these modules and those that it holds. Raises OSError if it cannot be written."""
    from ..oskit.files.atomic import write

    codes = {name: _compiled(name) for name in sorted({*names, *_finder.codes})}
    stamps = stamp(source for source, _, _ in codes.values())
    write(path, dumps((interpreter(), stamps, codes)), 0o644)


def _compiled(name: str) -> "tuple[str, bool, bytes]":
    """A module as Python itself compiled it."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name, list(sys.modules[name.rpartition(".")[0]].__path__))
    if spec is None or spec.origin is None:
        raise FileNotFoundError(name)
    code = spec.loader.get_code(name)  # type: ignore[union-attr]
    return spec.origin, spec.submodule_search_locations is not None, dumps(code)
