"""A Python that is too old says so in one sentence, also from a clone, where no pip asks."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.told import NOT_PROVEN

SRC = Path(__file__).parents[1] / "src"


def old_pythons() -> list[str]:
    found = (path for minor in (10, 9) for path in (_pyenv(minor), shutil.which(f"python3.{minor}")) if path)
    return [path for path in dict.fromkeys(found) if _starts(path)]


def _pyenv(minor: int) -> str | None:
    versions = Path(os.environ.get("PYENV_ROOT", "/root/.pyenv"), "versions")
    found = sorted(versions.glob(f"3.{minor}.*/bin/python")) if os.access(versions, os.X_OK) else []
    return str(found[-1]) if found else None


def _starts(path: str) -> bool:
    return subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0


def test_a_python_that_is_too_old_says_so() -> None:
    pythons = old_pythons()
    if not pythons:
        pytest.skip(f"{NOT_PROVEN}no Python 3.9 or 3.10 here to try it with")
    for python in pythons:
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SRC), "PYTHONDONTWRITEBYTECODE": "1"}
        command = subprocess.run(
            [python, "-m", "tmpwarden", "status"], env=env, capture_output=True, text=True, check=False
        )
        assert (command.returncode, command.stdout) == (1, "")
        assert command.stderr.startswith("tmpwarden needs Python 3.11 or newer") and command.stderr.count("\n") == 1
        program = subprocess.run(
            [python, "-c", "import tmpwarden"], env=env, capture_output=True, text=True, check=False
        )
        assert program.stderr.splitlines()[-1].startswith("ImportError: tmpwarden needs Python 3.11 or newer")
