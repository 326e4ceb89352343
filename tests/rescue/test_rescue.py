"""What is rescued comes back whole, also when the original is gone; what cannot be saved safely stays and says so."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.command import answer, data
from support.litter import later
from support.mounts import needs_root
from support.repos import commit, git
from support.users import session_directory
from tmpwarden.repos import repository as repositories
from tmpwarden.repos.repository import Unit
from tmpwarden.repos.rescue import bundle, store
from tmpwarden.repos.rescue.save import SaveLimits
from tmpwarden.sweep.compose import clean
from worktrees import shapes

DAY_S = 86400.0


def rescue(path: Path, *options: str) -> dict[str, object]:
    (saved,) = data("rescue", str(path), *options)["rescued"]
    return dict(saved)


def state(checkout: Path) -> dict[str, object]:
    """What git and the disk say of a checkout, derived files aside."""
    return {
        "status": git(checkout, "status", "--porcelain=v2", "--branch", "--ignored").replace("\n! node_modules/", ""),
        "stages": git(checkout, "ls-files", "--stage"),
        "merging": git(checkout, "rev-parse", "-q", "--verify", "MERGE_HEAD") if _merges(checkout) else "",
        "stash": git(checkout, "stash", "list"),
        "heads": git(checkout, "for-each-ref", "refs/heads", "refs/tags"),
        "files": {
            name: value
            for name, value in shapes.hashes(checkout).items()
            if not bytes.fromhex(name).startswith((b".git/", b"node_modules")) and bytes.fromhex(name) != b".git"
        },
    }


def _merges(checkout: Path) -> bool:
    return Path(git(checkout, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD").exists()


def staged_and_changed(clone: Path) -> None:
    (clone / "file").write_text("staged")
    git(clone, "add", "file")
    (clone / "file").write_text("and changed again")


def deleted(clone: Path) -> None:
    (clone / "file").unlink()


def stashed_twice(clone: Path) -> None:
    for content in ("one", "two"):
        (clone / "file").write_text(content)
        git(clone, "stash", "push", "-q", "-m", content)


def with_odd_names(clone: Path) -> None:
    for name in (b"new\nline", b'quo"te', b"\xff\xfe", b"-dash", b" space ", b"back\\slash"):
        Path(os.fsdecode(os.fsencode(clone) + b"/" + name)).write_bytes(name)
    (clone / "link").symlink_to("nowhere")


def with_carriage_returns(clone: Path) -> None:
    (clone / ".gitattributes").write_text("* text=auto eol=crlf\n*.id ident\n")
    (clone / "crlf").write_bytes(b"a\r\nb\nc\r\n")
    (clone / "x.id").write_bytes(b"$Id: something$\r\n")


def with_secrets(clone: Path) -> None:
    (clone / ".env").write_text("KEY=1")
    (clone / "node_modules" / ".bin").mkdir(parents=True)
    (clone / "node_modules" / "x").write_text("derived")


def on_a_detached_head(clone: Path) -> None:
    git(clone, "checkout", "-q", "--detach")
    commit(clone, "detached")


def on_an_unborn_branch(clone: Path) -> None:
    git(clone, "checkout", "-q", "--orphan", "fresh")


def with_branches_and_tags(clone: Path) -> None:
    git(clone, "checkout", "-q", "-b", "topic/one")
    commit(clone, "topic")
    git(clone, "tag", "-a", "v2", "-m", "two")
    git(clone, "checkout", "-q", "main")


def in_a_conflict(clone: Path) -> None:
    """Both changed `file`; one changed and the other deleted `gone`; `theirs` came without a conflict."""
    commit(clone, "gone")
    git(clone, "checkout", "-q", "-b", "other")
    for name in ("file", "theirs", "gone"):
        commit(clone, name, "theirs")
    git(clone, "checkout", "-q", "main")
    commit(clone, "file", "ours")
    git(clone, "rm", "-q", "gone")
    git(clone, "commit", "-qm", "delete")
    with contextlib.suppress(subprocess.CalledProcessError):
        git(clone, "merge", "other")
    assert "UU file" in git(clone, "status", "--porcelain")


def in_a_conflict_with_a_file_staged(clone: Path) -> None:
    in_a_conflict(clone)
    (clone / "more").write_text("staged")
    git(clone, "add", "more")
    (clone / "new").write_text("untracked")


def with_converted_line_endings(clone: Path) -> None:
    git(clone, "config", "core.autocrlf", "true")
    (clone / "file").write_bytes(b"1\r\n2\r\n3\r\n")
    git(clone, "add", "file")
    assert git(clone, "status", "--porcelain") == ""


def with_endings_that_git_calls_alike(clone: Path) -> None:
    commit(clone, ".gitattributes", "* text=auto\n*.id ident\n")
    commit(clone, "x.id", "$Id$\n")
    (clone / "x.id").write_bytes(b"$Id: something of mine$\n")
    (clone / "file").write_bytes(b"1\r\n2\n3\r\n")
    git(clone, "add", ".")
    assert git(clone, "status", "--porcelain") == ""


WORK: list[Callable[[Path], None]] = [
    in_a_conflict, in_a_conflict_with_a_file_staged, with_converted_line_endings, with_endings_that_git_calls_alike,
    staged_and_changed, deleted, stashed_twice, with_odd_names, with_carriage_returns, with_secrets,
    on_a_detached_head, on_an_unborn_branch, with_branches_and_tags,
]  # fmt: skip


@pytest.mark.parametrize("work", WORK)
def test_work_in_a_clone_comes_back_when_the_original_is_gone(tmp_path: Path, work: Callable[[Path], None]) -> None:
    clone = shapes.clone_with_commits(tmp_path)
    work(clone)
    before, inside = state(clone), shapes.hashes(clone)
    saved = rescue(clone)
    assert shapes.hashes(clone) == inside  # the repository was not touched
    clone.rename(tmp_path / "away")
    shutil.rmtree(tmp_path / "project")
    data("rescue", "restore", str(saved["id"]))
    assert state(clone) == before


def test_an_empty_repository_with_a_file_comes_back(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    git(clone, "init", "-q", "-b", "main")
    (clone / "first").write_text("x")
    before = state(clone)
    saved = rescue(clone)
    shutil.rmtree(clone)
    data("rescue", "restore", str(saved["id"]))
    assert state(clone) == before


def test_commits_that_only_a_reflog_remembers_are_saved(tmp_path: Path) -> None:
    clone = shapes.clone_with_commits(tmp_path)
    lost = git(clone, "rev-parse", "HEAD")
    git(clone, "reset", "-q", "--hard", "HEAD~1")
    commit(clone, "instead")
    saved = rescue(clone)
    data("rescue", "restore", str(saved["id"]), "--to", str(tmp_path / "new"))
    assert git(tmp_path / "new", "cat-file", "-t", lost) == "commit"


@pytest.mark.parametrize(
    "shape", [shapes.modified, shapes.untracked, shapes.with_an_env_file, shapes.detached_with_commits, shapes.sha256]
)
def test_work_in_a_worktree_comes_back_as_a_repository_of_its_own(tmp_path: Path, shape: shapes.Shape) -> None:
    tree = shape(tmp_path)
    (tree / "of this test").write_text("x")
    before = state(tree)
    saved = rescue(tree)
    shutil.rmtree(tmp_path / "project")
    data("rescue", "restore", str(saved["id"]), "--to", str(tmp_path / "new"))
    after = state(tmp_path / "new")
    assert (after["status"], after["files"]) == (before["status"], before["files"])


@pytest.mark.parametrize("shape", [shapes.shallow, shapes.partial])
def test_of_a_clone_without_its_history_all_files_come_back_and_the_commits_are_told(
    tmp_path: Path, shape: shapes.Shape
) -> None:
    clone = shape(tmp_path).parent.parent / shape.__name__
    commit(clone, "more")
    (clone / "file").write_text("changed")
    git(clone, "worktree", "remove", "--force", str(tmp_path / "trees" / "side"))
    before = state(clone)["files"]
    saved = rescue(clone)
    assert saved["repositories"][0]["needs"]  # type: ignore[index]
    status, envelope = answer("rescue", "restore", str(saved["id"]), "--to", str(tmp_path / "new"))
    assert (status, state(tmp_path / "new")["files"]) == (0, before)
    assert "for its commits" in envelope["warnings"][0]
    bundle = f"{saved['directory']}/{saved['bundle']}"
    git(tmp_path / "project", "fetch", "-q", bundle, "refs/heads/main:refs/rescued/main")
    assert "change more" in git(tmp_path / "project", "log", "-1", "--format=%s", "refs/rescued/main")


def test_work_in_submodules_is_saved_checked_out_or_not(tmp_path: Path) -> None:
    main = shapes.project(tmp_path)
    library = shapes.project(tmp_path / "library")
    for name in ("one", "two"):
        git(main, "submodule", "add", "-q", str(library), name)
        git(main / name, "remote", "set-url", "origin", shapes.URL)
        commit(main / name, f"of {name}")
    git(main, "commit", "-qam", "subs")
    shapes.publish(main)
    git(main, "submodule", "deinit", "-f", "two")
    saved = rescue(main, "--no-files")
    inside = {each["inside"]: each["refs"] for each in saved["repositories"]}  # type: ignore[attr-defined]
    assert set(inside) == {"", "one", ".git/modules/two"}  # the first for the branch that tracks nothing else


def test_a_submodule_that_configures_programs_runs_none_while_its_parent_is_saved(tmp_path: Path) -> None:
    """The parent's files are compared byte for byte; git would look into the submodule for that."""
    main = shapes.project(tmp_path)
    git(main, "submodule", "add", "-q", str(shapes.project(tmp_path / "library")), "sub")
    git(main, "commit", "-qm", "sub")
    for key in ("core.fsmonitor", "filter.x.clean"):
        git(main / "sub", "config", key, f"touch {tmp_path}/trap; cat")
    (main / "sub" / ".gitattributes").write_text("* filter=x\n")
    (main / "sub" / "file").write_text("changed")
    unit = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with repositories.opened(Unit(unit, "project", str(main))) as repository, store.staging() as staging:
            assert repository is not None
            bundle.save(repository, staging, 1, SaveLimits(1 << 30, 1 << 30))
    finally:
        os.close(unit)
    assert not (tmp_path / "trap").exists()


