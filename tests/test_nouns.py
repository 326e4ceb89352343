"""One word, one meaning: a class is found by its name alone, and a name says what a thing is."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src" / "tmpwarden"
BY_DESIGN = {"Spoken"}  # each dialect has one; `dialects/loading.py` takes whichever its module holds


def test_no_two_classes_of_the_house_have_one_name() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    same_elsewhere = ("oskit/system/darwin", "oskit/system/blind")  # the names of the linux package, by contract
    for path in SRC.rglob("*.py"):
        if str(path.parent.relative_to(SRC)) in same_elsewhere:
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SRC)))
    assert len(found) > 200
    assert {name: where for name, where in found.items() if len(where) > 1 and name not in BY_DESIGN} == {}


# A participle says how a value came about, and a reader wants to know what it is: `explanations`, not `told`.
PARTICIPLES = {
    "told", "untold", "said", "unsaid", "heard", "unheard", "going", "gone", "found", "staying", "stayed", "lying",
    "given", "telling", "complaining", "helping", "begun", "got", "looked", "looking", "resting", "poured", "parted",
    "drawn", "spoken", "meant", "carried", "gripped", "tied", "become", "answered",
}  # fmt: skip
PARTICIPLES_BY_DESIGN = {
    "lazy_dataclass.py: given": "the arguments of a call, as `inspect` calls them",
    "sweep/weigh/consent.py: given": "consent is given",
    "hooks/dialects/common.py: Spoken": "a dialect, as it is spoken",
    "guard/log/history.py: said": "a key of `guard stats --json`",
    "processes/unheard.py: unheard": "the condition of a server to which nobody can speak",
    "processes/exclusions.py: unheard": "the same",
    "oskit/system/linux/looking.py: looking": "one look at everybody, under the name that each system has",
    "oskit/system/darwin/looking.py: looking": "the same",
    "oskit/system/blind/looking.py: looking": "the same",
}


def _names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ExceptHandler):
            yield node.name or ""
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_no_name_is_a_bare_participle() -> None:
    bare = set()
    for path in SRC.rglob("*.py"):
        relative = str(path.relative_to(SRC))
        for name in [path.stem, *_names_in(path)]:
            is_bare = name.strip("_").lower() in PARTICIPLES and not name.isupper()
            if (is_bare or name.endswith("_told")) and f"{relative}: {name}" not in PARTICIPLES_BY_DESIGN:
                bare.add(f"{relative}: {name}")
    assert sorted(bare) == []


@pytest.mark.parametrize(
    "source", ["def _told(): ...", "found = 1", "def f(said): ...", "a.gone = 1", "def f(*, heard): ..."]
)
def test_the_test_sees_a_participle_wherever_it_stands(tmp_path: Path, source: str) -> None:
    (tmp_path / "x.py").write_text(source)
    assert any(name.strip("_") in PARTICIPLES for name in _names_in(tmp_path / "x.py"))
