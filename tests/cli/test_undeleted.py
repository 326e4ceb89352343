"""What would not be deleted is told by every clean until it is gone, and not only by the one that met it first."""

import os
import subprocess
from pathlib import Path

import pytest

from support.litter import claude_session, later
from support.mounts import needs_root
from tmpwarden.cli import removal
from tmpwarden.model.request import Request
from tmpwarden.sweep.compose import clean

pytestmark = [needs_root, pytest.mark.disk]


def test_every_run_tells_of_it_and_ends_with_2(own_world: Path) -> None:
    unit = claude_session(own_world / "tmp", files=2)
    place = own_world / "tmp" / f"tmpwarden-{os.geteuid()}" / "q"
    if subprocess.run(
        ["chattr", "+i", unit / "tasks" / "b00000000.output"], capture_output=True, check=False
    ).returncode:
        pytest.skip("needs a file system with immutable files")
    try:
        assert len(clean(Request(quarantine=False), now_ns=later(100)).failed) == 1
        for _ in range(2):
            result = clean(now_ns=later(100))
            (left,) = place.iterdir()
            error = removal.problem(result, None, None)
            assert error is not None and error.exit_code == 2
            (told,) = removal.document(result, dry_run=False, quarantine=True)["failed"]
            assert told["path"] == str(left) and "Operation not permitted" in told["error"]
            assert any(str(left) in line for line in removal.outcome(result, quarantine_s=60, purge=False))
    finally:
        for path in place.rglob("b00000000.output"):
            subprocess.run(["chattr", "-i", path], check=True)
    assert clean(now_ns=later(100)).undeleted == [] and list(place.iterdir()) == []
