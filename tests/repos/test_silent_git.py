"""A git that says nothing, tells half, or speaks of another repository has said nothing: every unit stays."""

import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from support.command import answer, data
from support.examples import share
from support.litter import later
from support.repos import commit, git, inspected, lost
from support.silent_git import SickGit
from support.users import session_directory
from tmpwarden.repos import git_program, gitdir
from tmpwarden.repos.gitdir import Directory, Unclear
from tmpwarden.sweep.compose import clean
from worktrees import shapes

QUESTIONS = ("status", "ls-files", "for-each-ref", "rev-list")
SILENT = "silent with 0 at everything"


@pytest.fixture
def sick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SickGit:
    found = SickGit(tmp_path, monkeypatch)
    found.is_well()
    return found


def nothing(clone: Path) -> None:
    """All of it exists elsewhere; but of that only git's word is proof."""


def modified(clone: Path) -> None:
    (clone / "file").write_text("changed")


def untracked(clone: Path) -> None:
    (clone / "new").write_text("x")


def unpushed(clone: Path) -> None:
    commit(clone, "more")


def detached(clone: Path) -> None:
    git(clone, "checkout", "-q", "--detach")
    commit(clone, "more")


def only_a_tag(clone: Path) -> None:
    detached(clone)
    git(clone, "tag", "mine")
    git(clone, "checkout", "-q", "-")


WORK = [modified, untracked, unpushed, detached, only_a_tag]


def a_clone(place: Path) -> Path:
    place.mkdir()
    return shapes.clone_with_everything_published(place)


def sicknesses(sick: SickGit, twin: Path, turn: int) -> Iterator[str]:
    """Ways to be unwell, each in force while it is named: silence always, of the others a share."""
    sick.is_silent()
    yield SILENT
    ways: dict[str, Callable[[], None]] = {
        "at another repository": lambda: sick.is_elsewhere(twin),
        "in another directory": lambda: sick.stands_elsewhere(twin),
        "silent with 1 at everything": lambda: sick.is_silent("", 1),
    }
    for word, status in itertools.product(QUESTIONS, (0, 1)):
        ways[f"silent with {status} at {word}"] = partial(sick.is_silent, word, status)
    for lines in (0, 1, 2, 3, 5):
        ways[f"cut after {lines} lines"] = partial(sick.is_cut, lines=lines)
    for status, number in itertools.product((0, 1, 128), range(1, 5)):
        ways[f"{status} at call {number}"] = partial(sick.fails_at, number, status)
    for name in share(ways, turn):
        ways[name]()
        yield name


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("kind", ["clone", "worktree"])
def test_work_is_never_called_lost_by_a_git_that_is_not_well(
    tmp_path: Path, sick: SickGit, work: Callable[[Path], None], kind: str
) -> None:
    """The twin is the same repository a moment before: HEAD and most refs are alike."""
    tree = a_clone(tmp_path / "one") if kind == "clone" else shapes.plain(tmp_path)
    twin = Path(
        shutil.copytree(tmp_path / "one" / "clone" if kind == "clone" else tmp_path / "project", tmp_path / "twin")
    )
    work(tree)
    expected = lost(tree)
    assert expected != () or (kind, work) in (("worktree", unpushed), ("worktree", only_a_tag))
    turn = WORK.index(work) + 2 * (kind == "clone")
    answers = {name: lost(tree) for name in sicknesses(sick, twin, turn)}
    assert {name: told for name, told in answers.items() if told not in (None, expected)} == {}
    assert not answers[SILENT]


def test_the_same_work_in_a_twin_is_no_answer_either(tmp_path: Path, sick: SickGit) -> None:
    """HEAD, refs and index are those of the clone; only the place is another."""
    clone = a_clone(tmp_path / "one")
    twin = Path(shutil.copytree(clone, tmp_path / "twin", symlinks=True))
    untracked(clone)
    for turn in (sick.is_elsewhere, sick.stands_elsewhere):
        turn(twin)
        assert "another repository" in str(inspected(clone))


