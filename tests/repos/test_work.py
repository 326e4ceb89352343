"""A clone is let go only when everything in it exists elsewhere, and nothing in it can make us run a program."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from support import makers
from support.examples import examples
from support.hearing import why
from support.litter import later
from support.repos import commit, git, lost
from support.users import session_directory
from tmpwarden.model.sweep import Keep
from tmpwarden.model.terms import Reason
from tmpwarden.repos import git_program, repository
from tmpwarden.sweep.compose import clean, scan

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="needs the program git")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An origin with two commits and a tag, and a clone of it; made once, copied for each test."""
    place = tmp_path_factory.mktemp("git")
    origin = place / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    commit(origin, "file")
    commit(origin, ".gitignore", "build/\n")
    git(origin, "tag", "v1")
    git(place, "clone", "-q", str(origin), "clone")
    git(place / "clone", "remote", "set-url", "origin", "https://git.example/origin.git")
    return place


@pytest.fixture
def origin(tmp_path: Path, template: Path) -> Path:
    return Path(shutil.copytree(template / "origin", tmp_path / "origin", symlinks=True))


@pytest.fixture
def clone(tmp_path: Path, template: Path) -> Path:
    """Dates are copied too, so the clone's index is as fresh as after a clone."""
    (tmp_path / "unit").mkdir()
    return Path(shutil.copytree(template / "clone", tmp_path / "unit" / "clone", symlinks=True))


def modify(clone: Path) -> None:
    (clone / "file").write_text("changed")


def stage(clone: Path) -> None:
    modify(clone)
    git(clone, "add", "file")


def delete(clone: Path) -> None:
    (clone / "file").unlink()


def add_untracked(clone: Path) -> None:
    (clone / "new").write_text("x")


def hide_untracked_privately(clone: Path) -> None:
    add_untracked(clone)
    (clone / ".git/info/exclude").write_text("*\n")


def hide_untracked_by_setting(clone: Path) -> None:
    add_untracked(clone)
    (clone / "all").write_text("*\n")
    git(clone, "config", "core.excludesFile", str(clone / "all"))


def stash(clone: Path) -> None:
    modify(clone)
    git(clone, "stash", "-q")


def commit_on_main(clone: Path) -> None:
    commit(clone, "more")


def commit_on_another_branch(clone: Path) -> None:
    git(clone, "checkout", "-qb", "idea")
    commit(clone, "more")
    commit(clone, "evenmore")
    git(clone, "checkout", "-q", "main")


def commit_detached(clone: Path) -> None:
    git(clone, "checkout", "-q", "--detach")
    commit(clone, "more")


def tag_and_forget(clone: Path) -> None:
    commit_detached(clone)
    git(clone, "tag", "mine")
    git(clone, "checkout", "-q", "main")


def lose_the_remote(clone: Path) -> None:
    git(clone, "remote", "remove", "origin")


def have_a_worktree_elsewhere(clone: Path) -> None:
    git(clone, "worktree", "add", "-q", "-b", "side", str(clone.parent.parent / "side"), "origin/main")


def stop_in_a_merge(clone: Path) -> None:
    (clone / ".git/MERGE_HEAD").write_text(git(clone, "rev-parse", "HEAD") + "\n")


def build(clone: Path) -> None:
    """Perhaps of a compiler, perhaps not: nobody's list names it."""
    (clone / "build").mkdir()
    (clone / "build" / "out.o").write_text("x")


def install(clone: Path) -> None:
    (clone / ".git/info/exclude").write_text("node_modules/\n")
    makers.npm(clone)


