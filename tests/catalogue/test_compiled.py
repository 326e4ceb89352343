"""The compiled catalogue: the same rows, never old ones, and never in the way."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tmpwarden

ASK = (
    "import sys; from tmpwarden.catalogue.load import load; rows = load(dirs=()).rows;"
    "print('tmpwarden.catalogue.decode' in sys.modules); print(len(rows), rows)"
)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that may be written to and spoiled."""
    source = Path(tmpwarden.__file__).parent
    return Path(shutil.copytree(source, tmp_path / "tmpwarden", ignore=shutil.ignore_patterns("__pycache__")))


def ask(package: Path, *options: str, **env: str) -> tuple[bool, str]:
    """Whether the TOML had to be read, and the rows."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environ |= {"PYTHONPATH": str(package.parent), **env}
    done = subprocess.run(
        [sys.executable, *options, "-c", ASK], env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    decoded, _, rows = done.stdout.partition("\n")
    return decoded == "True", rows


def kept(package: Path) -> list[Path]:
    return list(package.rglob("*.rows"))


def test_the_second_run_reads_no_toml_and_has_the_same_rows(package: Path) -> None:
    first, second = ask(package), ask(package)
    assert (first[0], second[0]) == (True, False)
    assert first[1] == second[1]
    assert len(first[1]) > 10_000


@pytest.mark.parametrize("changed", ["catalogue/agents/claude.toml", "catalogue/fields.py", "model/terms.py"])
def test_a_changed_row_or_decoder_is_seen_at_once(package: Path, changed: str) -> None:
    ask(package)
    status = (package / changed).stat()
    os.utime(package / changed, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert ask(package)[0]
    assert not ask(package)[0]


def test_an_agent_that_was_taken_out_is_gone(package: Path) -> None:
    assert "agent='aider'" in ask(package)[1]
    (package / "catalogue/agents/aider.toml").unlink()
    assert "agent='aider'" not in ask(package)[1]


@pytest.mark.parametrize("torn", [0, 1, 100, -1])
def test_a_torn_file_is_no_answer(package: Path, torn: int) -> None:
    rows = ask(package)[1]
    (file,) = kept(package)
    file.write_bytes(file.read_bytes()[:torn])
    assert ask(package) == (True, rows)
    assert ask(package) == (False, rows)


def test_who_wants_no_compiled_files_gets_none(package: Path) -> None:
    assert ask(package, PYTHONDONTWRITEBYTECODE="1")[0]
    assert kept(package) == []


def test_a_package_that_cannot_be_written_to_works(package: Path) -> None:
    (package / "catalogue/__pycache__").write_text("in the way, for root too")
    assert ask(package) == ask(package)
    assert kept(package) == []
