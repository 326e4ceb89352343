"""Shell completion: of commands, options and agents."""

import pytest

from support.command import tmpwarden


def completed(words: str, at: int) -> list[str]:
    env = {"_TMPWARDEN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    return [line.partition(",")[2] for line in tmpwarden(env=env).stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_lines(shell: str) -> None:
    result = tmpwarden("completion", shell)
    assert result.returncode == 0
    assert "_TMPWARDEN_COMPLETE" in result.stdout


def test_commands_options_and_agents_are_completed() -> None:
    assert completed("tmpwarden sc", 1) == ["scan"]
    assert completed("tmpwarden clean --no-q", 2) == ["--no-quarantine"]
    assert completed("tmpwarden clean --agent clau", 3) == ["claude"]


def test_an_unknown_shell_is_asked_for() -> None:
    result = tmpwarden("completion", env={"SHELL": "/bin/dash"})
    assert result.returncode == 3
    assert "bash, zsh or fish" in result.stderr
