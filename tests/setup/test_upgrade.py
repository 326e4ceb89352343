"""An upgrade while sessions live: the copy of us that their hooks name stays until none of them can name it."""

import json
import os
import shutil
import subprocess
import uuid
from pathlib import Path

import pytest

from support.user import UID, OrdinaryUser
from tmpwarden import __version__

OLD = "0.0.9"
UNCOMPILED = """
import sys
from tmpwarden.cli.main import main
from tmpwarden.setup import runtime
runtime._compile = lambda *_: None
sys.exit(main(sys.argv[1:]))
"""
SESSION = {"CLAUDE_CODE_SESSION_ID": str(uuid.uuid4())}


class Upgraded:
    """Somebody whose hooks of Claude Code and Codex still name the last version."""

    def __init__(self, user: OrdinaryUser) -> None:
        self.user = user
        self.base = user.home / ".local" / "share" / "tmpwarden"
        for agent in (".claude", ".codex"):
            (user.home / agent).mkdir()
            os.chown(user.home / agent, UID, UID)
        self.setup()
        (self.base / __version__).rename(self.base / OLD)
        self.settings = user.home / ".claude" / "settings.json"
        self.name(OLD)
        user.run(["touch", str(self.settings)])

    def name(self, version: str) -> None:
        for path in (self.settings, self.user.home / ".codex" / "hooks.json"):
            if path.exists():
                other = {OLD: __version__, __version__: OLD}[version]
                path.write_text(path.read_text().replace(f"/{other}/", f"/{version}/"))

    def setup(self, *more: str) -> "subprocess.CompletedProcess[str]":
        done: subprocess.CompletedProcess[str] = self.user.code(
            UNCOMPILED, "setup", "--yes", "--no-timer", "--guard", *more
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def versions(self) -> set[str]:
        return {path.name for path in self.base.iterdir()} if self.base.exists() else set()


@pytest.fixture
def upgraded(ordinary_user: OrdinaryUser) -> Upgraded:
    return Upgraded(ordinary_user)


def live(user: OrdinaryUser) -> "subprocess.Popen[bytes]":
    """A command of a session, which ends when its stdin does."""
    return subprocess.Popen(
        ["cat"], env={**user.env, **SESSION}, stdin=subprocess.PIPE, user=UID, group=UID, extra_groups=[], cwd="/"
    )


def end(session: "subprocess.Popen[bytes]") -> None:
    assert session.stdin
    session.stdin.close()
    session.wait()


def test_the_hooks_of_a_live_session_still_find_what_they_name(upgraded: Upgraded) -> None:
    line = _guard_line(upgraded.settings)
    session = live(upgraded.user)
    try:
        upgraded.setup()
        assert upgraded.versions() == {OLD, __version__}
        assert OLD not in upgraded.settings.read_text()
        call = '{"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "rm -rf ~/work"}}'
        elsewhere = upgraded.user.home / "roots"  # its lease would live as long as this test
        upgraded.user.run(["mkdir", str(elsewhere)])
        said = upgraded.user.run(
            ["sh", "-c", line], stdin=call, env={"TMPWARDEN_ROOTS": str(elsewhere), "TMPDIR": str(elsewhere)}
        )
        assert '"ask"' in said.stdout
        upgraded.setup()
        assert upgraded.versions() == {OLD, __version__}
    finally:
        end(session)
    upgraded.setup()  # nothing is left to change, and nobody can name it
    assert upgraded.versions() == {__version__}


def test_an_agent_whose_session_is_not_known_keeps_it_too(upgraded: Upgraded) -> None:
    program = upgraded.user.base / "codex"
    shutil.copy("/bin/cat", program)
    program.chmod(0o755)
    agent = subprocess.Popen(
        [program], env=upgraded.user.env, stdin=subprocess.PIPE, user=UID, group=UID, extra_groups=[], cwd="/"
    )
    try:
        upgraded.setup()
        assert upgraded.versions() == {OLD, __version__}
    finally:
        end(agent)


def test_settings_that_cannot_be_read_may_name_it(upgraded: Upgraded) -> None:
    codex = upgraded.user.home / ".gemini" / "settings.json"
    codex.parent.mkdir(mode=0o700)
    codex.write_text("{}")
    codex.chmod(0o000)
    os.chown(codex.parent, UID, UID)
    upgraded.setup()
    assert OLD in upgraded.versions()


def test_settings_in_another_place_that_an_earlier_setup_wrote_are_read(upgraded: Upgraded) -> None:
    elsewhere = upgraded.user.home / "elsewhere"
    elsewhere.mkdir()
    os.chown(elsewhere, UID, UID)
    upgraded.setup()
    upgraded.user.tmpwarden("install", "claude", env={"CLAUDE_CONFIG_DIR": str(elsewhere)})
    moved = elsewhere / "settings.json"
    (upgraded.base / OLD).mkdir(exist_ok=True)
    shutil.copytree(upgraded.base / __version__, upgraded.base / OLD, dirs_exist_ok=True)
    subprocess.run(["chown", "-R", f"{UID}:{UID}", str(upgraded.base)], check=True)
    moved.write_text(moved.read_text().replace(f"/{__version__}/", f"/{OLD}/"))
    upgraded.setup()
    assert OLD in upgraded.versions()


def test_a_removal_takes_all_of_them(upgraded: Upgraded) -> None:
    session = live(upgraded.user)
    try:
        upgraded.setup()
        assert upgraded.user.tmpwarden("setup", "--remove", "--yes").returncode == 0
        assert upgraded.versions() == set()
    finally:
        end(session)


def test_a_copy_that_is_named_again_is_asked_about_anew(upgraded: Upgraded) -> None:
    """A session that began with the settings of then names it, however long ago it was unnamed before."""
    session = live(upgraded.user)
    upgraded.setup()
    mark = upgraded.base / OLD / "unnamed"
    first = mark.read_text()
    upgraded.name(OLD)
    upgraded.setup()
    end(session)
    assert mark.read_text() != first


def _guard_line(settings: Path) -> str:
    groups = json.loads(settings.read_text())["hooks"]["PreToolUse"]
    return str(next(hook["command"] for group in groups for hook in group["hooks"] if "run.py" in hook["command"]))
