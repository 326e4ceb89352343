"""Start-up promises, as the set of heavy modules each entry point may import."""

import subprocess
import sys

import pytest

HEAVY = {
    "argparse", "asyncio", "click", "dataclasses", "enum", "importlib.metadata", "inspect", "json", "pathlib", "re",
    "rich", "shutil", "textual", "subprocess", "tempfile", "tomllib", "typing", "urllib.request", "email",
}  # fmt: skip
CLICK = {"click", "enum", "inspect", "re", "typing", "dataclasses"}  # what click itself and the nouns need

BUDGET: list[tuple[str, set[str]]] = [
    ("import tmpwarden", set()),
    ("import tmpwarden.errors, tmpwarden.text, tmpwarden.model.hot", set()),
    ("from tmpwarden.oskit.files import atomic, inplace, places, purge, take, walk", set()),
    ("import tmpwarden.sweep.compose", {"dataclasses", "enum", "inspect", "json", "re", "tomllib", "typing"}),
    (
        "import tmpwarden.sweep.compose, sys; assert 'tmpwarden.sweep.take.act' not in sys.modules",
        {"dataclasses", "enum", "inspect", "json", "re", "tomllib", "typing"},
    ),
    ("from tmpwarden.cli.main import main; main(['--version'])", CLICK),
    ("from tmpwarden.cli.main import main; main(['--help'])", CLICK | {"shutil"}),
    ("from tmpwarden.cli.main import main; main(['scan', '--json'])", CLICK | {"json"}),
    ("from tmpwarden.cli.main import main; main(['clean', '--force'])", CLICK | {"json", "tomllib"}),
    (
        "from tmpwarden.cli.main import main; main(['teardown', '--session', 'x', '--json']);"
        " assert 'tmpwarden.cli.render' not in sys.modules and 'tmpwarden.sweep.take.act' not in sys.modules",
        CLICK | {"json", "tomllib"},
    ),
    (
        "import tmpwarden.lifecycle.run; assert 'tmpwarden.sweep.compose' not in sys.modules",
        {"dataclasses", "enum", "inspect", "re"},
    ),
]


@pytest.mark.parametrize(("source", "allowed"), BUDGET, ids=[source for source, _ in BUDGET])
def test_nothing_heavy_is_imported_unasked(source: str, allowed: set[str]) -> None:
    code = f"import sys; before = set(sys.modules)\n{source}\nprint(sorted(set(sys.modules) - before), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    imported = set(eval(result.stderr.splitlines()[-1]))
    assert imported & HEAVY <= allowed
