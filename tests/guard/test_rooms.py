"""The rooms of the guard: imports go one way, lazy ones counted; no class grows past one sitting."""

import ast
from pathlib import Path

GUARD = Path(__file__).parents[2] / "src" / "tmpwarden" / "guard"
# who may know whom: each room the ones before it
ORDER = ["shell", "nouns", "programs", "simulate", "rules", "decide", "log"]
MODULES = {
    ".".join(("guard", *path.relative_to(GUARD).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(GUARD.rglob("*.py"))
}


def imported(name: str) -> set[str]:
    """Every module of the guard that this one imports, anywhere in its text. Types alone are no import."""
    path = MODULES[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    tree = ast.parse(path.read_text())
    types = {id(inner) for node in ast.walk(tree) if _is_for_types(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "later":
            assert isinstance(node.args[0], ast.Constant)
            found.add(".".join([*package, str(node.args[0].value)]))
            continue
        if not isinstance(node, ast.ImportFrom) or id(node) in types or not node.level:
            continue
        base = package[: len(package) - node.level + 1] + (node.module or "").split(".")
        stem = ".".join(filter(None, base))
        found |= {full for full in (stem, *(f"{stem}.{alias.name}" for alias in node.names)) if full in MODULES}
    return found - {"guard"}


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_no_import_leads_back() -> None:
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join((*above[above.index(name) :], name))
        if name not in done:
            for other in sorted(imported(name)):
                visit(other, (*above, name))
            done.add(name)

    for name in MODULES:
        visit(name, ())


def test_each_room_knows_only_those_before_it() -> None:
    wrong = [
        f"{name} imports {other}"
        for name in MODULES
        for other in imported(name)
        if (here := name.split(".")[1:2]) and here[0] in ORDER
        if (there := other.split(".")[1]) in ORDER and ORDER.index(there) > ORDER.index(here[0])
    ]
    assert wrong == []


def test_no_class_is_longer_than_300_lines_with_all_its_bases() -> None:
    classes = {
        node.name: node
        for path in MODULES.values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    }

    def lines(name: str) -> int:
        node = classes.get(name)
        if node is None:
            return 0
        own = (node.end_lineno or 0) - node.lineno + 1
        return own + sum(lines(base.id) for base in node.bases if isinstance(base, ast.Name))

    assert [(name, lines(name)) for name in classes if lines(name) > 300] == []


def test_every_room_says_in_one_sentence_what_it_is_for() -> None:
    for room in ORDER:
        said = ast.get_docstring(ast.parse((GUARD / room / "__init__.py").read_text()))
        assert said and said.count("\n") == 0