LOSSES: list[tuple[Callable[[Path], None], tuple[str, ...]]] = [
    (modify, ("1 modified file",)),
    (stage, ("1 modified file",)),
    (delete, ("1 modified file",)),
    (add_untracked, ("1 untracked file",)),
    (hide_untracked_privately, ("1 untracked file",)),
    (hide_untracked_by_setting, ("2 untracked files",)),
    (stash, ("1 stash",)),
    (commit_on_main, ("1 commit on branch main that no remote is known to have",)),
    (commit_on_another_branch, ("2 commits on branch idea that no remote is known to have",)),
    (commit_detached, ("detached HEAD with 1 commit that no remote is known to have",)),
    (tag_and_forget, ("1 commit on tag mine that no remote is known to have",)),
    (
        lose_the_remote,
        (
            "2 commits on branch main that no remote is known to have",
            "2 commits on tag v1 that no remote is known to have",
        ),
    ),
    (have_a_worktree_elsewhere, ("1 worktree elsewhere that needs this repository",)),
    (stop_in_a_merge, ("an unfinished merge",)),
    (build, ("1 ignored file that cannot be created again: build/out.o",)),
]


@pytest.mark.parametrize(("work", "sentences"), LOSSES, ids=[work.__name__ for work, _ in LOSSES])
def test_work_that_exists_only_here_is_named(
    clone: Path, work: Callable[[Path], None], sentences: tuple[str, ...]
) -> None:
    assert lost(clone) == ()
    work(clone)
    assert lost(clone) == sentences


def push(clone: Path) -> None:
    git(clone, "checkout", "-qb", "pushed")
    commit(clone, "more")
    git(clone, "update-ref", "refs/remotes/origin/pushed", "HEAD")


def be_a_placeholder(clone: Path) -> None:
    shutil.rmtree(clone / ".git")
    (clone / ".git").mkdir()


@pytest.mark.parametrize("work", [push, install, be_a_placeholder])
def test_what_exists_elsewhere_or_can_be_made_again_is_no_loss(clone: Path, work: Callable[[Path], None]) -> None:
    work(clone)
    assert lost(clone) == ()


ONE_ON_MAIN = ("1 commit on branch main that no remote is known to have",)


@pytest.mark.parametrize("words", [("--depth=1",), ("--depth=1", "--branch=v1"), ("--branch=v1",), ("--no-checkout",)])
def test_a_shallow_or_tagged_clone_of_a_remote_has_nothing_of_its_own(
    tmp_path: Path, origin: Path, words: tuple[str, ...]
) -> None:
    git(tmp_path, "clone", "-q", *words, f"file://{origin}", "unit/clone")
    clone = tmp_path / "unit" / "clone"
    git(clone, "remote", "set-url", "origin", "ssh://git@git.example/origin")
    if "--no-checkout" in words:
        git(clone, "read-tree", "--empty")
        assert lost(clone) == ("2 modified files",)
        return
    assert lost(clone) == ()
    commit(clone, "more")
    assert lost(clone) in (("detached HEAD with 1 commit that no remote is known to have",), ONE_ON_MAIN)


def configure(name: str, value: str) -> Callable[[Path], None]:
    def work(clone: Path) -> None:
        git(clone, "config", name, value)

    work.__name__ = name
    return work


def write(path: str, text: str) -> Callable[[Path], None]:
    def work(clone: Path) -> None:
        (clone / path).parent.mkdir(exist_ok=True, parents=True)
        (clone / path).write_text(text)

    work.__name__ = path
    return work


def link_the_objects(clone: Path) -> None:
    (clone / ".git/objects").rename(clone.parent / "objects")
    (clone / ".git/objects").symlink_to(clone.parent / "objects")


def link_the_repository(clone: Path) -> None:
    (clone / ".git").rename(clone.parent / "real")
    (clone / ".git").symlink_to(clone.parent / "real")


def break_the_index(clone: Path) -> None:
    (clone / ".git/index").write_bytes(b"DIRC" + b"\xff" * 40)


def hide_a_change(clone: Path) -> None:
    git(clone, "update-index", "--assume-unchanged", "file")
    modify(clone)


def hide_behind_skip_worktree(clone: Path) -> None:
    git(clone, "update-index", "--skip-worktree", "file")
    modify(clone)


def append_to_config(text: str) -> Callable[[Path], None]:
    def work(clone: Path) -> None:
        with (clone / ".git/config").open("a") as file:
            file.write(text)

    work.__name__ = text.split("\n")[0]
    return work