def test_an_answer_that_is_cut_at_any_byte_is_unclear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clone = a_clone(tmp_path / "one")
    for work in (modified, untracked, unpushed):
        work(clone)
    whole, real = lost(clone), git_program.Git._spawn
    lengths: list[int] = []

    def heard(self: git_program.Git, words: tuple[str, ...], given: bytes | None) -> tuple[int, bytes, bytes]:
        status, output, complaint = real(self, words, given)
        lengths.append(len(output))
        return status, output, complaint

    monkeypatch.setattr(git_program.Git, "_spawn", heard)
    assert lost(clone) == whole
    fd = os.open(clone, os.O_RDONLY | os.O_DIRECTORY)
    asked = git_program.Git(fd)
    questions = [("status", "--porcelain=v2", "-z"), ("ls-files", "-v", "-z"), ("rev-list", "--count", "HEAD")]
    try:
        for words in questions:
            _, output, _ = real(asked, ("-c", "core.bare=false", *_as_asked(words)), None)
            mark = output[output.rindex(b"end") :]
            assert asked._answer(output, mark)
            for length in range(len(output)):
                with pytest.raises(Unclear):
                    asked._answer(output[:length], mark)
    finally:
        os.close(fd)
    for at, length in enumerate(lengths):
        for cut in share(sorted({0, 1, length // 3, length // 2, length - 30, length - 1}), at):
            monkeypatch.setattr(git_program.Git, "_spawn", _cutting(real, at, cut))
            assert lost(clone) is None, (at, cut)


def _as_asked(words: tuple[str, ...]) -> tuple[str, ...]:
    return ("-c", f"alias.{git_program._ALIAS}={git_program._SCRIPT}", git_program._ALIAS, "end0123", *words)


def _cutting(real: Callable[..., tuple[int, bytes, bytes]], at: int, cut: int) -> object:
    calls = iter(range(1000))

    def said(self: git_program.Git, words: tuple[str, ...], given: bytes | None) -> tuple[int, bytes, bytes]:
        status, output, complaint = real(self, words, given)
        return status, output[:cut] if next(calls) == at else output, complaint

    return said


def test_a_git_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, sick: SickGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = a_clone(tmp_path / "one")
    modified(clone)
    monkeypatch.setattr(git_program, "TIME_LIMIT_S", 1.0)
    for word in QUESTIONS[:2]:
        sick.hangs(word)
        assert inspected(clone) == "git took too long"
    mine = [path for path in Path("/proc").glob("[0-9]*") if _runs_below(path, sick.place)]
    assert mine == []


def _runs_below(process: Path, place: Path) -> bool:
    try:
        return str(place).encode() in (process / "cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize("word", ["", *QUESTIONS])
def test_an_inner_git_that_is_silent_where_the_mark_is_well_has_said_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Also the git that the mark's git starts may be unwell: what it should have said is compared with the disk."""
    clone = a_clone(tmp_path / "one")
    detached(clone)
    (clone / "new").write_text("x")
    real = git_program.Git._run
    monkeypatch.setattr(
        git_program.Git,
        "_run",
        lambda self, words, given=None: (0, b"") if word in words or not word else real(self, words, given),
    )
    assert lost(clone) is None


@pytest.mark.parametrize(("said", "instead"), [(b"branch.oid ", b"branch.oid 1"), (b"branch.head ", b"branch.head x")])
def test_a_status_of_another_commit_or_branch_is_unclear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes, instead: bytes
) -> None:
    clone = a_clone(tmp_path / "one")
    real = git_program.Git._run

    def other(self: git_program.Git, words: tuple[str, ...], given: bytes | None = None) -> tuple[int, bytes]:
        status, output = real(self, words, given)
        return status, output.replace(said, instead)

    assert lost(clone) == ()
    monkeypatch.setattr(git_program.Git, "_run", other)
    assert inspected(clone) == "git reports another HEAD than is on disk"


# what lies on the disk


def test_refs_and_head_are_read_from_the_disk_as_git_reads_them(tmp_path: Path) -> None:
    clone = a_clone(tmp_path / "one")
    for name in ("deep/er/branch", "other"):
        git(clone, "branch", name)
    git(clone, "pack-refs", "--all")
    git(clone, "branch", "loose")
    git(clone, "tag", "-a", "v1", "-m", "x")
    commit(clone, "more")
    tree = tmp_path / "tree"
    git(clone, "worktree", "add", "-q", "--detach", str(tree))
    git(tree, "update-ref", "refs/worktree/mine", "HEAD")
    git(clone, "update-ref", "refs/worktree/its", "HEAD")
    for checkout in (clone, tree):
        own = Path(git(checkout, "rev-parse", "--absolute-git-dir"))
        fd = os.open(own, os.O_RDONLY | os.O_DIRECTORY)
        listed = git(checkout, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        assert gitdir.refs_in(Directory(fd)) == dict(line.split() for line in listed)
        assert gitdir.head_in(fd) == git(checkout, "rev-parse", "HEAD")
        os.close(fd)


def reftable(clone: Path) -> None:
    (clone / ".git" / "reftable").mkdir()


def a_link_for_a_ref(clone: Path) -> None:
    (clone / ".git/refs/heads/link").symlink_to("main")


def a_head_that_is_a_link(clone: Path) -> None:
    (clone / ".git/HEAD").unlink()
    (clone / ".git/HEAD").symlink_to("refs/heads/main")


def a_circle(clone: Path) -> None:
    (clone / ".git/refs/heads/a").write_text("ref: refs/heads/b\n")
    (clone / ".git/refs/heads/b").write_text("ref: refs/heads/a\n")


def odd_packed_refs(clone: Path) -> None:
    with (clone / ".git/packed-refs").open("a") as file:
        file.write("what is this\n")


@pytest.mark.parametrize("harm", [reftable, a_link_for_a_ref, a_head_that_is_a_link, a_circle, odd_packed_refs])
def test_refs_that_cannot_be_read_by_hand_are_unclear(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    clone = a_clone(tmp_path / "one")
    assert lost(clone) == ()
    harm(clone)
    assert lost(clone) is None


# through proofs, sweep and rescue


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    found = shapes.modified(tmp_path)
    (found / "new").write_text("x")
    return found


def test_no_proof_holds_and_no_worktree_goes_with_a_git_that_is_not_well(
    tmp_path: Path, sick: SickGit, tree: Path
) -> None:
    files = shapes.hashes(tree)
    for name in sicknesses(sick, tmp_path / "project", turn=0):
        status, envelope = answer("worktrees", "proof", str(tree))
        assert (status, envelope["data"]["verdict"]) == (2, "keep"), name
        assert data("worktrees", "clean", "-y", str(tree))["removed"] == [], name
    assert shapes.hashes(tree) == files


def test_no_unit_goes_with_a_git_that_is_not_well(own_world: Path, tmp_path: Path, sick: SickGit) -> None:
    unit = session_directory(own_world / "tmp")
    twin = a_clone(tmp_path / "one")
    for work in WORK:
        clone = Path(shutil.copytree(twin, unit / work.__name__ / "clone", symlinks=True))
        work(clone)
    files = shapes.hashes(unit)
    for name in sicknesses(sick, twin, turn=1):
        clean(now_ns=later(100))
        assert unit.exists(), name
    assert shapes.hashes(unit) == files


def test_a_rescue_says_that_it_could_not_save_or_saves_all(tmp_path: Path, own_world: Path, sick: SickGit) -> None:
    clone = a_clone(tmp_path / "one")
    for work in (unpushed, modified, untracked):
        work(clone)
    sick.is_well()
    data("rescue", str(clone))
    calls = sick.calls
    assert calls > 10
    failures: list[Callable[[], None]] = [lambda: sick.is_silent(), lambda: sick.is_cut(lines=1)]
    failures += [partial(sick.fails_at, number, status) for number in range(1, calls + 1) for status in (0, 1)]
    for fail in [*failures[:2], *share(failures[2:], turn=3)]:
        fail()
        status, envelope = answer("rescue", str(clone))
        assert (status, envelope["data"]["rescued"]) == (2, []), (sick.place / "git").read_text()


def test_a_restore_says_that_it_could_not_bring_back(tmp_path: Path, own_world: Path, sick: SickGit) -> None:
    clone = a_clone(tmp_path / "one")
    for work in (unpushed, modified, untracked):
        work(clone)
    (saved,) = data("rescue", str(clone))["rescued"]
    sick.is_well()
    data("rescue", "restore", saved["id"], "--to", str(tmp_path / "well"))
    assert (tmp_path / "well" / "file").read_text() == "changed"
    for number in share(range(1, sick.calls + 1), turn=1):
        sick.fails_at(number, 0)
        assert answer("rescue", "restore", saved["id"], "--to", str(tmp_path / f"sick-{number}"))[0] == 1, number


def test_git_is_started_in_one_place_only() -> None:
    """Whoever wants the program's path would start it without the mark."""
    source = Path(git_program.__file__).parents[1]
    text = "".join(path.read_text() for path in source.rglob("*.py"))
    imported = "".join(re.findall(r"git_program import ([^\n]*)", text))
    assert "Git" in imported
    assert "program" not in imported
