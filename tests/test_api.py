"""The public Python API: one list of names, help() that tells them first, and examples that run."""

import ast
import inspect
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tmpwarden
from tmpwarden.session import answers, run_argparse

ROOT = Path(__file__).parents[1]
NAMES = [name for name in tmpwarden.__all__ if name != "__version__"]
BLOCK = re.compile(r"^## (\S+)\n(.*?)(?=^## |\Z)", re.M | re.S)


def examples() -> dict[str, str]:
    """The last block of Python of each section that is not a signature."""
    page = (ROOT / "docs" / "api.md").read_text()
    found = {}
    for name, section in BLOCK.findall(page):
        blocks = [
            each for each in re.findall(r"```python\n(.*?)```", section, re.S) if not each.startswith("tmpwarden.")
        ]
        if blocks:
            found[name] = blocks[-1]
    return found


def test_the_names_are_the_same_at_run_time_for_type_checkers_and_on_the_page() -> None:
    tree = ast.parse(inspect.getsource(tmpwarden))
    (checkers,) = [node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    imported = {alias.asname for node in checkers.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert list(tmpwarden._PUBLIC) == NAMES
    assert imported == set(NAMES)
    sections = {name.removeprefix("tmpwarden.") for name, _ in BLOCK.findall((ROOT / "docs" / "api.md").read_text())}
    assert sections == {*NAMES, "session.answers", "session.run_click", "session.run_argparse"}


def test_every_name_is_there_and_is_what_internal_modules_call_so() -> None:
    for name in NAMES:
        value = getattr(tmpwarden, name)
        assert name == "session" or getattr(value, "__name__", "").rpartition(".")[2] == name
    assert issubclass(tmpwarden.errors.NoSpace, tmpwarden.errors.TmpwardenError)
    assert not hasattr(tmpwarden, "frobnicate")


def test_every_name_has_an_example() -> None:
    shown = {"tmpwarden.Session": "tmpwarden.session"}
    assert [name for name in NAMES if shown.get(f"tmpwarden.{name}", f"tmpwarden.{name}") not in examples()] == []


@pytest.mark.parametrize("name", examples())
def test_an_example_runs(name: str, own_world: Path) -> None:
    argv = [sys.executable, "-c", examples()[name]]
    ran = subprocess.run(argv, cwd=own_world, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_help_tells_every_public_name_before_anything_internal() -> None:
    page = pydoc.plain(pydoc.render_doc(tmpwarden))
    before = page.partition("PACKAGE CONTENTS")[0]
    assert [name for name in NAMES if not re.search(rf"\b{name}\b", before)] == []
    assert "now_ns" not in before


@pytest.mark.parametrize("name", [name for name in NAMES if name != "errors"])
def test_a_signature_tells_types_that_people_can_read(name: str) -> None:
    value = getattr(tmpwarden, name)
    said = str(inspect.signature(value))
    assert "<function" not in said
    assert "lambda" not in said
    assert "*args" not in said
    if name in ("session", "in_session", "Session"):
        assert said.startswith("(app: 'str', *, tmp:")


def test_click_and_argparse_take_the_same_options_as_a_session() -> None:
    of_session = {name: str(each.annotation) for name, each in inspect.signature(tmpwarden.Session).parameters.items()}
    for function in (tmpwarden.session, tmpwarden.in_session, answers, run_argparse):
        taken = {name: str(each.annotation) for name, each in inspect.signature(function).parameters.items()}
        assert {**taken, "app": "str"}.items() >= of_session.items(), function
