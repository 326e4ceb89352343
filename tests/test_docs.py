"""The documentation is true: console blocks run, reference pages are what the code says, links lead somewhere."""

import importlib.util
import re
from pathlib import Path

import pytest

from support import console

pytestmark = pytest.mark.disk

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("block", list(console.blocks()), ids=lambda block: f"{block.page}:{block.line}")
def test_a_console_block_prints_what_it_says(block: console.Block, own_world: Path) -> None:
    env = console.environment(own_world)
    with console.WORLDS[block.world](own_world):
        for command, expected in block.steps:
            said = console.run(command, expected, own_world, env, is_on_a_terminal=block.is_on_a_terminal)
            assert console.matches(expected, said), f"$ {command}\n--- the page says\n{expected}\n--- it said\n{said}"


def _generator() -> object:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reference_pages_are_what_the_code_says() -> None:
    for name, page in _generator().PAGES.items():  # type: ignore[attr-defined]
        assert (ROOT / "docs" / name).read_text() == page(), f"docs/{name} is out of date: run `make docs`"


def test_there_is_a_man_page_for_each_command_and_no_other() -> None:
    generator = _generator()
    wanted = {name for name in generator.PAGES if name.startswith("man/")}  # type: ignore[attr-defined]
    assert {f"man/{path.name}" for path in (ROOT / "docs" / "man").iterdir()} == wanted


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: page.name)
def test_no_page_installs_from_an_index_that_does_not_have_it(page: Path) -> None:
    """Whoever takes the name there would be installed. On the day it is on PyPI this test goes."""
    assert re.findall(r"pipx? install (?:-\S+ )*'?tmpwarden\b", page.read_text()) == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_map_fits_one_page_and_no_line_of_it_is_long() -> None:
    lines = (ROOT / "docs" / "architecture.md").read_text().splitlines()
    assert len(lines) <= 90
    assert [line for line in lines if len(line) > 140] == []


def test_no_change_of_the_architecture_opens_more_than_four_files_and_each_is_there() -> None:
    table = (ROOT / "docs" / "architecture.md").read_text().partition("| to change | open |")[2]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) >= 15
    for _, change, files_to_open, _ in rows:
        named = re.findall(r"`([\w/.<>*]+(?:\.py|\.toml|\.txt|/))`", files_to_open)
        files = [each for each in named if not each.startswith("tests/")]
        missing = [
            each
            for each in files
            if not any((ROOT / "src" / "tmpwarden").glob(re.sub(r"<\w+>", "*", each).rstrip("/")))
        ]
        assert missing == [], change
        assert 1 <= len(files) <= 4, change
