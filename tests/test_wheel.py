"""The built wheel works by itself: installed without the repository it scans, cleans and knows its agents."""

import email
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support import planted
from support.user import _DEPENDENCIES

ROOT = Path(__file__).parents[1]
COMMANDS = ROOT / "src" / "tmpwarden" / "cli" / "commands"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what is in the repository, so that nothing untracked helps."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs" / "man", source / "docs" / "man")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", out]
    built = subprocess.run(build, cwd=source, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (path,) = out.glob("tmpwarden-*.whl")
    return path


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("tmpwarden/")}
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "tmpwarden").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted == inside


def test_the_wheel_installs_a_man_page_for_every_command(wheel: Path) -> None:
    (shared,) = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist() if "/share/man/man1/" in name}
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(f"{shared}/data/share/man/man1/")}
    wanted = {"tmpwarden", *(f"tmpwarden-{path.stem}" for path in COMMANDS.glob("[a-z]*.py"))}
    assert {Path(name).stem for name in inside} == wanted


def test_the_wheel_says_what_it_is_for_whom_and_what_it_needs(wheel: Path) -> None:
    (name,) = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA")]
    said = email.message_from_bytes(zipfile.ZipFile(wheel).read(name))
    assert {"portable", "ui", "import", "all"} == set(said.get_all("Provides-Extra", []))
    assert said["License-Expression"] == "MIT"
    assert all(said[field] for field in ("Summary", "Keywords", "Author", "Requires-Python", "License-File"))
    assert "Typing :: Typed" in said.get_all("Classifier", [])
    assert str(said.get_payload()).startswith("# tmpwarden")


def test_the_installed_wheel_scans_and_cleans(wheel: Path, own_world: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    zipfile.ZipFile(wheel).extractall(library)
    for name in _DEPENDENCIES:
        found = __import__(name)
        shutil.copytree(Path(str(found.__file__)).parent, library / name)
    env = {**os.environ, "PYTHONPATH": str(library), "LATER_S": str(planted.DAYS)}
    unit = planted.session(own_world / "tmp")
    code = (ROOT / "tests" / "support" / "later.py").read_text()

    def tmpwarden(*args: str) -> "subprocess.CompletedProcess[str]":
        # -S: no site-packages, so the editable install of this repository cannot help
        argv = [sys.executable, "-S", "-c", code, *args]
        return subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    where = subprocess.run(
        [sys.executable, "-S", "-c", "import tmpwarden; print(tmpwarden.__file__)"],
        env=env, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert where.stdout.startswith(str(library))
    assert "can go" in tmpwarden("scan").stdout
    assert tmpwarden("clean", "--yes").returncode == 0
    assert not unit.exists()
    assert tmpwarden("undo").returncode == 0
    assert unit.exists()
