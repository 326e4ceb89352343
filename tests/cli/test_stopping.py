"""Signals while a clean is under way: it stops between two units and tells the truth about what it did."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support import planted

UNITS = 100  # more than are taken together
# The signal comes at a moment of our choosing: when the fortieth unit is about to be taken, with most still in place.
STRUCK = """
import os, sys, time
from tmpwarden.cli.main import main
from tmpwarden.sweep.take import act
taken = []
def strike(name):
    if name == "walked, not yet taken":
        taken.append(name)
        if len(taken) == int(sys.argv[2]):
            os.kill(os.getpid(), int(sys.argv[1]))
act._race_window = strike
raise SystemExit(main(["clean", "--yes", "--json"], now_ns=lambda: time.time_ns() + 9 * 86400 * 10**9))
"""


def struck(number: int, at_unit: int = 40) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", STRUCK, str(number), str(at_unit)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_the_first_signal_stops_between_two_units(own_world: Path, number: int, status: int) -> None:
    units = [planted.session(own_world / "tmp", 100) for _ in range(UNITS)]
    result = struck(number)
    assert result.returncode == status, result.stderr
    answer = json.loads(result.stdout)
    removed = {each["path"] for each in answer["data"]["removed"]}
    assert (answer["ok"], answer["error"]["code"]) == (False, "interrupted")
    assert len(removed) == 40
    assert removed == {str(unit) for unit in units if not unit.exists()}, "told is what was done"
    for unit in units:
        assert not unit.exists() or (unit / "tasks" / "b1234abcd.output").exists(), "whole or gone"


def test_the_next_run_finishes_what_a_signal_stopped(own_world: Path) -> None:
    units = [planted.session(own_world / "tmp", 100) for _ in range(UNITS)]
    struck(signal.SIGINT)
    again = struck(signal.SIGINT, at_unit=0)
    assert again.returncode == 0
    assert not any(os.path.lexists(unit) for unit in units)