def test_files_a_person_may_want_come_back_with_their_dates(tmp_path: Path) -> None:
    unit = tmp_path / "unit"
    (unit / "deep").mkdir(parents=True)
    for name in ("report.pdf", "deep/plot.PNG", "deep/data.csv", "x.tar.gz", "note\nbook.ipynb"):
        (unit / name).write_text(name)
    for name in ("core", "program.o", "deep/x.tmp"):
        (unit / name).write_text(name)
    os.utime(unit / "report.pdf", (10**9, 10**9))
    (unit / "deep" / "data.csv").chmod(0o640)
    saved = rescue(unit)
    assert len(saved["files"]) == 5  # type: ignore[arg-type]
    shutil.rmtree(unit)
    data("rescue", "restore", str(saved["id"]))
    assert (unit / "deep" / "plot.PNG").read_text() == "deep/plot.PNG"
    assert (unit / "report.pdf").stat().st_mtime == 10**9
    assert (unit / "deep" / "data.csv").stat().st_mode & 0o777 == 0o640
    assert not (unit / "core").exists()


def test_a_file_that_is_too_big_is_left_out_and_told(tmp_path: Path, own_world: Path) -> None:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text('[rescue]\nmax_file = "1K"\npatterns = ["*.own"]\n')
    (tmp_path / "unit").mkdir()
    (tmp_path / "unit" / "big.pdf").write_bytes(b"x" * 2000)
    (tmp_path / "unit" / "small.own").write_text("x")
    saved = rescue(tmp_path / "unit")
    assert [each["path"] for each in saved["files"]] == ["small.own"]  # type: ignore[attr-defined]
    assert "big.pdf is too big" in saved["left_out"][0]  # type: ignore[index]


