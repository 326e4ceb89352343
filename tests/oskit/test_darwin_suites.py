"""What strikes at the safety laws strikes at them with the package for macOS, too, over live processes here."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SUITES = {
    "witnesses": ["sweep/weigh/test_witnesses.py"],
    "liveness": ["oskit/proc/test_holders.py", "oskit/proc/test_locks.py", "oskit/proc/test_followed.py"],
    "traps": ["sweep/weigh/test_traps.py"],
    "strikes": ["sweep/test_struck.py"],
    "races": [
        "oskit/files/test_take.py",
        "sweep/take/test_gripping.py",
        "sweep/take/test_recheck.py",
        "sweep/take/test_struck_groups.py",
        "sweep/take/test_taking.py",
        "sweep/take/test_unseen_holders.py",
    ],
    "kills": ["sweep/test_killed.py"],
    "undo": ["sweep/store"],
}


@pytest.mark.long  # the small form is test_darwin_look.py
@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_of_the_laws_holds_with_the_package_for_macos(suite: str) -> None:
    """Tests that differ are listed with their reasons, and one that does not differ any more is red as well."""
    paths = [str(TESTS / path) for path in SUITES[suite]]
    words = [sys.executable, "-m", "pytest", "-p", "support.on_darwin", "-q", "-m", "not long", "--tb=short", *paths]
    done = subprocess.run(words, cwd=TESTS.parent, capture_output=True, text=True, check=False, timeout=1200)
    assert done.returncode == 0, done.stdout[-8000:]
