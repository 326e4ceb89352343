"""What agents litter a project with goes when the project is named, and nothing else of it is looked at."""

import os
import subprocess
from pathlib import Path

import pytest

from support.command import answer, data
from tmpwarden.catalogue import checks

MARKER, STUB = "tmpclaude-1a2b-cwd", ".bashrc"
A_WEEK_S = 7 * 86400


@pytest.fixture
def project(own_world: Path) -> Path:
    """With a marker, a stub of the sandbox, and a person's files of the same names elsewhere or of another shape."""
    top = own_world / "home" / "work" / "app"
    (top / ".claude").mkdir(parents=True)
    git(top, "init", "--quiet")
    (top / MARKER).write_text("/home/u/work/app\n")
    for stub in (top / STUB, top / ".claude" / "agents"):
        stub.touch()
        stub.chmod(0o444)
    (top / ".gitmodules").touch()  # empty, but a person can write it
    (top / ".mcp.json").write_text("{}")
    (top / "sub").mkdir()
    (top / "sub" / MARKER).write_text("/home/u\n")
    return top


def git(top: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)


def left(top: Path) -> set[str]:
    return {str(path.relative_to(top)) for path in top.rglob("*") if ".git" not in path.parts and path.is_file()}


OF_PEOPLE = {".gitmodules", ".mcp.json", f"sub/{MARKER}"}


def test_the_litter_of_a_named_project_goes_and_can_be_undone(project: Path) -> None:
    found = data("scan", "--project", str(project), later_s=A_WEEK_S)["findings"]
    assert {(each["litter"], each["verdict"]) for each in found} == {
        ("project-cwd-marker", "remove"),
        ("project-stub", "remove"),
        ("project-settings-stub", "remove"),
    }
    status, said = answer("clean", "--project", str(project), "--yes", later_s=A_WEEK_S)
    assert status == 0, said
    assert left(project) == OF_PEOPLE
    assert answer("undo", later_s=A_WEEK_S)[0] == 0
    assert left(project) == OF_PEOPLE | {STUB, ".claude/agents"}


def test_a_project_that_nobody_named_is_not_looked_at(project: Path) -> None:
    assert answer("clean", "--yes", "--all", later_s=A_WEEK_S)[0] == 0
    assert left(project) == OF_PEOPLE | {MARKER, STUB, ".claude/agents"}


@pytest.mark.parametrize("version", ["2", "4"])
def test_what_git_tracks_stays(project: Path, version: str) -> None:
    """Version 4 of the index is not read: what cannot be told stays."""
    git(project, "update-index", "--index-version", version)
    git(project, "add", "--force", MARKER, STUB)
    answer("clean", "--project", str(project), "--yes", later_s=A_WEEK_S)
    assert {MARKER, STUB} <= left(project)


def test_a_worktree_and_a_directory_below_the_top_are_told_from_their_own_index(project: Path, tmp_path: Path) -> None:
    git(project, "add", "--force", f"sub/{MARKER}")
    git(project, "-c", "user.name=a", "-c", "user.email=b", "commit", "-qm", "x")
    other = tmp_path / "other"
    git(project, "worktree", "add", "-q", str(other))
    for directory, name, untracked in (
        (project / "sub", MARKER, False),
        (project, MARKER, True),
        (other / "sub", MARKER, False),
        (other, MARKER, True),
    ):
        fd = os.open(directory, os.O_RDONLY)
        try:
            assert checks.is_untracked(fd, name, os.stat(directory)) is untracked
        finally:
            os.close(fd)


@pytest.mark.parametrize("odd", ["fifo", "link", "garbage"])
def test_an_index_that_cannot_be_read_keeps_everything_and_is_not_waited_for(project: Path, odd: str) -> None:
    index = project / ".git" / "index"
    if odd == "fifo":
        os.mkfifo(index)
    elif odd == "link":
        index.symlink_to("/dev/zero")
    else:
        index.write_bytes(b"no index")
    answer("clean", "--project", str(project), "--yes", later_s=A_WEEK_S)
    assert {MARKER, STUB} <= left(project)


@pytest.mark.parametrize(("path", "status"), [("/", 7), ("~", 7), ("/nowhere/at/all", 5)])
def test_what_is_no_project_is_refused(project: Path, path: str, status: int) -> None:
    assert answer("clean", "--project", os.path.expanduser(path), "--yes")[0] == status
    assert answer("clean", "--project", str(project), "/tmp/x", "--yes")[0] == 3
