"""The guard's compiled modules in one file. Hot path: it needs forty, and finding each costs more than running it.

The file holds nothing that its sources do not say: if one of them has changed, or anything else is odd, it is not used.
"""

import sys
from _frozen_importlib import ModuleSpec  # importlib.machinery is one import more
from marshal import loads

from ..stamped import are_unchanged, read_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType

MAX_BYTES = 1 << 23
_Module = type(sys)


def path_for(state: str, dialect: str) -> str:
    """One for each dialect, which import different modules, and for each copy of us."""
    here = __file__.rpartition("/")[0].replace("/", "-")[-120:]
    return f"{state}/guard/code-{dialect if dialect.isalpha() else 'other'}{here}"


def use(path: str) -> bool:
    """Load everything in the pack at `path`; False if there is none that fits the sources and this interpreter."""
    data = read_private(path, MAX_BYTES)
    if data is None:
        return False
    try:
        kind, stamps, modules = loads(data)
    except (ValueError, EOFError, TypeError):
        return False
    if kind != interpreter() or not are_unchanged(stamps):
        return False
    return _execute(modules)


def interpreter() -> str:
    """What compiled code is bound to."""
    return f"{sys.implementation.cache_tag} {sys.hexversion:x}"


class _Later:
    """Finds modules that the pack holds and that nothing needs at the start."""

    def __init__(self) -> None:
        self.codes: dict[str, tuple[str, bytes, bool]] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        if name not in self.codes:
            return None
        source, _, is_package = self.codes[name]
        spec = ModuleSpec(name, self, origin=source, is_package=is_package)  # type: ignore[arg-type]
        if is_package:
            spec.submodule_search_locations = [source.rpartition("/")[0]]
        return spec

    def create_module(self, spec: "ModuleSpec") -> None:
        return None

    def exec_module(self, module: "ModuleType") -> None:
        source, code, _ = self.codes[module.__name__]
        module.__file__ = source
        exec(loads(code), module.__dict__)


_later = _Later()


def _execute(modules: "list[tuple[str, str, bool, CodeType | bytes]]") -> bool:
    """Each module after those it imports: a `from .x import y` then finds `x` at once, without the import machinery."""
    ready = sys.modules
    fresh = {}
    for name, source, is_package, code in modules:
        if isinstance(code, bytes):
            _later.codes[name] = (source, code, is_package)
        elif name not in ready:
            fresh[name] = code
            names = ready.setdefault(name, _Module(name)).__dict__
            names["__file__"] = source
            names["__package__"] = name if is_package else name.rpartition(".")[0]
            if is_package:
                names["__path__"] = [source.rpartition("/")[0]]
    try:
        for name, code in fresh.items():
            parent, _, child = name.rpartition(".")
            setattr(ready[parent], child, ready[name])
            exec(code, ready[name].__dict__)
    except Exception:
        for name in fresh:
            del ready[name]
        return False
    if _later.codes and _later not in sys.meta_path:
        sys.meta_path.insert(0, _later)
    return True
