"""Traps that lie on the disk before the command runs: what bash does with them, and that the guard knows."""

import subprocess
from pathlib import Path

import pytest

from tmpwarden.guard.config import load
from tmpwarden.guard.context import Context
from tmpwarden.guard.evaluate import evaluate
from tmpwarden.model.hot import ToolCall
from tmpwarden.oskit.look import Disk

RULES = load((), preset="sandbox").rules


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    for name in ("scratch/sub", "project", "outside/a", "outside/b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside/b/kept").touch()
    return tmp_path / "scratch"


def verdict(command: str, scratch: Path) -> str:
    project = str(scratch.parent / "project")
    context = Context(
        scratch=str(scratch), project=project, cwd=project, home="/home/u", uid=1000, look=Disk().look,
        variables={"S": str(scratch)}, tmp_roots=(str(scratch.parent),),
    )  # fmt: skip
    return evaluate(ToolCall("claude", "shell", command=command, cwd=project), RULES, context).verdict


def bash(command: str, scratch: Path) -> None:
    subprocess.run(["bash", "-c", command], env={"S": str(scratch), "PATH": "/usr/bin:/bin"}, cwd=scratch, check=False)


def test_cd_goes_through_a_link_where_the_letters_lead_nowhere(scratch: Path) -> None:
    (scratch / "link").symlink_to("../outside/a")
    command = "cd $S/link/../b && rm -rf kept"
    assert verdict(command, scratch) == "ask"
    bash(command, scratch)
    assert not (scratch.parent / "outside/b/kept").exists()  # so it really does


def test_cd_by_the_letters_is_known_where_there_is_no_link(scratch: Path) -> None:
    assert verdict("cd $S/sub/../new && rm -rf x", scratch) == "allow"


def test_a_pattern_may_match_a_file_that_is_named_as_an_option(scratch: Path) -> None:
    (scratch / "--target-directory=..").touch()
    (scratch / "x").touch()
    assert verdict("cd $S && mv * sub", scratch) == "pass"
    bash("cd $S && mv * sub", scratch)
    assert (scratch.parent / "x").exists()  # so it really moves out


@pytest.mark.parametrize(
    "command", ["cd $S && mv ./* sub", "cd $S && mv -- * sub", "cd $S && rm -rf *", "mv $S/* $S/sub"]
)
def test_a_pattern_that_can_match_no_option_is_allowed(scratch: Path, command: str) -> None:
    (scratch / "--target-directory=..").touch()
    (scratch / "x").touch()
    assert verdict(command, scratch) == "allow"
    before = sorted(scratch.parent.iterdir())
    bash(command, scratch)
    assert sorted(scratch.parent.iterdir()) == before


@pytest.mark.parametrize(
    "command",
    ["rm -rf $S/link/kept", "touch $S/link/new", "cp $S/x $S/link", "rm -rf $S/link/", "mv $S/x $S/link/y",
     "cd $S/link", "touch $S/file_link", "cp $S/x $S/file_link", "find $S/link/ -delete", "mkdir $S/link/new"],
)  # fmt: skip
def test_a_link_that_leads_outside_is_not_inside(scratch: Path, command: str) -> None:
    (scratch / "link").symlink_to("../outside/b")
    (scratch / "file_link").symlink_to("../outside/b/kept")
    (scratch / "x").touch()
    assert verdict(command, scratch) == ("pass" if command.startswith("cd") else "ask")
