"""An orchestrator's word on a worktree: proven and gone, or the reason why not."""

from pathlib import Path

import pytest

from support.command import answer, data
from support.repos import git
from support.users import SESSION, leased_scratch
from worktrees import shapes


def test_a_worktree_with_which_nothing_is_lost_goes_and_comes_back(tmp_path: Path) -> None:
    tree = shapes.with_derived_files(tmp_path)
    before = shapes.snapshot(tree)
    told = data("teardown", "--worktree", str(tree))
    assert (told["worktree"]["verdict"], [each["path"] for each in told["removed"]]) == ("remove", [str(tree)])
    assert not tree.exists()
    assert str(tree) not in git(tmp_path / "project", "worktree", "list")
    status, second = answer("teardown", "--worktree", str(tree))  # no error, and no silence: the path may be misspelt
    assert (status, second["data"]["removed"]) == (0, [])
    assert f"nothing is at {tree}" in second["warnings"][0]
    data("undo")
    assert shapes.snapshot(tree) == before


@pytest.mark.parametrize("shape", [shapes.modified, shapes.with_an_env_file, shapes.locked, shapes.corrupt_index])
def test_what_is_not_proven_stays_and_the_reason_is_told(tmp_path: Path, shape: shapes.Shape) -> None:
    tree = shape(tmp_path)
    files = shapes.hashes(tree)
    status, envelope = answer("teardown", "--worktree", str(tree))
    assert (status, envelope["error"]["code"], envelope["data"]["removed"]) == (2, "partial", [])
    assert envelope["data"]["worktree"]["detail"] in envelope["error"]["message"]
    assert shapes.hashes(tree) == files


def test_a_session_and_its_worktree_go_in_one_call(own_world: Path, tmp_path: Path) -> None:
    scratch, tree = leased_scratch(own_world / "tmp"), shapes.detached_with_commits(tmp_path)
    told = data("teardown", "--session", SESSION, "--worktree", str(tree), "--wait")
    assert {each["path"] for each in told["removed"]} == {str(scratch), str(tree)}
    assert "refs/tmpwarden/worktrees/side-" in git(tmp_path / "project", "for-each-ref")
