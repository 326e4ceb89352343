"""Roots below which something was leased are looked at by runs that nobody told of them, for our own things alone."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from support import planted
from tmpwarden.leases import scratch
from tmpwarden.oskit.files import places
from tmpwarden.sweep.compose import clean, scan

KILLED = """
import os, signal, sys, tmpwarden
with tmpwarden.lease("claude", root=sys.argv[1]) as scratch:
    open(f"{scratch.path}/work", "w").write("x")
    print(scratch.path, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def elsewhere(own_world: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that no variable names; this run is not confined, and its machine has no other temp roots."""
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr(places, "_COMMON_ROOTS", ())
    root = own_world / "elsewhere"
    root.mkdir(mode=0o700)
    return root


KILLED_SESSION = KILLED.replace('lease("claude", root=', 'session("mycli", tmp=')


def killed_below(root: Path, source: str = KILLED) -> Path:
    done = subprocess.run([sys.executable, "-c", source, str(root)], capture_output=True, text=True, check=False)
    return Path(done.stdout.strip())


def later_ns() -> int:
    return time.time_ns() + planted.DAYS * 10**9


def test_what_a_killed_orchestrator_leased_elsewhere_is_found_without_naming_the_root(elsewhere: Path) -> None:
    left = killed_below(elsewhere)
    assert (left / "work").exists()
    result = clean(now_ns=later_ns)
    assert str(left) in [receipt.finding.path for receipt in result.removed]
    assert not left.exists()


def test_what_a_killed_program_left_where_its_author_chose_is_found_too(elsewhere: Path) -> None:
    left = killed_below(elsewhere, KILLED_SESSION)
    assert (left / "work").exists()
    clean(now_ns=later_ns)
    assert not left.exists()


def test_there_no_other_row_has_a_say(elsewhere: Path) -> None:
    killed_below(elsewhere)
    marker, session = planted.marker(elsewhere), planted.session(elsewhere)
    found = {verdict.finding.path for verdict in scan(now_ns=later_ns)}
    assert found
    assert not found & {str(marker), str(session), str(elsewhere)}
    clean(now_ns=later_ns)
    assert marker.exists()
    assert session.exists()


def test_what_was_put_aside_there_goes_in_time(elsewhere: Path) -> None:
    killed_below(elsewhere)
    clean(now_ns=later_ns)
    assert list(Path(places.quarantine(str(elsewhere))).iterdir())
    clean(now_ns=lambda: later_ns() + planted.DAYS * 10**9)
    assert list(Path(places.quarantine(str(elsewhere))).iterdir()) == []


def test_a_run_that_is_confined_does_not_look_there(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = killed_below(elsewhere)
    monkeypatch.setenv("TMPWARDEN_ROOTS", str(elsewhere.parent / "tmp"))
    clean(now_ns=later_ns)
    assert left.exists()


@pytest.mark.parametrize("root", ["/tmp", "/var/tmp", "/dev/shm"])
def test_common_roots_and_odd_names_are_not_written_down(own_world: Path, root: str) -> None:
    scratch.note_root(root)
    scratch.note_root("/with\na newline")
    assert scratch.leased_roots() == ()


def test_a_root_that_is_gone_or_no_longer_safe_is_passed_over(elsewhere: Path) -> None:
    link = elsewhere / "link"
    link.symlink_to("/")
    for root in (elsewhere / "gone", link, Path("/")):
        scratch.note_root(str(root))
    assert clean(now_ns=later_ns).removed == []
