"""Shell completion: of commands, options and agents."""

from pathlib import Path

import pytest

from support import planted
from support.command import data, tmpwarden


def completed(words: str, at: int) -> list[str]:
    env = {"_TMPWARDEN_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
    return [line.partition(",")[2] for line in tmpwarden(env=env).stdout.split("\n") if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_lines(shell: str) -> None:
    result = tmpwarden("completion", shell)
    assert result.returncode == 0
    assert "_TMPWARDEN_COMPLETE" in result.stdout


def test_commands_options_and_agents_are_completed() -> None:
    assert completed("tmpwarden sc", 1) == ["scan"]
    assert completed("tmpwarden clean --no-q", 2) == ["--no-quarantine"]
    assert completed("tmpwarden clean --agent clau", 3) == ["claude"]


def test_what_can_come_back_is_offered_by_its_id_with_its_path(own_world: Path) -> None:
    unit = planted.session(own_world / "tmp")
    removed = data("clean", "--yes", later_s=planted.DAYS)["removed"]
    (taken,) = [each for each in removed if each["undoable"]]
    env = {"_TMPWARDEN_COMPLETE": "zsh_complete", "COMP_WORDS": "tmpwarden undo ", "COMP_CWORD": "2"}
    kind, token, path, *_ = tmpwarden(env=env).stdout.splitlines()
    assert (kind, token, path) == ("plain", taken["receipt"][:8], str(unit))
    data("undo", token)
    assert unit.exists()
    assert completed("tmpwarden undo ", 2) == []


def test_kept_paths_are_offered_to_be_forgotten(own_world: Path) -> None:
    kept = str(own_world / "tmp" / "precious")
    data("keep", kept)
    assert completed("tmpwarden keep --forget ", 3) == [kept]
    assert kept not in completed("tmpwarden keep ", 2)


def test_help_completes_commands_and_their_parts() -> None:
    assert completed("tmpwarden help orph", 2) == ["orphans"]
    assert completed("tmpwarden help orphans ", 3) == ["end"]


def test_an_unknown_shell_is_asked_for() -> None:
    result = tmpwarden("completion", env={"SHELL": "/bin/dash"})
    assert result.returncode == 3
    assert "bash, zsh or fish" in result.stderr
