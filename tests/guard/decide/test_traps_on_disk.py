"""Traps that lie on the disk before the command runs: what bash does with them, and that the guard knows."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from support.guarding import context_with
from support.mounts import bind
from tmpwarden.guard.decide.evaluate import evaluate
from tmpwarden.guard.rules.config import load
from tmpwarden.model.hot import ToolCall
from tmpwarden.oskit.files.disk import Disk

RULES = load((), preset="sandbox").rules


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    for name in ("scratch/sub", "project", "outside/a", "outside/b"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside/b/kept").touch()
    return tmp_path / "scratch"


def verdict(command: str, scratch: Path) -> str:
    project = str(scratch.parent / "project")
    context = context_with(
        scratch=str(scratch), project=project, cwd=project, home="/home/u", uid=1000, look=Disk().look,
        is_plain=Disk().is_plain, holds_mount=Disk().holds_mount,
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


COPIES = (
    "cp $S/src/* $S/into",
    "cp -r $S/src $S/into",
    "cp -r $S/src/. $S/into",
    "cp -r $S/src/* $S/into",
    "cp $S/src/a $S/src/b $S/into",
)


@pytest.fixture
def copying(scratch: Path) -> Path:
    for name in ("src/deep/a", "src/a", "src/b", "into/a", "into/src/deep/a"):
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).touch()
    return scratch


@pytest.mark.parametrize("command", COPIES)
def test_a_copy_into_a_directory_that_holds_no_link_is_allowed(copying: Path, command: str) -> None:
    assert verdict(command, copying) == "allow"


@pytest.mark.parametrize("command", COPIES)
def test_a_copy_over_a_link_that_leads_outside_is_not(copying: Path, command: str) -> None:
    for name in ("into/a", "into/src/deep/a"):
        (copying / name).unlink()
        (copying / name).symlink_to("/etc/passwd")
    (copying / "into/deep").symlink_to("/etc")
    assert verdict(command, copying) != "allow"


@pytest.mark.parametrize("source", ["src/deep/../", "src/deep/..", "src/./", "src/."])
def test_dots_at_the_end_of_a_source_copy_what_lies_in_it(copying: Path, source: str) -> None:
    shutil.rmtree(copying / "into/src")
    (copying / "into/a").unlink()
    (copying / "into/a").symlink_to("/etc/passwd")
    assert verdict(f"cp -rL $S/{source} $S/into", copying) != "allow"


def test_a_copy_over_a_file_with_a_second_name_is_not_allowed(copying: Path) -> None:
    (copying / "into/a").unlink()
    (copying / "into/a").hardlink_to(copying.parent / "outside/b/kept")
    assert verdict("cp $S/src/* $S/into", copying) != "allow"


def test_a_pattern_that_matches_a_link_is_not_read_freely(copying: Path) -> None:
    (copying / "src/link").symlink_to("/etc/passwd")
    assert verdict("cp $S/src/* $S/into", copying) == "pass"


def test_several_sources_may_lay_a_trap_for_each_other(copying: Path) -> None:
    (copying / "src/deep/link").symlink_to("/etc/passwd")
    assert verdict("cp -r $S/src/deep/. $S/src/. $S/into", copying) != "allow"


def test_a_directory_too_big_to_look_into_is_not_plain(tmp_path: Path) -> None:
    for number in range(501):
        (tmp_path / f"d{number}").mkdir()
    assert not Disk().is_plain(str(tmp_path))
    (tmp_path / "d1").rmdir()
    (tmp_path / "d2").rmdir()
    assert Disk().is_plain(str(tmp_path))
    assert not Disk().is_plain(str(tmp_path / "missing"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_nothing_is_allowed_in_a_scratch_that_something_is_mounted_in(scratch: Path) -> None:
    inner = scratch / "a b"
    inner.mkdir()
    assert verdict("rm -rf $S/x", scratch) == "allow"
    with bind(scratch.parent / "outside", inner):
        assert verdict("rm -rf $S/x", scratch) == "pass"
        assert not Disk().holds_mount(str(inner))  # a mount itself has nothing mounted below it
    assert verdict("rm -rf $S/x", scratch) == "allow"


def test_the_builtin_moves_and_the_program_of_that_name_does_not(scratch: Path) -> None:
    assert verdict("cd $S && rm -rf x", scratch) == "allow"
    assert verdict("/usr/bin/cd $S && rm -rf ../outside", scratch) == "ask"
