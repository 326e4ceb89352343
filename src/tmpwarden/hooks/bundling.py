"""Writes the bundles that bundle.py loads: once after an install, an upgrade or a change, at the end of a call."""

import ast
from marshal import dumps

from ..bundle import HERE, interpreter
from ..oskit.files.atomic import write
from ..oskit.files.own_dirs import make_private_dir
from ..stamped import stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ..bundle import Bundled

_US = __package__.partition(".")[0]


def bundle(path: str, modules: "Iterable[str]", loaded: "Collection[str]" = ()) -> None:
    """Write one of these modules and all that they import while they load, less what is `loaded` anyway.

    Where it cannot be written (a full disk, a source that is not there) the next call tries again.
    """
    seen = set(loaded)
    try:
        data = dumps((interpreter(), [one for module in modules for one in _in_order(module, seen)]))
        make_private_dir(path.rpartition("/")[0])
        write(path, data)
    except (OSError, SyntaxError):
        pass


def _in_order(name: str, seen: "set[str]") -> "Iterator[Bundled]":
    """Each module after those that it imports, which is the order in which Python finishes loading them."""
    source = _source_of(name)
    if name in seen or source is None:
        return
    seen.add(name)
    is_package = source.endswith("/__init__.py")
    yield from _in_order(name.rpartition(".")[0], seen)
    before = stamp([source])
    with open(source, "rb") as file:
        text = file.read()
    for imported in _imports(ast.parse(text), name if is_package else name.rpartition(".")[0]):
        yield from _in_order(imported, seen)
    yield name, is_package, before[0], compile(text, source, "exec", dont_inherit=True, optimize=2)


def _source_of(name: str) -> str | None:
    """None for what is no module of ours: a name in a module, another library."""
    if not f"{name}.".startswith(f"{_US}."):
        return None
    place = HERE + name[len(_US) :].replace(".", "/")
    for source in (f"{place}/__init__.py", f"{place}.py"):
        if stamp([source])[0][1]:
            return source
    return None


def _imports(tree: ast.Module, package: str) -> "Iterator[str]":
    """What the body of a module imports while it runs."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from (base, *[f"{base}.{alias.name}" for alias in node.names])
