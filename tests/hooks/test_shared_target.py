"""`[redirect] target = "/tmp/claude"`: one directory for guidance, TMPDIR and @scratch, checked at each start."""

import os
import subprocess
from pathlib import Path

import pytest

from hooks.calling import hook, said
from support.command import data
from support.planted import DAYS
from tmpwarden.leases import static_temp

SESSION = "7f0c1f3e-0000-4000-8000-00000000beef"


@pytest.fixture
def target(own_world: Path) -> str:
    path = f"/tmp/twtest-shared-{os.getpid()}"
    config = own_world / "config" / "tmpwarden"
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text(f'[redirect]\ntarget = "{path}"\n')
    return path


def start(env_file: Path, pid: int | None = None) -> dict[str, object]:
    payload = {"session_id": SESSION, "hook_event_name": "SessionStart", "cwd": "/", "source": "startup"}
    env = {"CLAUDE_ENV_FILE": str(env_file), "CLAUDE_PID": str(pid or os.getpid())}
    return said(hook("claude", "SessionStart", payload, env=env))


def test_it_is_made_told_and_the_commands_tmpdir_and_a_squatted_one_is_none_of_it(target: str, own_world: Path) -> None:
    env_file = own_world / "env.sh"
    try:
        answer = start(env_file)
        assert f"use $TMPDIR ({target})" in str(answer["hookSpecificOutput"])
        assert os.stat(target).st_mode & 0o777 == 0o700
        shown = subprocess.run(
            ["sh", "-c", f'. {env_file}; echo "$TMPDIR"'], capture_output=True, text=True, check=True
        )
        assert shown.stdout.strip() == target
        os.rmdir(target)
        os.symlink("/etc", target)
        shown = subprocess.run(
            ["sh", "-c", f'. {env_file}; echo "$TMPDIR"'], capture_output=True, text=True, check=True
        )
        assert shown.stdout.strip() != target, "a link of that name is not used by commands either"
        env_file.unlink()
        again = start(env_file)
        assert "no temp directory for this session" in str(again["systemMessage"])
        assert "TMPDIR" not in str(again)
        assert not env_file.exists()
    finally:
        os.unlink(target) if os.path.islink(target) else os.rmdir(target)


def test_what_nobody_uses_there_is_swept_after_three_days(own_world: Path) -> None:
    shared = own_world / "tmp" / "claude"
    static_temp.make_shared(str(own_world / "state" / "tmpwarden"), str(shared))
    (shared / "old.txt").write_text("x")
    (shared / "tree").mkdir()
    (shared / "tree" / "f").write_text("x")
    data("clean", "--yes", later_s=3600)
    assert (shared / "old.txt").exists()
    gone = data("clean", "--yes", later_s=DAYS)["removed"]
    assert sorted(each["path"] for each in gone) == [str(shared / "old.txt"), str(shared / "tree")]
    assert all(each["undoable"] for each in gone)
    assert shared.is_dir()
