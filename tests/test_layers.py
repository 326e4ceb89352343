"""The architecture, as a test: imports point down, neighbours do not know each other, only oskit changes the disk."""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tmpwarden.agent_facts import FACTS

SRC = Path(__file__).parents[1] / "src" / "tmpwarden"
LAYERS = [
    {"cli"},
    {"metrics", "report"},
    {"hooks", "setup"},
    {"lifecycle", "doctor"},
    {"repos.worktrees"},
    {"sweep", "session", "guard", "processes"},
    {"repos.rescue"},
    {"catalogue", "leases", "repos"},
    {"oskit"},
    {"agent_facts", "agent_events"},
    {"model", "errors", "text", "small_files", "small_json", "redaction", "stamped", "toml_lines"},
    {"bundle", "lazy_dataclass"},
]
# One room has doors at three heights: `repos.rescue` and `repos.worktrees` are named with their package.
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ROOT_MODULES = {"__init__", "__main__", "early"}  # doors: the lazy one, `python -m`, and what is imported before all
CHANGES_DISK = {"unlink", "remove", "rmdir", "rename", "renames", "replace", "rmtree", "removedirs", "move"}


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text())))


def modules() -> Iterator[tuple[Path, str, tuple[str, ...]]]:
    for path in sorted(SRC.rglob("*.py")):
        parts = path.relative_to(SRC).with_suffix("").parts
        yield path, room_of(parts), parts


def room_of(words: Sequence[str]) -> str:
    """The name in LAYERS of what these words lead to."""
    door = ".".join(words[:2])
    return door if door in RANK else words[0]


