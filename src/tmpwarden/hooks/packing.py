"""Makes the pack that hooks/pack.py loads: once after an install, an upgrade or a change, at the end of a call."""

import ast
import sys
from importlib.util import find_spec
from marshal import dumps

from ..oskit.files.atomic import write
from ..oskit.files.own_dirs import make_private_dir
from ..stamped import stamp
from . import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_OURS = __package__.partition(".")[0] + "."
# what functions of these rooms import when they are called; all else is for another day
_LATER = (
    *[f"{_OURS}guard.{room}." for room in ("shell", "programs", "simulate", "decide")],
    *[f"{_OURS}{name}" for name in ("leases.stated", "leases.births", "hooks.events.stating")],
)
Packed = tuple[str, str, bool, "CodeType"]  # name, source, is it a package, code


def make(path: str, roots: "tuple[str, ...]", loaded: "frozenset[str]") -> None:
    """Pack `roots` and all that they import, less what is `loaded` anyway. Raises OSError if it cannot be written."""
    modules: list[Packed] = []
    seen = set(loaded)
    for root in roots:
        modules += _in_order(root, seen)
    modules += _for_later(modules, seen)
    stamps = stamp(source for _, source, _, _ in modules)
    make_private_dir(path.rpartition("/")[0])
    write(path, dumps((pack.interpreter(), stamps, modules)))


def _in_order(name: str, seen: "set[str]") -> "Iterator[Packed]":
    """The module `name` behind everything that has to be there before its body runs."""
    if name in seen or not name.startswith(_OURS):
        return
    seen.add(name)
    yield from _in_order(name.rpartition(".")[0], seen)
    spec = find_spec(name)
    if spec is None or spec.origin is None:  # a name in a module, not a module
        return
    with open(spec.origin, "rb") as file:
        tree = ast.parse(file.read())
    is_package = spec.submodule_search_locations is not None
    for imported in _imports(tree, name if is_package else name.rpartition(".")[0]):
        yield from _in_order(imported, seen)
    slim = ast.fix_missing_locations(_WithoutTypes().visit(tree))
    code = compile(slim, spec.origin, "exec", dont_inherit=True, optimize=2)
    yield name, spec.origin, is_package, _without_lines(code)


def _for_later(modules: "list[Packed]", seen: "set[str]") -> "Iterator[Packed]":
    """What functions of these modules import when they are called, as bytes: most calls never need it."""
    todo = [(name, source, is_package) for name, source, is_package, _ in modules]
    while todo:
        name, source, is_package = todo.pop()
        with open(source, "rb") as file:
            tree = ast.parse(file.read())
        for inner in sorted(_inner_imports(tree, name if is_package else name.rpartition(".")[0])):
            for found in _in_order(inner, seen) if inner.startswith(_LATER) else ():
                yield found[0], found[1], found[2], dumps(found[3])  # type: ignore[misc]
                todo.append(found[:3])


def _inner_imports(tree: ast.Module, package: str) -> "Iterator[str]":
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield from _imports(node, package)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "later":
            yield f"{package}.{ast.literal_eval(node.args[0])}"


def _imports(tree: "ast.Module | ast.FunctionDef", package: str) -> "Iterator[str]":
    """What the body imports while it runs. `if TYPE_CHECKING` and functions are left alone: they do not, or later."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if _is_module(f"{base}.{alias.name}"))


def _is_module(name: str) -> bool:
    return name.startswith(_OURS) and name in sys.modules


class _WithoutTypes(ast.NodeTransformer):
    """Annotations are for readers and for mypy; building them, and importing __future__ for them, costs every call."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        given = node.args
        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
            if one is not None:
                one.annotation = None
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Pass() if node.value is None else ast.Assign([node.target], node.value)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        return ast.Pass() if node.module == "__future__" else node


def _without_lines(code: "CodeType") -> "CodeType":
    """A quarter of what has to be read. Hooks tell errors by name, not by line."""
    consts = tuple(_without_lines(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_consts=consts, co_linetable=b"")
