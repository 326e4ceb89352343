"""Nobody outside `oskit/system` knows which system this is, and its packages answer the same questions."""

import ast
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import tmpwarden
from tmpwarden.oskit import system
from tmpwarden.oskit.system import blind, darwin, linux

SOURCE = Path(tmpwarden.__file__).parent
BORDER = SOURCE / "oskit" / "system"
OUTSIDE = [path for path in SOURCE.rglob("*.py") if BORDER not in path.parents]
# Words that speak of a platform and do not ask which one this is.
_SPEAKS = {
    "guard/programs/known.py": "the words of commands that agents run",
    "guard/simulate/interpreters.py": "a path that a command names",
    "oskit/files/disk.py": "a path that the guard is asked about",
    "oskit/proc/slow_mounts.py": "mount points that are the system's own",
}


def modules(package: ModuleType) -> dict[str, ModuleType]:
    names = [each.name for each in pkgutil.iter_modules(package.__path__)]
    return {name: importlib.import_module(f"{package.__name__}.{name}") for name in names}


def _as_if_blind(module: ModuleType) -> str:
    """What a system does not tell, its module takes from the one that knows nothing."""
    return f"{blind.__name__}.{module.__name__.rpartition('.')[2]}"


def questions(module: ModuleType) -> dict[str, inspect.Signature]:
    """The public functions that a module defines, or takes from the blind one."""
    return {
        name: inspect.signature(found)
        for name, found in vars(module).items()
        if not name.startswith("_")
        and inspect.isfunction(found)
        and found.__module__ in (module.__name__, _as_if_blind(module))
    }


def listed() -> dict[str, set[str]]:
    """module -> names, from the table in the package's docstring."""
    found = {}
    for row in re.split(r"\n(?=\|)", system.__doc__.partition("|---|---|\n")[2]):
        _, name, words, *_ = (cell.strip() for cell in row.replace("\n", " ").split("|"))
        found[name] = set(re.findall(r"[A-Za-z_]+", " ".join(re.findall(r"`([^`]*)`", words))))
    return found


def names_platform(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return (node.value.id, node.attr) in {("sys", "platform"), ("os", "uname"), ("platform", "system")}
    return False


# what a record of another machine is compared with, and what a person reports
_TOLD = {"leases/registries.py", "cli/commands/bugreport.py"}


def test_nothing_but_the_border_asks_which_system_this_is() -> None:
    asking = {
        str(path.relative_to(SOURCE))
        for path in OUTSIDE
        if any(map(names_platform, ast.walk(ast.parse(path.read_text()))))
    }
    assert asking <= _TOLD


def test_nothing_but_the_border_opens_anything_of_proc() -> None:
    """Docstrings and sentences may speak of it."""
    guilty = []
    for path in OUTSIDE:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
                text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                name = str(path.relative_to(SOURCE))
                if text.startswith("/proc") and name not in _SPEAKS:
                    guilty.append(f"{name}:{node.lineno}: {text}")
    assert guilty == []


@pytest.mark.parametrize("name", sorted(listed()))
def test_the_list_of_the_border_is_what_its_packages_have(name: str) -> None:
    for package in (linux, blind):
        module = modules(package)[name]
        missing = [each for each in listed()[name] if not hasattr(module, each)]
        assert not missing, f"{package.__name__}.{name} lacks {missing}"


@pytest.mark.parametrize("other", [blind, darwin], ids=lambda package: package.__name__.rpartition(".")[2])
def test_what_another_system_answers_is_asked_in_the_same_words(other: ModuleType) -> None:
    ours, theirs = modules(linux), modules(other)
    for name in sorted(set(listed()) & set(theirs)):
        wanted = {each: signature for each, signature in questions(ours[name]).items() if each in listed()[name]}
        found = questions(theirs[name])
        for each, signature in wanted.items():
            assert each in found, f"{other.__name__}.{name} lacks {each}"
            assert list(found[each].parameters) == list(signature.parameters), f"{other.__name__}.{name}.{each}"


def test_what_a_system_lacks_is_answered_by_the_blind_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system, "NAME", "blind")
    monkeypatch.delitem(vars(system), "processes", raising=False)
    monkeypatch.delitem(vars(system), "proof", raising=False)
    with pytest.raises(OSError, match="does not tell"):
        system.processes.pids()
    assert system.proof.doubt("/nowhere")
    for name in ("processes", "proof"):
        vars(system).pop(name)
