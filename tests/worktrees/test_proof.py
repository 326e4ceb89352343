"""The proof of every shape of repository is right, and what a proof lets go comes back bit for bit."""

import contextlib
import io
import os
from pathlib import Path

import pytest

from support.command import answer, data
from support.holding import process
from support.repos import commit, git
from support.windows import strike
from tmpwarden.cli.commands import worktrees
from tmpwarden.cli.main import main
from tmpwarden.repos.worktrees import removal
from tmpwarden.sweep.take import act
from worktrees import shapes
from worktrees.shapes import Shape, snapshot

PROVEN: list[tuple[Shape, str | None]] = [
    (shapes.plain, "reachable"),
    (shapes.with_derived_files, None),
    (shapes.squash_merged, "same-patch"),
    (shapes.rebased, "same-patch"),
    (shapes.cherry_picked, "same-patch"),
    (shapes.unmerged, None),
    (shapes.detached, "reachable"),
    (shapes.shallow, "reachable"),
    (shapes.partial, "reachable"),
    (shapes.with_submodule, "reachable"),
    (shapes.with_lfs, "reachable"),
    (shapes.sparse, "reachable"),
    (shapes.of_a_bare_repository, "reachable"),
    (shapes.sha256, "reachable"),
    (shapes.with_a_read_only_directory, "reachable"),
    (shapes.clone_with_everything_published, "reachable"),
]
KEPT = [
    (shapes.detached_with_commits, "unreached", "detached HEAD with 1 commit that no branch has"),
    (shapes.with_work_in_a_submodule, "nested-work", "1 commit"),
    (shapes.modified, "dirty", "1 modified file: file"),
    (shapes.staged, "dirty", "1 modified file: file"),
    (shapes.untracked, "dirty", "1 untracked file: new\nname"),
    (shapes.with_an_env_file, "ignored-files", ".env"),
    (shapes.with_a_database, "ignored-files", "data.sqlite"),
    (shapes.with_local_settings, "ignored-files", "settings.local"),
    (shapes.stashed, "stash", "1 stash made on side"),
    (shapes.locked, "locked", "locked: agent 4711"),
    (shapes.rebasing, "unfinished", "an unfinished rebase"),
    (shapes.corrupt_index, "uninspectable", "its index is corrupt"),
    (shapes.missing_objects, "uninspectable", "git says"),
    (shapes.broken_ref, "uninspectable", "git says: warning: ignoring broken ref refs/heads/broken"),
    (shapes.lost_repository, "uninspectable", "cannot be opened"),
    (shapes.clone_with_commits, "unreached", "1 commit on branch main that no remote is known to have"),
]


@pytest.mark.parametrize(("shape", "merged"), PROVEN, ids=[shape.__name__ for shape, _ in PROVEN])
def test_with_what_is_proven_nothing_is_lost_and_undo_brings_it_back(
    tmp_path: Path, shape: Shape, merged: str | None
) -> None:
    tree = shape(tmp_path)
    proof = data("worktrees", "proof", str(tree))
    assert (proof["verdict"], proof["reason"], proof["merged_how"]) == ("remove", "nothing-to-lose", merged)
    assert not (tmp_path / "lfs-was-run").exists()
    before, main = snapshot(tree), Path(proof["repository"])
    refs = git(main, "for-each-ref") if main != tree else ""
    assert [each["path"] for each in data("worktrees", "clean", "-y", str(tree))["removed"]] == [str(tree)]
    assert not tree.exists()
    if main != tree:
        assert str(tree) not in git(main, "worktree", "list")
    data("undo")
    assert snapshot(tree) == before
    assert main == tree or git(main, "for-each-ref") == refs