def too_big(clone: Path, world: Path) -> None:
    (world / "config" / "tmpwarden").mkdir()
    (world / "config" / "tmpwarden" / "config.toml").write_text('[rescue]\nmax_file = "1K"\n')
    (clone / "big").write_bytes(b"x" * 2000)


def corrupt(clone: Path, world: Path) -> None:
    shutil.rmtree(clone / ".git" / "objects" / git(clone, "rev-parse", "HEAD:more")[:2])


def uninspectable(clone: Path, world: Path) -> None:
    git(clone, "config", "core.fsmonitor", "true")


@pytest.mark.parametrize("harm", [too_big, corrupt, uninspectable])
def test_what_cannot_be_bundled_safely_stays_and_says_so(
    tmp_path: Path, own_world: Path, harm: Callable[[Path, Path], None]
) -> None:
    clone = shapes.clone_with_commits(tmp_path)
    harm(clone, own_world)
    files = shapes.hashes(clone)
    status, envelope = answer("rescue", str(clone))
    assert (status, envelope["error"]["code"], envelope["data"]["rescued"]) == (2, "not-rescued", [])
    assert shapes.hashes(clone) == files
    assert os.listdir(store.directory()) == []


@needs_root
def test_with_a_full_home_disk_it_refuses_and_leaves_nothing(tmp_path: Path, own_world: Path) -> None:
    clone = shapes.clone_with_commits(tmp_path)
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(own_world / "data")]
    subprocess.run(mount, check=True)
    try:
        status, envelope = answer("rescue", str(clone))
        assert (status, envelope["data"]["rescued"]) == (2, [])
        assert "no room" in envelope["error"]["message"]
        assert clone.exists()
    finally:
        subprocess.run(["umount", str(own_world / "data")], check=True)


