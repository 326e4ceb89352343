"""Compiled modules in one file. A hook imports forty of them, and finding each costs more than running it. Hot path.

The file holds nothing that its sources do not say: if one of them has changed, or anything else is odd, it is not used.
"""

import posix
import sys
from marshal import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

MAX_BYTES = 1 << 23
_ModuleSpec = type(sys.__spec__)


class Pack:
    """Finds and loads the modules of one file, ahead of the ordinary search."""

    def __init__(self, modules: "dict[str, tuple[str, bool, object]]") -> None:
        self.modules = modules  # name -> source path, is it a package, code

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        found = self.modules.get(name)
        if found is None:
            return None
        spec = _ModuleSpec(name, self, origin=found[0], is_package=found[1])  # type: ignore[arg-type]
        spec.has_location = True
        if found[1]:
            spec.submodule_search_locations = [found[0].rpartition("/")[0]]
        return spec

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: object) -> None:
        names = module.__dict__
        exec(self.modules[names["__name__"]][2], names)  # type: ignore[arg-type]


def use(path: str, *, uid: int) -> bool:
    """Import from the pack at `path` from now on; False if there is none that fits the sources and this interpreter."""
    try:
        document = loads(_read(path, uid))
        kind, stamps, modules = document
        if kind != interpreter() or any(stamp(source) != (mtime, size) for source, mtime, size in stamps):
            return False
    except (OSError, ValueError, EOFError, TypeError):
        return False
    sys.meta_path.insert(0, Pack(modules))  # type: ignore[arg-type]
    return True


def interpreter() -> str:
    """What compiled code is bound to."""
    return f"{sys.implementation.cache_tag} {sys.hexversion:x}"


def stamp(source: str) -> "tuple[int, int]":
    status = posix.stat(source)
    return status.st_mtime_ns, status.st_size


def _read(path: str, uid: int) -> bytes:
    fd = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    try:
        status = posix.fstat(fd)
        if status.st_uid != uid or status.st_mode & 0o022 or status.st_size > MAX_BYTES:
            raise ValueError("not ours")
        return posix.read(fd, status.st_size)
    finally:
        posix.close(fd)


def make(path: str, before: "frozenset[str]") -> None:
    """Pack what has been imported since `before`, for the next one. Raises OSError where it cannot be written."""
    from marshal import dumps

    from .atomic import make_private_dir, write

    modules, stamps = {}, []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name in before or not name.startswith("tmpwarden.") or spec is None or isinstance(spec.loader, Pack):
            continue
        stamps.append((spec.origin, *stamp(spec.origin)))
        with open(spec.origin, "rb") as source:
            code = compile(source.read(), spec.origin, "exec", dont_inherit=True, optimize=2)
        modules[name] = (spec.origin, spec.submodule_search_locations is not None, _slim(code))
    make_private_dir(path.rpartition("/")[0])
    write(path, dumps((interpreter(), stamps, modules)))


def _slim(code: "CodeType") -> "CodeType":
    """Without the table of line numbers, a quarter of what has to be read. Hooks tell errors by name, not by line."""
    consts = tuple(_slim(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_consts=consts, co_linetable=b"")