@pytest.mark.parametrize(("shape", "reason", "words"), KEPT, ids=[shape.__name__ for shape, _, _ in KEPT])
def test_what_is_not_proven_names_what_is_in_the_way(tmp_path: Path, shape: Shape, reason: str, words: str) -> None:
    tree = shape(tmp_path)
    files = shapes.hashes(tree)
    status, envelope = answer("worktrees", "proof", str(tree))
    assert (status, envelope["data"]["verdict"], envelope["data"]["reason"]) == (2, "keep", reason)
    assert words in envelope["data"]["detail"]
    assert envelope["error"]["code"] == "partial"
    if shape is not shapes.detached_with_commits:
        assert data("worktrees", "clean", "-y", str(tree))["removed"] == []
    assert shapes.hashes(tree) == files


def test_a_detached_head_is_given_a_reference_first_and_undo_takes_it_away_again(tmp_path: Path) -> None:
    tree = shapes.detached_with_commits(tmp_path)
    head, before = git(tree, "rev-parse", "HEAD"), snapshot(tree)
    (gone,) = data("worktrees", "clean", "-y", str(tree))["removed"]
    assert git(tmp_path / "project", "rev-parse", gone["reference"]) == head
    data("undo", gone["receipt"])
    assert snapshot(tree) == before


@pytest.mark.parametrize("where", ["", "deep"])
def test_a_process_in_it_keeps_it(tmp_path: Path, where: str) -> None:
    tree = shapes.plain(tmp_path)
    (tree / where).mkdir(exist_ok=True)
    with process("", cwd=tree / where) as running:
        status, envelope = answer("worktrees", "proof", str(tree))
        assert (status, envelope["data"]["reason"]) == (2, "in-use")
        assert str(running.pid) in str(envelope["data"]["held_by"])
        assert data("worktrees", "clean", "-y", str(tree))["removed"] == []


def test_a_worktree_comes_back_to_another_place_and_its_repository_knows(tmp_path: Path) -> None:
    tree = shapes.unmerged(tmp_path)
    (gone,) = data("worktrees", "clean", "-y", str(tree))["removed"]
    (tmp_path / "elsewhere").mkdir()
    data("undo", gone["receipt"], "--to", str(tmp_path / "elsewhere"))
    assert git(tmp_path / "elsewhere" / "side", "status", "--porcelain") == ""
    assert str(tmp_path / "elsewhere" / "side") in git(tmp_path / "project", "worktree", "list")


def test_the_branch_goes_only_when_told_and_merged_and_comes_back(tmp_path: Path) -> None:
    merged, unmerged = shapes.squash_merged(tmp_path / "a"), shapes.unmerged(tmp_path / "b")
    for tree in (merged, unmerged):
        before = snapshot(tree)
        (gone,) = data("worktrees", "clean", "-y", "--branches", str(tree))["removed"]
        there = "side" in git(tree.parent.parent / "project", "branch")
        assert (gone["branch_deleted"], there) == (("side", False) if tree == merged else (None, True))
        data("undo")
        assert snapshot(tree) == before


def test_merged_leaves_what_is_not(tmp_path: Path) -> None:
    merged, unmerged = shapes.rebased(tmp_path / "a"), shapes.unmerged(tmp_path / "b")
    data("worktrees", "clean", "-y", "--merged", str(merged), str(unmerged))
    assert (merged.exists(), unmerged.exists()) == (False, True)


def test_derived_only_leaves_all_that_cannot_be_made_again(tmp_path: Path) -> None:
    tree = shapes.with_derived_files(tmp_path)
    (tree / ".env").write_text("KEY=1")
    (tree / "file").write_text("work in progress")
    told = data("worktrees", "clean", "-y", "--derived-only", str(tree))
    assert {Path(each["path"]).name for each in told["removed"]} == {"node_modules", "__pycache__"}
    assert (told["quarantined_bytes"] >= 100_000, told["freed_bytes"]) == (True, 0)
    assert sorted(path.name for path in tree.iterdir()) == [
        ".env",
        ".git",
        ".gitignore",
        "a.py",
        "file",
        "package.json",
    ]


