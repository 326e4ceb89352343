"""Repositories of every shape are inspected wherever they lie, and what git complains about is unclear."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from support.hearing import why
from support.litter import later
from support.mounts import needs_root
from support.repos import commit, git, inspected, lost
from support.users import session_directory
from tmpwarden.model.sweep import Keep
from tmpwarden.model.terms import Reason
from tmpwarden.repos.repository import parse
from tmpwarden.repos.work import Found
from tmpwarden.sweep.compose import clean

URL = "https://git.example/origin.git"


@pytest.fixture
def main(tmp_path: Path) -> Path:
    """A repository that a user works in; what it has is published."""
    place = tmp_path / "project"
    place.mkdir()
    git(place, "init", "-q", "-b", "main")
    commit(place, "file")
    commit(place, ".gitignore", "build/\n")
    git(place, "remote", "add", "origin", URL)
    git(place, "update-ref", "refs/remotes/origin/main", "HEAD")
    return place


@pytest.fixture
def tree(tmp_path: Path, main: Path) -> Path:
    """A worktree of it in a unit."""
    git(main, "worktree", "add", "-q", "-b", "side", str(tmp_path / "unit" / "tree"))
    return tmp_path / "unit" / "tree"


# git that complains


def empty_a_branch(clone: Path) -> None:
    (clone / ".git/refs/heads/more").write_text("")


def break_a_branch(clone: Path) -> None:
    (clone / ".git/refs/heads/more").write_text("nonsense\n")


def break_a_tracking_ref(clone: Path) -> None:
    (clone / ".git/refs/remotes/origin/more").write_text("1" * 40 + "\n")


def flip_a_bit_of_the_index(clone: Path) -> None:
    index = clone / ".git/index"
    content = bytearray(index.read_bytes())
    content[40] ^= 1  # the owner of a file: git itself does not notice
    index.write_bytes(content)


def lose_an_object(clone: Path) -> None:
    commit(clone, "more")
    name = git(clone, "rev-parse", "HEAD~1")
    (clone / ".git/objects" / name[:2] / name[2:]).unlink()


COMPLAINTS = [
    (empty_a_branch, "git says: warning: ignoring broken ref refs/heads/more"),
    (break_a_branch, "git says: warning: ignoring broken ref refs/heads/more"),
    (break_a_tracking_ref, "git says: fatal: bad object origin/more"),
    (flip_a_bit_of_the_index, "its index is corrupt"),
    (lose_an_object, "git says: fatal: bad object origin/main"),
]


@pytest.mark.parametrize(("harm", "words"), COMPLAINTS, ids=[harm.__name__ for harm, _ in COMPLAINTS])
def test_git_that_complains_makes_it_unclear_in_its_own_words(
    main: Path, harm: Callable[[Path], None], words: str
) -> None:
    assert lost(main) == ()
    harm(main)
    found = inspected(main)
    assert isinstance(found, str) and found.startswith(words)


def test_a_renamed_default_branch_is_no_complaint(main: Path) -> None:
    git(main, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
    assert lost(main) == ()


# settings that are switched off, and those that are not


def test_hooks_of_the_users_choice_do_not_run_and_do_not_make_it_unclear(main: Path, tmp_path: Path) -> None:
    hook = tmp_path / "hooks" / "post-index-change"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/trap\n")
    hook.chmod(0o755)
    git(main, "config", "core.hooksPath", str(hook.parent))
    os.utime(main / "file")
    assert lost(main) == ()
    assert not (tmp_path / "trap").exists()


def test_the_filter_of_git_lfs_is_not_run_and_does_not_make_it_unclear(main: Path, tmp_path: Path) -> None:
    for name in ("clean", "smudge", "process"):
        git(main, "config", f"filter.lfs.{name}", f"touch {tmp_path}/trap; cat")
    git(main, "config", "filter.lfs.required", "true")
    (main / ".gitattributes").write_text("*.bin filter=lfs\n")
    (main / "file").write_text("touched, so that git has to read it")
    assert lost(main) == ("1 modified file", "1 untracked file")
    assert not (tmp_path / "trap").exists()


def test_objects_of_git_lfs_go_only_with_a_clone_in_which_nothing_was_committed(main: Path, tree: Path) -> None:
    """A push takes the commits along, the objects only by a hook: published commits do not prove that they are safe."""
    assert lost(main) == ("1 worktree elsewhere that needs this repository",)
    (main / ".git/lfs/objects/ab/cd").mkdir(parents=True)
    assert lost(main)[1:] == (
        "objects of git-lfs, in a clone where commits were made: whether the server has them is not known",
    )
    assert lost(tree) == ()  # its objects are the repository's, and stay
    log = main / ".git/logs/HEAD"
    first = log.read_text().splitlines()[0].partition("\t")[0]
    log.write_text(f"{first}\tclone: from {URL}\n{first}\tpull: Fast-forward\n")
    assert len(lost(main)) == 1
    log.write_text(f"{first}\tpull origin main: Merge made by the 'ort' strategy.\n")
    assert len(lost(main)) == 2


@pytest.mark.parametrize(
    "key", ["core.fsmonitor", "filter.other.clean", "include.path", "core.worktree", "includeif.gitdir:/.path"]
)
def test_the_key_that_makes_it_unclear_is_named(main: Path, key: str) -> None:
    git(main, "config", key, "/x")
    assert inspected(main) == f"{key} in its configuration"


@pytest.mark.parametrize("key", ["core.fsmonitor", "filter.other.clean"])
def test_a_worktrees_common_configuration_is_checked_likewise(main: Path, tree: Path, tmp_path: Path, key: str) -> None:
    assert lost(tree) == ()
    git(main, "config", key, f"touch {tmp_path}/trap; true")
    (tree / ".gitattributes").write_text("* filter=other\n")
    (tree / "file").write_text("changed")
    assert inspected(tree) == f"{key} in its configuration"
    assert not (tmp_path / "trap").exists()


def test_a_worktrees_own_configuration_is_checked_likewise(main: Path, tree: Path) -> None:
    git(main, "config", "extensions.worktreeConfig", "true")
    git(tree, "config", "--worktree", "core.fsmonitor", "/x")
    assert inspected(tree) == "core.fsmonitor in its configuration"


# remotes


@pytest.mark.parametrize(
    ("url", "publishes"),
    [
        (URL, True),
        ("git@git.example:team/origin.git", True),
        ("ssh://git.example/origin", True),
        ("{origin}", False),
        ("file://{origin}", False),
        ("../project", False),
        ("origin", False),
        ("ext::sh -c true", False),
    ],
)
def test_a_remote_that_is_a_local_path_publishes_nothing(main: Path, url: str, publishes: bool) -> None:
    git(main, "config", "remote.origin.url", url.format(origin=main))
    assert lost(main) == (() if publishes else ("2 commits on branch main that no remote is known to have",))


def test_a_local_remote_that_writes_to_anothers_tracking_refs_takes_its_word_away() -> None:
    distant = '[remote "origin"]\n\turl = https://git.example/x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    near = '[remote "usb"]\n\turl = /mnt/usb\n\tfetch = +refs/heads/*:refs/remotes/{}/*\n'
    assert parse(distant + near.format("usb")).published_by() == ("origin",)
    assert parse(distant + near.format("origin")).published_by() == ()
    assert parse(distant + "\tpushurl = /mnt/usb\n").published_by() == ()


# worktrees


def test_a_clean_worktree_whose_commits_its_repository_holds_is_no_loss(main: Path, tree: Path) -> None:
    commit(tree, "more")  # on the branch side, which stays in the repository
    assert inspected(tree) == Found((), str(main))


def detach(tree: Path) -> None:
    git(tree, "checkout", "-q", "--detach")
    commit(tree, "more")


def untracked(tree: Path) -> None:
    (tree / "new").write_text("x")


def locked(tree: Path) -> None:
    git(tree, "worktree", "lock", ".")


def own_ref(tree: Path) -> None:
    detach(tree)
    git(tree, "update-ref", "refs/worktree/mine", "HEAD")
    git(tree, "checkout", "-q", "side")


def merging(tree: Path) -> None:
    (Path(git(tree, "rev-parse", "--absolute-git-dir")) / "MERGE_HEAD").write_text(git(tree, "rev-parse", "HEAD"))


WORK = [
    (detach, "detached HEAD with 1 commit that no branch has"),
    (untracked, "1 untracked file"),
    (locked, "a worktree locked by {main}"),
    (own_ref, "1 commit that only this worktree's own refs have"),
    (merging, "an unfinished merge"),
]


@pytest.mark.parametrize(("work", "words"), WORK, ids=[work.__name__ for work, _ in WORK])
def test_work_of_a_worktree_alone_is_named(main: Path, tree: Path, work: Callable[[Path], None], words: str) -> None:
    work(tree)
    assert lost(tree) == (words.format(main=main),)


def claim_another_entry(main: Path, tree: Path) -> None:
    git(main, "worktree", "add", "-q", "-b", "other", str(tree.parent.parent / "other"))
    (tree / ".git").write_text((tree.parent.parent / "other" / ".git").read_text())


def claim_the_repository_itself(main: Path, tree: Path) -> None:
    (tree / ".git").write_text(f"gitdir: {main}/.git\n")


def lose_the_repository(main: Path, tree: Path) -> None:
    shutil.rmtree(main)


def belong_to_another(main: Path, tree: Path) -> None:
    os.chown(main / ".git", 65534, -1)


def say_nothing(main: Path, tree: Path) -> None:
    (tree / ".git").write_text("gitdir:\n")


@pytest.mark.parametrize(
    "harm",
    [
        claim_another_entry,
        claim_the_repository_itself,
        lose_the_repository,
        pytest.param(belong_to_another, marks=needs_root),
        say_nothing,
    ],
)
def test_a_worktree_that_its_repository_does_not_know_is_unclear(
    main: Path, tree: Path, harm: Callable[[Path, Path], None]
) -> None:
    harm(main, tree)
    assert lost(tree) is None


def test_a_worktree_that_is_gone_needs_its_repository_no_more_but_its_commits_do(main: Path, tree: Path) -> None:
    assert lost(main) == ("1 worktree elsewhere that needs this repository",)
    detach(tree)
    shutil.rmtree(tree)
    assert lost(main) == ("1 commit on worktrees/tree/HEAD that no remote is known to have",)


# bare repositories and submodules


def test_a_bare_repository_is_a_repository(main: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(main), "unit/bare.git")
    bare = tmp_path / "unit" / "bare.git"
    assert lost(bare) == ("2 commits on branch main that no remote is known to have",)
    git(bare, "config", "remote.origin.url", URL)
    git(bare, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert lost(bare) == ()


def test_a_directory_that_only_has_a_head_is_none(tmp_path: Path) -> None:
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "HEAD").write_text("request")
    assert lost(tmp_path / "unit") == ()


def test_work_in_a_submodule_counts_whether_it_is_checked_out_or_not(main: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(main), "library")
    git(main, "submodule", "add", "-q", str(tmp_path / "library"), "sub")
    git(main, "commit", "-qm", "sub")
    git(main, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(main / "sub", "remote", "set-url", "origin", URL)
    assert (lost(main), inspected(main, "sub")) == ((), Found())
    (main / "sub" / "new").write_text("x")
    assert (lost(main), inspected(main, "sub")) == ((), Found(("1 untracked file",)))
    (main / "sub" / "new").unlink()
    commit(main / "sub", "more")
    assert inspected(main, "sub") == Found(("1 commit on branch main that no remote is known to have",))
    git(main / "sub", "checkout", "-q", "--detach", "HEAD~1")
    git(main, "submodule", "deinit", "-f", "sub")
    assert lost(main) == ("1 commit on branch main that no remote is known to have in submodule sub",)


def test_what_a_sparse_checkout_leaves_out_is_no_loss_but_what_hides_behind_it_is_unclear(main: Path) -> None:
    (main / "kept").mkdir()
    (main / "left").mkdir()
    commit(main, "kept/a")
    commit(main, "left/b")
    git(main, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(main, "sparse-checkout", "set", "kept")
    assert lost(main) == ()
    git(main, "config", "core.sparseCheckout", "false")  # else git looks at what is there after all
    git(main, "config", "--worktree", "core.sparseCheckout", "false")
    (main / "left").mkdir(exist_ok=True)
    (main / "left" / "b").write_text("work")
    assert lost(main) is None


def test_a_partial_clone_is_inspected_without_fetching_anything(main: Path, tmp_path: Path) -> None:
    git(main, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{main}", "unit/clone")
    clone = tmp_path / "unit" / "clone"
    git(clone, "remote", "set-url", "origin", URL)
    assert lost(clone) == ()
    commit(clone, "more")
    assert lost(clone) == ("1 commit on branch main that no remote is known to have",)


# through the whole sweep


def kept(unit: Path) -> tuple[Reason, str] | None:
    found = [each for each in clean(now_ns=later(100)).kept if each.finding.path == str(unit)]
    return (found[0].reason, found[0].detail) if found and isinstance(found[0], Keep) else None


def test_a_unit_that_is_a_repository_itself_is_judged_by_what_it_holds(own_world: Path, main: Path) -> None:
    unit = session_directory(own_world / "tmp")
    shutil.rmtree(unit)
    shutil.copytree(main, unit, symlinks=True)
    (unit / "new").write_text("x")
    assert kept(unit) == (Reason.GIT_WORK, "1 untracked file")
    (unit / "new").unlink()
    assert kept(unit) is None
    assert not unit.exists()


def test_a_bare_repository_in_a_unit_keeps_it(own_world: Path, main: Path) -> None:
    unit = session_directory(own_world / "tmp")
    git(unit, "clone", "-q", "--bare", str(main), "deep/bare.git")
    git(unit / "deep" / "bare.git", "remote", "remove", "origin")
    assert kept(unit) == (Reason.GIT_WORK, "2 commits on branch main that no remote is known to have")


def test_a_clean_worktree_lets_its_unit_go_and_its_entry_is_told_and_left(own_world: Path, main: Path) -> None:
    unit = session_directory(own_world / "tmp")
    git(main, "worktree", "add", "-q", "-b", "side", str(unit / "tree"))
    assert f"a worktree of {main} was removed" in "".join(clean(now_ns=later(100)).warnings)
    assert not unit.exists()
    assert (main / ".git" / "worktrees" / "tree").exists()


def test_why_names_the_key_that_makes_a_repository_unclear(own_world: Path, main: Path) -> None:
    unit = session_directory(own_world / "tmp")
    shutil.copytree(main, unit / "clone", symlinks=True)
    git(unit / "clone", "config", "core.fsmonitor", "true")
    assert kept(unit) == (Reason.GIT_UNCLEAR, "clone: core.fsmonitor in its configuration")
    assert "core.fsmonitor" in why(str(unit), now_ns=later(100)).would_lose[-1]


def test_a_clone_and_its_worktree_in_one_unit_do_not_need_each_other_elsewhere(own_world: Path, main: Path) -> None:
    unit = session_directory(own_world / "tmp")
    shutil.copytree(main, unit / "clone", symlinks=True)
    git(unit / "clone", "worktree", "add", "-q", "-b", "side", str(unit / "tree"))
    assert kept(unit) is None
    assert not unit.exists()
