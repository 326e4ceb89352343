"""A clone works wherever it lies and whoever made it; where it cannot, one sentence says what is missing."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.bases import base_for_all
from support.mounts import needs_root
from support.own_machine import REPOSITORY
from support.user import AS_HIM, UID

MAKES_A_VENV = ("Makefile", "pyproject.toml")
OLD = "#!/bin/sh\nexit 1\n"  # what every Python says that is asked whether it is new enough, and is not


def make(place: Path, *words: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["make", *words], cwd=place, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize("named", ["", "PYTHON=/nowhere/python3", "PYTHON={old}"])
def test_without_a_usable_python_one_sentence_says_what_is_missing(tmp_path: Path, named: str) -> None:
    old = tmp_path / "python3"
    old.write_text(OLD)
    old.chmod(0o755)
    for name in MAKES_A_VENV:
        shutil.copy(REPOSITORY / name, tmp_path)
    words = named.format(old=old) or "PYTHON="
    made = make(tmp_path, "scan", words)
    said = [line for line in made.stderr.splitlines() if not line.startswith("make")]
    assert made.returncode != 0
    assert len(said) == 1
    assert "Python 3.11 or newer" in said[0] and "python3-venv" in said[0]
    assert words.removeprefix("PYTHON=") in said[0]
    assert not (tmp_path / ".venv").exists()


@needs_root
@pytest.mark.long
@pytest.mark.parametrize("name", ["plain", "with two spaces", "quo'te", "ünï"])
def test_make_scan_works_for_an_ordinary_user_with_an_empty_home(name: str) -> None:
    """Asks the package index for click and rich."""
    with base_for_all() as base:
        (base / "home").mkdir()
        (base / "tmp").mkdir()
        clone = base / name
        subprocess.run(["git", "clone", "--quiet", str(REPOSITORY), str(clone)], check=True)
        subprocess.run(["chown", "-R", f"{UID}:{UID}", str(base)], check=True)
        env = {"HOME": str(base / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "TMPWARDEN_ROOTS": f"{base}/tmp"}
        kept = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "LANG"))}
        made = make(clone, "scan", env=kept | env, **AS_HIM)
        assert made.returncode == 0, made.stderr
        assert "No agent left anything" in made.stdout
