"""The first minute under every umask: what is made is private, and what an earlier setup left open is closed and told.

Ubuntu and Fedora give each user a group and umask 002: a state directory of mode 0775 stopped every clean there.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
UNDER = """
import os, sys
os.umask(int(sys.argv.pop(1), 8))
sys.path.insert(0, {!r})
from tmpwarden.cli.main import run
run()
"""
PUBLIC = 0o022


@pytest.fixture
def home(own_world: Path) -> Path:
    """A home that has nothing but Claude's directory."""
    place = own_world / "fresh"
    (place / ".claude").mkdir(parents=True)
    (place / ".claude" / "settings.json").write_text("{}")
    place.chmod(0o755)
    return place


def tmpwarden(home: Path, umask: int, *words: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")} | {"HOME": str(home)}
    argv = [sys.executable, "-I", "-c", UNDER.format(str(SOURCE)), f"{umask:o}", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env)


def open_to_others(home: Path) -> list[str]:
    found = [path for path in home.rglob("*") if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & PUBLIC]
    return [str(path.relative_to(home)) for path in found if ".claude" not in path.parts]


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077, 0o777], ids="{:04o}".format)
def test_setup_and_clean_work_and_leave_nothing_open(home: Path, umask: int) -> None:
    for words in (
        ("install", "claude", "--yes"),
        ("status",),
        ("scan",),
        ("clean", "--yes"),
        ("uninstall", "claude"),
    ):
        done = tmpwarden(home, umask, *words)
        assert done.returncode == 0, (words, done.stderr)
        assert open_to_others(home) == []
    assert (home / ".claude" / "settings.json").read_text() == "{}"


def test_directories_that_an_earlier_setup_left_open_are_closed_and_told(home: Path) -> None:
    state = home / ".local" / "state" / "tmpwarden"
    state.mkdir(parents=True)
    state.chmod(0o775)
    done = tmpwarden(home, 0o002, "clean", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"warning: {state} was writable for other users (mode 0775); it is private now" in done.stderr
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert "writable" not in tmpwarden(home, 0o002, "clean", "--yes").stderr


def test_a_state_directory_below_a_place_where_everybody_may_write_is_still_refused(home: Path) -> None:
    """Whoever may put things above it may have put it there."""
    shared = home / "shared"
    (shared / "tmpwarden").mkdir(parents=True)
    for path in (shared, shared / "tmpwarden"):
        path.chmod(0o777)
    env = dict(os.environ) | {"HOME": str(home), "XDG_STATE_HOME": str(shared)}
    argv = [sys.executable, "-I", "-c", UNDER.format(str(SOURCE)), "22", "clean", "--yes"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 7
    assert "other users can write to it" in done.stderr