TRAP = "touch {trap}; true"
DANGERS = [
    configure("core.fsmonitor", TRAP),
    configure("core.sshCommand", TRAP),
    configure("core.worktree", "/"),
    configure("core.attributesFile", "/tmp/attributes"),
    configure("filter.x.clean", TRAP),
    configure("filter.x.process", TRAP),
    configure("diff.external", TRAP),
    configure("diff.x.textconv", TRAP),
    configure("credential.helper", TRAP),
    configure("include.path", "/tmp/more"),
    configure("includeIf.gitdir:/.path", "/tmp/more"),
    configure("remote.origin.uploadpack", TRAP),
    configure("alias.status", "!" + TRAP),
    configure("gpg.program", TRAP),
    configure("url.ext::sh.insteadOf", "https://"),
    append_to_config("[core]fsmonitor = touch {trap}\n"),
    append_to_config("[user]\n\tname = x\\\n[core]\n"),
    append_to_config("[us\\er]\n"),
    append_to_config("not a setting at all!\n"),
    write(".git/objects/info/alternates", "/tmp/objects\n"),
    write(".git/commondir", "../elsewhere\n"),
    write(".git/config.worktree", "[core]\n\tfsmonitor = touch {trap}\n"),
    write(".git/modules/sub/HEAD", "ref: refs/heads/main\n"),
    link_the_objects,
    link_the_repository,
    break_the_index,
    hide_a_change,
    hide_behind_skip_worktree,
]


@pytest.mark.parametrize("danger", DANGERS, ids=[danger.__name__ for danger in DANGERS])
def test_what_could_run_a_program_or_hide_work_makes_it_uninspectable(
    clone: Path, danger: Callable[[Path], None], tmp_path: Path
) -> None:
    (clone / ".gitattributes").write_text("* filter=x diff=x\n")
    danger(clone)
    for name in ("config", "config.worktree"):
        file = clone / ".git" / name
        if file.exists():
            file.write_text(file.read_text().replace("{trap}", str(tmp_path / "trap")))
    modify(clone)
    assert lost(clone) is None
    assert not (tmp_path / "trap").exists()


def test_without_git_nothing_is_known(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmpwarden.repos.git_program._PROGRAMS", ())
    monkeypatch.setenv("PATH", "/nowhere")
    assert lost(clone) is None


def test_a_pipe_in_the_repository_does_not_hang_us(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmpwarden.repos.git_program.TIME_LIMIT_S", 0.5)
    (clone / ".git/index").unlink()
    os.mkfifo(clone / ".git/index")
    assert lost(clone) is None


def test_nothing_in_the_repository_is_written(clone: Path) -> None:
    def snapshot() -> dict[str, tuple[int, int, int]]:
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_ctime_ns, path.lstat().st_ino)
            for path in clone.rglob("*")
        }

    (clone / "file").write_text("x")  # the same content with a new date: git would like to refresh its index
    before = snapshot()
    assert lost(clone) == ()
    assert snapshot() == before