def imported(path: Path, parts: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Every tmpwarden module that `path` imports, as (line, package), however it spells it."""
    package = ("tmpwarden", *parts[:-1])
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            stem = ".".join(filter(None, (base, node.module or "")))
            names = [f"{stem}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            words = name.split(".")
            if words[0] == "tmpwarden" and len(words) > 1 and words[1] in RANK:
                yield node.lineno, room_of(words[1:])


def test_every_module_has_a_layer() -> None:
    homeless = [
        str(path.relative_to(SRC)) for path, here, _ in modules() if here not in RANK | dict.fromkeys(ROOT_MODULES)
    ]
    assert homeless == []


def test_imports_point_down() -> None:
    bad = [
        f"{path.relative_to(SRC)}:{line}: {here} imports {there}"
        for path, here, parts in modules()
        if here not in ROOT_MODULES
        for line, there in imported(path, parts)
        if here != there and RANK[there] <= RANK[here]
    ]
    assert bad == []


def test_compose_alone_joins_catalogue_with_leases() -> None:
    both = [
        path.name
        for path, here, parts in modules()
        if here == "sweep" and {"catalogue", "leases"} <= {there for _, there in imported(path, parts)}
    ]
    assert both in ([], ["compose.py"])


def test_only_oskit_unlinks_renames_and_removes() -> None:
    bad = []
    for path, here, _ in modules():
        if here == "oskit":
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module in {"os", "shutil", "posix"}:
                bad += [
                    f"{path.relative_to(SRC)}:{node.lineno}: {a.name}" for a in node.names if a.name in CHANGES_DISK
                ]
            if isinstance(node, ast.Attribute) and node.attr in CHANGES_DISK:
                owner = node.value
                if isinstance(owner, ast.Name) and owner.id in {"os", "shutil", "posix"}:
                    bad.append(f"{path.relative_to(SRC)}:{node.lineno}: {node.attr}")
    assert bad == []


# Where code may name an agent. What is true of one stands in catalogue/agents/<id>.toml.
NAMES_AGENTS = (
    "agent_facts.py",
    "hooks/dialects/",
    "setup/",
    "leases/registries.py",
    "cli/guarding/fencepost.py",  # the words of another program's files
)
AN_AGENT = re.compile(rf"(?<![a-z])({'|'.join(FACTS)})(?![a-z])", re.IGNORECASE)


def words_of(nodes: Sequence[ast.AST]) -> Iterator[tuple[int, str]]:
    """Every name and text in a module but its docstrings, with its line."""
    bodies = [node.body for node in nodes if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    told = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in nodes:
        words = [value for _, value in ast.iter_fields(node) if isinstance(value, str)]
        if isinstance(node, ast.Constant) and isinstance(node.value, bytes):
            words.append(node.value.decode("latin-1"))
        if id(node) not in told:
            yield from ((getattr(node, "lineno", 0), word) for word in words)


def test_code_names_no_agent_outside_dialects_setup_and_the_readers_of_registries() -> None:
    bad = [
        f"{path.relative_to(SRC)}:{line}: {word[:60]}"
        for path, _, _ in modules()
        if not str(path.relative_to(SRC)).startswith(NAMES_AGENTS)
        for line, word in words_of(nodes_of(path))
        if AN_AGENT.search(word)
    ]
    assert bad == []


@pytest.mark.parametrize("source", ["claude = 1", "x = '.codex'", "x = b'GEMINI'", "f'{x}/copilot'", "def qwen(): ..."])
def test_the_test_sees_every_way_to_name_an_agent(source: str) -> None:
    assert any(AN_AGENT.search(word) for _, word in words_of([*ast.walk(ast.parse(source))]))


def test_a_docstring_may_name_one() -> None:
    tree = ast.parse('"""Claude"""\ndef f():\n    """codex"""\n')
    assert not any(AN_AGENT.search(word) for _, word in words_of([*ast.walk(tree)]))


@pytest.mark.parametrize(
    "source",
    [
        "import tmpwarden.cli",
        "from tmpwarden.cli import main",
        "from tmpwarden import cli",
        "from .. import cli",
        "from ..cli import main",
    ],
)
def test_the_test_sees_every_spelling_of_an_import(tmp_path: Path, source: str) -> None:
    (tmp_path / "x.py").write_text(source)
    assert [there for _, there in imported(tmp_path / "x.py", ("sweep", "x"))] == ["cli"]


def _modules_by_name() -> dict[str, Path]:
    named = {}
    for path in sorted(SRC.rglob("*.py")):
        parts = ("tmpwarden", *path.relative_to(SRC).with_suffix("").parts)
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def _needed_by(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """Every module that it imports, at the top or inside a function; what only a type checker reads is none."""
    only_typed = {
        below
        for node in nodes_of(path)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for below in ast.walk(statement)
    }
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in nodes_of(path):
        if node in only_typed:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{stem}.{alias.name}" if f"{stem}.{alias.name}" in known else stem for alias in node.names}
    return (found & known.keys()) - {name, "tmpwarden"}


def test_no_module_needs_itself_by_way_of_others() -> None:
    """Lazy imports count: a circle that is imported late is still a circle for whoever reads it."""
    known = _modules_by_name()
    graph = {name: _needed_by(name, path, known) for name, path in known.items()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(" needs ".join(reversed(circle.args[1])))


# A small module lives with the only module of its package that imports it, unless it is a thought of its own.
SMALL_AND_APART = {
    "catalogue.process_rows": "a format: processes.toml, which processes.find reads too",
    "cli.ask": "the questions of every command, most of which lie in cli.commands",
    "cli.commands.completion": "one file per command",
    "cli.commands.doctor": "one file per command",
    "cli.commands.off": "one file per command",
    "cli.commands.ui": "one file per command",
    "guard.decide.filetools": "read by hooks before the guard is loaded",
    "guard.rules.compiled": "the cache that hooks read; what compiles is loaded when a rule has changed",
    "hooks.bundling": "writes what bundle.py reads: loaded once after a change, never before an ordinary call",
    "lifecycle.cleared": "words; background is on the way of every hook and never needs them itself",
    "lifecycle.derived": "what only a timer does, and only where the settings say so",
    "lifecycle.last_tick": "a format: what a timer writes and `status` reads without the timer's code",
    "model.answers": "a law: yes, no, or not measured",
    "guard.startup": "a format: what start-up files of shells say, kept from hook to hook",
    "oskit.proc.environs": "a format: what a process was started with, the same for every system",
    "processes.unheard": "a law and a format: when nobody can speak to a server again, and since when that is known",
    "sweep.lock": "a law: one clean at a time",
}
_SMALL_LINES = 80


def _package(name: str, path: Path) -> str:
    return name if path.name == "__init__.py" else name.rpartition(".")[0]


def test_a_small_module_that_one_sibling_imports_lives_with_it() -> None:
    known = _modules_by_name()
    importers: dict[str, list[str]] = {name: [] for name in known}
    for name, path in known.items():
        for needed in _needed_by(name, path, known):
            importers[needed].append(name)
    apart = set()
    for name, path in known.items():
        siblings = [each for each in importers[name] if _package(each, known[each]) == _package(name, path)]
        is_small = len(path.read_text().splitlines()) < _SMALL_LINES
        is_of_the_border = name.startswith("tmpwarden.oskit.system.")  # loaded by name, the same on each system
        if path.name != "__init__.py" and is_small and len(siblings) == 1 and not is_of_the_border:
            apart.add(name.removeprefix("tmpwarden."))
    assert len(SMALL_AND_APART) <= 20
    assert sorted(apart - SMALL_AND_APART.keys()) == []
    assert sorted(SMALL_AND_APART.keys() - {name.removeprefix("tmpwarden.") for name in known}) == []


_POSITIONS = 6
# What takes its words one after the other by nature.
POSITIONAL = {
    "make_encoder": "of the standard library, which takes no names",
    "pack": "of struct, which takes no names",
    **dict.fromkeys(("call", "_call", "kevent", "sysctl"), "a system call"),
    "output": "the words of a git command",
    "of": "names of fields",
    "Litter": "a compiled row, in the order of its fields",
}
# Whose parameters are many and no record of their own.
_PARAMETERS = 8
MANY_PARAMETERS = {
    "measure": "two say what; the rest are options that a caller names, and a record would only repeat them",
}


def test_arguments_travel_by_name() -> None:
    """A reader should not have to count commas; nor should a tuple be splatted where names are due."""
    counted = []
    for path, room, _ in modules():
        for node in nodes_of(path):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            splatted = any(
                isinstance(each, ast.Starred) and isinstance(each.value, ast.Tuple) and len(each.value.elts) > 4
                for each in node.args
            )
            if splatted or (len(node.args) >= _POSITIONS + (room == "guard") and name not in POSITIONAL):
                counted.append(f"{path.relative_to(SRC)}:{node.lineno}: {name}")
    assert counted == []


def test_more_than_eight_parameters_are_a_record() -> None:
    """A command of click names an option in each parameter; a record's own initializer takes one for each field."""
    crowded = []
    for path, room, _ in modules():
        for node in nodes_of(path):
            if not isinstance(node, ast.FunctionDef) or room == "guard" or node.name == "__init__":
                continue
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            of_click = any("click." in ast.unparse(each) for each in node.decorator_list)
            if len(parameters) > _PARAMETERS and not of_click and node.name not in MANY_PARAMETERS:
                crowded.append(f"{path.relative_to(SRC)}:{node.lineno}: {node.name}")
    assert crowded == []


def test_nobody_uses_the_standard_dataclass_decorator() -> None:
    """It imports inspect and compiles while a command starts; `asdict` and friends, which few need, are welcome."""
    for path, _, parts in modules():
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module == "dataclasses" and parts != ("lazy_dataclass",):
                slow = {alias.name for alias in node.names} & {"dataclass", "field", "replace"}
                assert slow == set(), f"{path}: import these from tmpwarden.lazy_dataclass"
