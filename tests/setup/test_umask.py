"""The first minute under every umask: what is made is private, and what an earlier setup left open is closed and told.

Ubuntu and Fedora give each user a group and umask 002: a state directory of mode 0775 stopped every clean there.
"""

import json
import os
import stat
import subprocess
import sys
import uuid
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
SESSION = str(uuid.uuid4())
# Every other test runs under one of these.
OFTEN_SEEN = [pytest.param(umask, marks=pytest.mark.long) for umask in (0o022, 0o077)]
every_umask = pytest.mark.parametrize("umask", [0o000, 0o002, 0o777, *OFTEN_SEEN], ids="{:04o}".format)


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
    return subprocess.run(argv, capture_output=True, text=True, env=env, check=False)  # our modules ask for the umask


def open_to_others(home: Path) -> list[str]:
    found = [path for path in home.rglob("*") if not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) & PUBLIC]
    return [str(path.relative_to(home)) for path in found if ".claude" not in path.parts]


def shut_to_the_user(home: Path) -> list[str]:
    found = [path for path in home.rglob("*") if path.is_dir() and path.stat().st_mode & 0o700 != 0o700]
    return [str(path.relative_to(home)) for path in found]


@every_umask
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


def agent_runs(home: Path, umask: int, event: str, **more: object) -> str:
    """One hook, by the line that setup wrote."""
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    payload = {"session_id": SESSION, "hook_event_name": event, "cwd": str(home)} | more
    # its background job cleans: never the machine's own /tmp
    roots = str(home / "tmp")
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": roots, "TMPWARDEN_ROOTS": roots}
    done = subprocess.run(
        ["sh", "-c", hooks[event][0]["hooks"][0]["command"]],
        input=json.dumps(payload),
        capture_output=True,
        text=True,
        check=True,
        umask=umask,
        env=env | {"CLAUDE_ENV_FILE": str(home / "env-file")},
    )
    return done.stdout


@every_umask
def test_a_day_under_any_umask_leaves_nothing_open_and_nothing_shut(home: Path, umask: int) -> None:
    """Hooks, session, run, worktrees, rescue: whoever makes the first file of ours."""
    (home / "tmp").mkdir()
    repository = home / "work"
    for words in (
        ("init", "-q", "."),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"),
    ):
        repository.mkdir(exist_ok=True)
        subprocess.run(["git", *words], cwd=repository, check=True)
    (repository / "unsaved").write_text("x")
    assert tmpwarden(home, umask, "setup", "--guard", "--yes", "--no-timer").returncode == 0
    assert "TMPDIR" in agent_runs(home, umask, "SessionStart", source="startup")
    judged = agent_runs(home, umask, "PreToolUse", tool_name="Bash", tool_input={"command": "rm -rf /etc/x"})
    assert '"ask"' in judged
    for words in (
        ("run", "--", "sh", "-c", "umask; echo x > $TMPDIR/file"),
        ("worktrees",),
        ("rescue", str(repository)),
        ("config", "init"),
        ("keep", str(home / "tmp" / "kept")),
        ("clean", "--yes"),
        ("setup", "--remove", "--yes"),
    ):
        done = tmpwarden(home, umask, *words)
        assert done.returncode == 0, (words, done.stderr)
        if words[0] == "run":
            assert int(done.stdout, 8) == umask, "a command of the user has the user's umask"
    ours = [place for place in (home / ".local", home / ".config", home / "tmp") if place.exists()]
    assert [found for place in ours for found in (open_to_others(place), shut_to_the_user(place)) if found] == []


def test_directories_that_an_earlier_setup_left_open_are_closed_and_told(home: Path) -> None:
    state = home / ".local" / "state" / "tmpwarden"
    state.mkdir(parents=True)
    state.chmod(0o775)
    done = tmpwarden(home, 0o002, "clean", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"warning: {state} was writable for other users (mode 0775); now only you can" in done.stderr
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