def test_a_rescue_that_was_damaged_is_not_brought_back(tmp_path: Path) -> None:
    saved = rescue(shapes.clone_with_commits(tmp_path))
    bundle = Path(str(saved["directory"])) / str(saved["bundle"])
    content = bytearray(bundle.read_bytes())
    content[-30] ^= 1
    bundle.write_bytes(content)
    status, envelope = answer("rescue", "restore", str(saved["id"]), "--to", str(tmp_path / "new"))
    assert (status, envelope["error"]["code"]) == (1, "cannot-restore")
    assert not (tmp_path / "new").exists()


def test_a_name_that_is_taken_is_not_overwritten(tmp_path: Path) -> None:
    clone = shapes.clone_with_commits(tmp_path)
    saved = rescue(clone)
    assert answer("rescue", "restore", str(saved["id"]))[0] == 6
    assert answer("rescue", "restore", "nonsense")[0] == 5


def test_what_exists_elsewhere_is_not_saved(tmp_path: Path) -> None:
    assert data("rescue", str(shapes.clone_with_everything_published(tmp_path)))["rescued"] == []


def test_everything_a_session_left_is_saved_by_its_name(own_world: Path) -> None:
    unit = session_directory(own_world / "tmp")
    (unit / "report.pdf").write_text("x")
    session = unit.name
    (saved,) = data("rescue", "--session", session)["rescued"]
    assert (saved["session"], saved["path"]) == (session, str(unit))
    assert [each["id"] for each in data("rescue", "list")["rescued"]] == [saved["id"]]
    assert data("rescue", "show", saved["id"][:17])["files"][0]["path"] == "report.pdf"
    assert answer("rescue", "--session", "nobody")[0] == 5


def test_rescues_go_when_their_time_is_over_and_younger_ones_never_silently(tmp_path: Path, own_world: Path) -> None:
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text('[rescue]\nmax = "5K"\nkeep = "30d"\n')
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.pdf").write_bytes(os.urandom(4000))
    data("rescue", str(tmp_path / "a"))
    status, envelope = answer("rescue", str(tmp_path / "b"), later_s=3 * DAY_S)
    assert (status, "limit" in envelope["error"]["message"]) == (2, True)
    assert [each["path"] for each in data("rescue", "list")["rescued"]] == [str(tmp_path / "a")]
    data("rescue", str(tmp_path / "b"), later_s=31 * DAY_S)
    assert [each["path"] for each in data("rescue", "list")["rescued"]] == [str(tmp_path / "b")]


def test_a_clean_lets_rescues_go_that_stayed_as_long_as_promised_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "report.pdf").write_text("x")
    saved = rescue(tmp_path / "a")
    assert not any(str(saved["id"]) in warning for warning in clean(now_ns=later(29 * 24)).warnings)
    assert any(str(saved["id"]) in warning for warning in clean(now_ns=later(31 * 24)).warnings)
    assert store.everything() == []


def test_no_rescue_goes_while_nobody_knows_how_long_it_was_to_stay(
    tmp_path: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.pdf").write_text(name)
    saved = rescue(tmp_path / "a")
    (own_world / "config" / "tmpwarden").mkdir()
    (own_world / "config" / "tmpwarden" / "config.toml").write_text('[rescue]\nkeep = "a year"\nmax = "5K"\n')
    clean(now_ns=later(31 * 24))
    data("rescue", str(tmp_path / "b"), later_s=31 * DAY_S)
    assert saved["id"] in [each.id for each in store.everything()]


def test_what_a_killed_rescue_began_goes_and_what_a_living_one_builds_stays(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "report.pdf").write_text("x")
    with store.staging() as living:
        (Path(store.directory()) / ".new-0123456789ab").mkdir(mode=0o700)
        rescue(tmp_path / "a")
        assert {name for name in os.listdir(store.directory()) if name.startswith(".")} == {os.path.basename(living)}
