"""What the documents point to is there: every test that the threat model names, every page that a page links to."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_WORDS = 2500
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text()
    named = {ROOT / name for name in re.findall(r"\btests/[\w/]+\.py\b", text)}
    named |= {page.parent / name for name in re.findall(r"\]\(([\w./-]+\.(?:md|svg))\)", text)}
    assert [str(path.relative_to(ROOT)) for path in sorted(named) if not path.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_short_enough_to_be_read_or_says_that_it_is_generated(page: Path) -> None:
    text = page.read_text()
    if page.name != "CHANGELOG.md":  # of which nobody reads more than the newest part
        assert len(text.split()) <= MOST_WORDS or text.startswith("<!-- written by `make docs`; do not edit -->")


def test_every_test_that_the_threat_model_names_exists() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text()
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"\btest_[a-z0-9_]+\b(?!\.py)", text))
    assert sorted(name for name in named if f"def {name}" not in tests and not name.endswith("_")) == []
