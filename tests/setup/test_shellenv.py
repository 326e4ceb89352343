"""`shellenv` in the shells themselves."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tmpwarden.cli.commands.run import AGENT_OF
from tmpwarden.setup.shells import functions, shell_of
from tmpwarden.setup.targets import TARGETS


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """An agent and a tmpwarden that say how they were called."""
    there = tmp_path / "a bin"
    there.mkdir()
    for name in ("claude", "tmpwarden"):
        (there / name).write_text(f'#!/bin/sh\nprintf "%s|" {name} "$@"\n')
        (there / name).chmod(0o755)
    return there


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("is_there", [True, False])
def test_the_agent_starts_under_run_and_without_us_by_itself(shell: str, is_there: bool, programs: Path) -> None:
    if not shutil.which(shell):
        pytest.skip(f"needs the program {shell}")
    own = programs / "tmpwarden"
    if not is_there:
        own = own.with_name("gone")
    text = functions(shell, str(own), (("claude", "claude"),))
    environ = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    script = f"{text}\nclaude 'two words' --flag"
    result = subprocess.run([shell, "-c", script], capture_output=True, text=True, env=environ, check=True)
    started = "tmpwarden|run|--agent|claude|--|claude" if is_there else "claude"
    assert result.stdout == f"{started}|two words|--flag|"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_an_alias_of_the_same_name_is_no_error(shell: str, programs: Path) -> None:
    """It comes first when typed; the function waits behind it."""
    if not shutil.which(shell):
        pytest.skip(f"needs the program {shell}")
    text = functions(shell, str(programs / "tmpwarden"), (("claude", "claude"),))
    (programs / "profile").write_text(f"alias claude='echo aliased'\n{text}")
    script = f". '{programs}/profile'\neval 'claude a'\nunalias claude\neval 'claude b'"
    result = subprocess.run([shell, "-ic", script], capture_output=True, text=True, check=True, start_new_session=True)
    assert "error" not in result.stderr
    assert result.stdout == "aliased a\ntmpwarden|run|--agent|claude|--|claude|b|"


def test_the_shell_is_read_from_its_variable() -> None:
    assert [shell_of(path) for path in ("/bin/zsh", "/usr/bin/fish", "/bin/tcsh", "")] == [
        "zsh",
        "fish",
        "bash",
        "bash",
    ]


def test_run_knows_the_agents_by_their_commands() -> None:
    assert {program: target.id for target in TARGETS for program in target.programs} == AGENT_OF
