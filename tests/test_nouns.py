"""One word, one meaning: a class is found by its name alone."""

import ast
from collections import defaultdict
from pathlib import Path

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
