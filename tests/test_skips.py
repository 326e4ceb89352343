"""`--accept-skips` of tests/conftest.py, which CI runs with: a test that does not run is found."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.own_machine import REPOSITORY

TEST = """
import pytest
@pytest.mark.skipif(True, reason="needs root to mount")
def test_mount(): pass
def test_program(): pytest.skip("needs the program fish")
"""


@pytest.mark.parametrize(
    ("accepted", "is_green"),
    [("root,programs", True), ("root,machine", False), ("programs", False), ("", False), (None, True)],
)
def test_a_skip_that_was_not_accepted_turns_the_run_red(tmp_path: Path, accepted: str | None, is_green: bool) -> None:
    (tmp_path / "conftest.py").write_text((REPOSITORY / "tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(TEST)
    options = [] if accepted is None else [f"--accept-skips={accepted}"]
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-o",
        f"pythonpath={shlex.quote(str(REPOSITORY / 'tests'))}",
    ]
    ran = subprocess.run([*argv, *options, str(tmp_path)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode == 0) is is_green, ran.stdout
    assert ("test_it.py::test_" in ran.stdout) is not is_green, ran.stdout
