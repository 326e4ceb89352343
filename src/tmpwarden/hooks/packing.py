"""Makes the pack that pack.py loads: once after an install, an upgrade or a change, at the end of a call."""

import ast
import sys
from importlib.util import find_spec
from marshal import dumps

from ..headstart import NUMBER, THAW, interpreter
from ..oskit.files.atomic import write
from ..oskit.files.own_dirs import make_private_dir
from ..stamped import stamp
from .slim_code import compiled, names_in, parsed, without_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from ..headstart import Asleep, Given

_OURS = __package__.partition(".")[0] + "."
# what functions of these rooms import when they are called; all else is for another day
_LATER = (
    *[f"{_OURS}guard.{room}." for room in ("shell", "programs", "simulate", "decide")],
    *[f"{_OURS}{name}" for name in ("leases.stated", "leases.births", "leases.claims", "hooks.events.stating")],
)
Found = tuple[str, str, bool, ast.Module]  # name, source, is it a package, its text
Names = frozenset[tuple[str, str]]  # module and qualified name of functions


def make(path: str, roots: "tuple[str, ...]", loaded: "frozenset[str]", used: "Names | None" = None) -> None:
    """Pack `roots` and all that they import, less what is `loaded` anyway. Raises OSError if it cannot be written.

    `used`: the functions that typical calls need; the code of others is read when they are called. None: all of them.
    """
    found: list[Found] = []
    seen = set(loaded)
    for root in roots:
        found += _in_order(root, seen)
    more = list(_for_later(found, seen))
    functions = {
        name: {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for name, _, _, tree in (*found, *more)
    }
    is_later = {one[0] for one in more} | (set() if used is None else _unused(found, roots, used, functions))
    cold = _Cold()
    now, later = [], {}
    for name, source, is_package, tree in (*found, *more):
        given, asleep = _imported(tree, name if is_package else name.rpartition(".")[0], is_later, functions)
        if name in is_later:
            place = cold.put((compiled(source, tree), given, asleep))
            later[name] = (source, is_package, stamp([source])[0], place)
            continue
        asleep += [] if used is None else cold.put_functions(name, source, tree, used)
        code = compiled(source, tree)
        code = code if used is None else cold.freeze(code, name, used)
        now.append((name, source, is_package, code if code.co_names else None, given, asleep))
    head = (interpreter(), stamp(one[1] for one in now), now, cold.put(later))
    make_private_dir(path.rpartition("/")[0])
    write(path, cold.behind(head))


class _Cold:
    """The rear of a pack: code that nobody reads before it is called."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def put(self, thing: object) -> "tuple[int, int]":
        """Where it lies, counted from the end of the head."""
        data = dumps(thing)  # type: ignore[arg-type]
        self._parts.append(data)
        self._length += len(data)
        return self._length - len(data), len(data)

    def put_functions(self, module: str, source: str, tree: ast.Module, used: Names) -> "list[Asleep]":
        """Take plain functions that are not `used` out of the body of a module: each is defined when it is called."""
        asleep = []
        for node in [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]:
            alone = compiled(source, ast.Module([node], []))
            its = [one for one in alone.co_consts if isinstance(one, type(alone))]
            if (module, node.name) not in used and _is_found(its[0], module):
                tree.body.remove(node)
                asleep.append((node.name, "", *self.put(alone)))
        return asleep

    def freeze(self, code: "CodeType", module: str, used: Names) -> "CodeType":
        """The same body, in which each method that is not `used` is one that asks for its code first."""
        consts = tuple(
            self._frozen(one, module, used) if isinstance(one, type(code)) else one for one in code.co_consts
        )
        return code.replace(co_consts=consts)

    def _frozen(self, code: "CodeType", module: str, used: Names) -> "CodeType":
        if not code.co_flags & _NEWLOCALS:
            return self.freeze(code, module, used)  # a class
        if (module, code.co_qualname) in used or code.co_freevars or not _is_found(code, module):
            return code
        key = (module, code.co_qualname, *self.put(code))
        consts = tuple(key if one == _KEY else one for one in _STUB.co_consts)
        names = {"co_name": code.co_name, "co_qualname": code.co_qualname, "co_filename": code.co_filename}
        return _STUB.replace(co_consts=consts, **names)  # type: ignore[arg-type]

    def behind(self, head: "tuple[object, ...]") -> bytes:
        """The whole file."""
        data = dumps(head)  # type: ignore[arg-type]
        numbers = [number.to_bytes(NUMBER, "big") for number in (len(data), self._length)]
        return b"".join((*numbers, data, *self._parts))


def _unused(
    found: "list[Found]", roots: "tuple[str, ...]", used: Names, functions: "dict[str, set[str]]"
) -> "set[str]":
    """Modules that no typical call needs, and of which those that it does need want nothing but functions."""
    trees = {name: (tree, name if is_package else name.rpartition(".")[0]) for name, _, is_package, tree in found}
    needed: set[str] = set()
    todo = {*roots, *[module for module, _ in used]} & set(trees)
    while todo:
        name = todo.pop()
        needed.add(name)
        tree, package = trees[name]
        wanted, asked = {name.rpartition(".")[0]}, names_in(tree)
        for node in [node for node in tree.body if isinstance(node, ast.ImportFrom)]:
            base = _base(node, package)
            for alias in node.names:
                if alias.asname or (alias.name in asked and alias.name not in functions.get(base, ())):
                    wanted |= {base, f"{base}.{alias.name}"}
        todo |= (wanted & set(trees)) - needed
    return set(trees) - needed


def _is_found(code: "CodeType", module: str) -> bool:
    """Whether its name leads to this function and nothing else: not where it was wrapped, or has no name."""
    found: object = sys.modules.get(module)
    for part in code.co_qualname.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    function = getattr(found, "fget", None) or getattr(found, "__func__", found)
    its = getattr(function, "__code__", None)
    return its is not None and its.co_firstlineno == code.co_firstlineno and function.__module__ == module


def _in_order(name: str, seen: "set[str]") -> "Iterator[Found]":
    """The module `name` behind everything that has to be there before its body runs."""
    if name in seen or not f"{name}.".startswith(_OURS):
        return
    seen.add(name)
    yield from _in_order(name.rpartition(".")[0], seen)
    spec = find_spec(name)
    if spec is None or spec.origin is None:  # a name in a module, not a module
        return
    with open(spec.origin, "rb") as file:
        tree = parsed(file.read())
    is_package = spec.submodule_search_locations is not None
    for imported in _imports(tree, name if is_package else name.rpartition(".")[0]):
        yield from _in_order(imported, seen)
    yield name, spec.origin, is_package, tree


def _taken_imports(tree: ast.Module, package: str) -> "Given":
    """Take `from .x import y` out of a body: whoever runs it hands it those names, which is cheaper by much.

    Those that it does not ask for when it runs, it does without.
    """
    given: Given = []
    asked = names_in(tree)
    for node in [node for node in tree.body if isinstance(node, ast.ImportFrom)]:
        base = _base(node, package)
        names = tuple(alias.name for alias in node.names)
        is_plain = base.startswith(_OURS) and not any(alias.asname or alias.name == "*" for alias in node.names)
        if is_plain and not any(_is_module(f"{base}.{name}") for name in names):
            given.append((base, tuple(name for name in names if name in asked)))
            tree.body[tree.body.index(node)] = ast.Pass()
    return given


def _imported(
    tree: ast.Module, package: str, is_later: "set[str]", functions: "dict[str, set[str]]"
) -> "tuple[Given, list[Asleep]]":
    """What a module is handed before it runs, and functions of others that are not there before they are called."""
    given, asleep = [], []
    for base, wanted in _taken_imports(tree, package):
        sleeping = functions[base] if base in is_later else set()
        asleep += [(one, base, 0, 0) for one in wanted if one in sleeping]
        if not sleeping.issuperset(wanted):
            given.append((base, tuple(one for one in wanted if one not in sleeping)))
    return given, asleep


def _for_later(modules: "list[Found]", seen: "set[str]") -> "Iterator[Found]":
    """What functions of these modules import when they are called: most calls never need it."""
    todo = list(modules)
    while todo:
        name, _, is_package, tree = todo.pop()
        for inner in sorted(_inner_imports(tree, name if is_package else name.rpartition(".")[0])):
            for found in _in_order(inner, seen) if inner.startswith(_LATER) else ():
                yield found
                todo.append(found)


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
            base = _base(node, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if _is_module(f"{base}.{alias.name}"))


def _base(node: ast.ImportFrom, package: str) -> str:
    """The module that a `from ... import` names."""
    above = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
    return ".".join([*above, *filter(None, [node.module])])


def _is_module(name: str) -> bool:
    if not name.startswith(_OURS) or name in sys.modules:
        return name in sys.modules
    try:
        return find_spec(name) is not None
    except ImportError:  # of a module that is no package
        return False


_NEWLOCALS = 2  # of co_flags: a function, not a class
_KEY = "key"
_STUB = without_lines(
    compile(f"def stub(*given, **named): return {THAW}({_KEY!r})(*given, **named)", "", "exec", optimize=2).co_consts[0]
)