def test_a_directory_that_git_tracks_is_not_derived(tmp_path: Path) -> None:
    tree = shapes.with_derived_files(tmp_path)
    git(tree, "add", "-f", "node_modules/left-pad/index.js")
    git(tree, "commit", "-qm", "vendored")
    data("worktrees", "clean", "-y", "--derived-only", str(tree))
    assert (tree / "node_modules" / "left-pad").exists()
    assert not (tree / "__pycache__").exists()


def test_a_repository_that_configures_programs_runs_none(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    main = tmp_path / "project"
    hook = main / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/trap\n")
    hook.chmod(0o755)
    git(main, "-c", "core.hooksPath=/dev/null", "config", "core.hooksPath", str(hook.parent))
    git(tree, "-c", "core.hooksPath=/dev/null", "checkout", "-q", "--detach")
    data("worktrees", "clean", "-y", str(tree))
    assert not tree.exists()
    assert not (tmp_path / "trap").exists()


def test_what_changes_between_the_question_and_the_deed_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = shapes.plain(tmp_path)
    real = worktrees.remove

    def work_goes_on(*arguments: object, **options: object) -> object:
        (tree / "new").write_text("x")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(worktrees, "remove", work_goes_on)
    told = data("worktrees", "clean", "-y", str(tree))
    assert (told["removed"], [each["detail"] for each in told["kept"]]) == ([], ["1 untracked file: new"])
    assert (tree / "new").exists()


def test_without_a_terminal_and_without_yes_nothing_is_touched(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    status, _ = answer("worktrees", "clean", str(tree))
    assert (status, tree.exists()) == (4, True)


def test_a_path_that_is_no_worktree_is_not_found(tmp_path: Path) -> None:
    assert answer("worktrees", "proof", str(tmp_path))[0] == 5
    assert answer("worktrees", "proof", str(tmp_path / "missing"))[0] == 5


def test_an_unpushed_commit_is_counted(tmp_path: Path) -> None:
    tree = shapes.unmerged(tmp_path)
    commit(tree, "two")
    assert data("worktrees", "proof", str(tree))["unpushed"] == 2


def test_who_begins_to_use_it_while_it_is_taken_has_it_back_with_its_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = shapes.plain(tmp_path)
    before = snapshot(tree)
    with contextlib.ExitStack() as stack:

        def stand_in_it() -> None:
            """Since before the rename: only its new place shows that."""
            (taken,) = Path(os.environ["XDG_STATE_HOME"]).glob("tmpwarden/q/*/package.json")
            stack.enter_context(process("", cwd=taken.parent))

        struck = strike(monkeypatch, act, "taken, holders not yet looked for", stand_in_it)
        assert data("worktrees", "clean", "-y", str(tree))["removed"] == []
    assert struck
    assert snapshot(tree) == before


def test_a_run_that_dies_between_directory_and_entry_can_be_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = shapes.unmerged(tmp_path)
    before = snapshot(tree)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(removal.Removal, "_follow_up", die)
        patched.setattr(removal, "_entry", lambda tree: None)
        assert answer("worktrees", "clean", "-y", str(tree))[0] == 130
    assert not tree.exists()
    data("undo")
    assert snapshot(tree) == before


def test_a_git_at_work_keeps_it(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    (Path(git(tree, "rev-parse", "--absolute-git-dir")) / "index.lock").touch()
    assert answer("worktrees", "proof", str(tree))[1]["data"]["reason"] == "unfinished"


def test_a_table_for_people_names_repository_state_and_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = shapes.modified(tmp_path)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(["worktrees", "--min-age", "0s"]) == 0
    header, line, *rest = out.getvalue().splitlines()
    titles = "SIZE,DERIVED,REPOSITORY,BRANCH,COMMIT,UNPUSHED,MERGED,DIRTY,HELD,BY,VERDICT,PATH"
    assert ",".join(header.split()) == titles
    assert line.endswith(f"kept: 1 modified file: file  {tree}")
    assert " project " in line
    assert rest[0].startswith("1 worktree, ")
