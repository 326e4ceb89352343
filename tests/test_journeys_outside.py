"""A journey stands where a user stands: it imports neither our modules nor what imports them."""

import ast
from pathlib import Path

HERE = Path(__file__).parent
MAY_SUPPORT = {"support.bases", "support.mac", "support.skips", "support.told"}  # none of these imports tmpwarden


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_no_journey_reaches_into_our_modules() -> None:
    stories = sorted((HERE / "journeys").rglob("*.py"))
    assert any(path.name.startswith("test_") for path in stories)
    for path in stories:
        ours = {name for name in imported(path) if name.split(".")[0] in ("tmpwarden", "support")}
        assert ours <= MAY_SUPPORT, path
    for name in MAY_SUPPORT:
        assert not any(word.startswith("tmpwarden") for word in imported(HERE / f"{name.replace('.', '/')}.py")), name


def test_every_journey_tells_its_story_in_its_docstring() -> None:
    for path in (HERE / "journeys").glob("test_*.py"):
        said = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert len(said.split()) >= 40, path.name