def test_the_users_own_git_environment_has_no_say(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trap = tmp_path / "trap"
    (tmp_path / "gitconfig").write_text(f"[core]\n\tfsmonitor = touch {trap}; true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "origin" / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {trap}")
    add_untracked(clone)
    assert lost(clone) == ("1 untracked file",)
    assert not trap.exists()


WORDS = [
    "[core]", "[CORE]", "[user]", "[remote \"o\"]", "[remote.o]", "[include]", "[includeIf \"x\"]", "[filter \"x\"]",
    "[", "]", "\n", "\n", "\n", "\r\n", "\r", " ", "\t", "=", " = ", "fsmonitor", "hooksPath", "name", "url", "path",
    "clean", "bare", "x", "1", "-", ".", "\\", "\"", "#", ";", "\ufeff", "\x0b", "\x0c", "\x00", "é",
]  # fmt: skip


@examples(300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(WORDS), max_size=14).map("".join))
def test_git_never_reads_a_key_in_a_configuration_that_we_read_as_harmless(tmp_path: Path, text: str) -> None:
    """git itself is the oracle: whatever it finds in a text that we accept is on our list."""
    read = repository.parse(text)
    if read.objection:
        return
    (tmp_path / "config").write_text(text, newline="")
    words = ["git", "config", "--no-includes", "--list", "--name-only", "-z", "--file", str(tmp_path / "config")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert list(filter(None, done.stdout.split("\0"))) == [setting.name for setting in read.settings]


# Through the whole sweep


def test_a_unit_with_git_work_is_kept_and_says_what_would_be_lost(own_world: Path, clone: Path) -> None:
    unit = session_directory(own_world / "tmp")
    shutil.copytree(clone, unit / "deep" / "clone", symlinks=True)
    (unit / "deep" / "clone" / "new").write_text("x")
    result = clean(now_ns=later(100))
    (kept,) = [verdict for verdict in result.kept if verdict.finding.path == str(unit)]
    assert isinstance(kept, Keep)
    assert (kept.reason, kept.detail) == (Reason.GIT_WORK, "1 untracked file")
    assert why(str(unit / "deep"), now_ns=later(100)).would_lose
    (unit / "deep" / "clone" / "new").unlink()
    clean(now_ns=later(200))
    assert not unit.exists()


def test_looking_at_a_clone_does_not_make_it_younger(own_world: Path, clone: Path) -> None:
    """git reads what it inspects; if access times counted, a scan would save what the clean after it should take."""
    unit = session_directory(own_world / "tmp")
    shutil.copytree(clone, unit / "deep" / "clone", symlinks=True)
    old = time.time() - 3600
    for path in [unit, *unit.rglob("*")]:
        os.utime(path, (old, old), follow_symlinks=False)  # so that any read moves atime, as relatime has it
    before = [verdict.evidence.measure.newest_ns for verdict in scan(now_ns=later(100)) if verdict.evidence.measure]
    after = [verdict.evidence.measure.newest_ns for verdict in scan(now_ns=later(100)) if verdict.evidence.measure]
    assert before == after


def test_an_uninspectable_repository_keeps_its_unit(own_world: Path, clone: Path) -> None:
    unit = session_directory(own_world / "tmp")
    shutil.copytree(clone, unit / "deep" / "clone", symlinks=True)
    git(unit / "deep" / "clone", "config", "core.fsmonitor", "true")
    result = clean(now_ns=later(100))
    (kept,) = [verdict for verdict in result.kept if verdict.finding.path == str(unit)]
    assert isinstance(kept, Keep)
    assert kept.reason is Reason.GIT_UNCLEAR


@pytest.mark.parametrize("status", [128, -9])
@pytest.mark.parametrize("word", ["for-each-ref", "ls-files", "rev-list", "status"])
def test_a_git_that_fails_has_not_said_no(clone: Path, monkeypatch: pytest.MonkeyPatch, word: str, status: int) -> None:
    commit_detached(clone)
    real = git_program.Git._run

    def failing(self: git_program.Git, words: tuple[str, ...], given: bytes | None = None) -> tuple[int, bytes]:
        return (status, b"") if word in words else real(self, words, given)

    monkeypatch.setattr(git_program.Git, "_run", failing)
    assert lost(clone) is None


_A_HOST_WITHOUT_CHILDREN = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from tmpwarden.repos import git_program, work
fd = os.open(sys.argv[1], os.O_RDONLY)
try:
    print(work.inspect(fd, "clone").losses)
except git_program.Unclear:
    print(None)
"""


@pytest.mark.parametrize("state", ["sound", "broken"])
def test_in_a_host_that_ignores_its_children_a_git_that_failed_says_nothing(clone: Path, state: str) -> None:
    """Python then reports status 0 for everything, also for a git that could not read the index."""
    (clone / "file").write_text("work that exists nowhere else")
    if state == "broken":
        (clone / ".git" / "index").write_text("garbage")
    argv = [sys.executable, "-c", _A_HOST_WITHOUT_CHILDREN, str(clone.parent)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    assert done.stdout in ("None\n", "('1 modified file',)\n")
    assert state != "broken" or done.stdout == "None\n"
