"""Only the maker's own evidence makes a directory derived, and every member of it counts."""

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support import makers
from support.command import answer, data
from support.litter import later
from support.repos import commit, git, lost
from support.users import session_directory
from tmpwarden.model.terms import Reason
from tmpwarden.repos.makers import derived_directories, is_derived, unique
from tmpwarden.sweep.compose import clean
from worktrees import shapes

MAKERS = [makers.npm, makers.pnpm, makers.venv, makers.cargo]
Plant = Callable[[Path], Path]  # into a checkout; the one file that a hand has made


def hand(path: Path, text: str = "made by hand") -> Path:
    """Later than everything that a maker made in its directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return makers.later(path, text)


def a_script_in_build(tree: Path) -> Path:
    return hand(tree / "build" / "deploy.sh")


def a_signature_in_dist(tree: Path) -> Path:
    (tree / "dist").mkdir()
    (tree / "dist" / "x.tar.gz").write_text("x")
    return hand(tree / "dist" / "x.tar.gz.asc")


def a_library_in_deps(tree: Path) -> Path:
    (tree / "mix.exs").touch()
    git(tree, "add", "mix.exs")
    git(tree, "commit", "-qm", "mix")
    return hand(tree / "deps" / "mylib" / "lib.ex")


def results_in_htmlcov(tree: Path) -> Path:
    (tree / "htmlcov").mkdir()
    (tree / "htmlcov" / "index.html").write_text("x")
    return hand(tree / "htmlcov" / "results.csv")


def notes_in_target(tree: Path) -> Path:
    return hand(makers.cargo(tree) / "notes.md")


def data_in_a_profile(tree: Path) -> Path:
    return hand(makers.cargo(tree) / "debug" / "deps" / "results-0123456789abcdef.csv")


def a_program_of_ones_own_in_a_profile(tree: Path) -> Path:
    return hand(makers.cargo(tree) / "debug" / "run-all")


def a_file_in_a_build_scripts_output(tree: Path) -> Path:
    return hand(makers.cargo(tree) / "debug" / "build" / "x-0123456789abcdef" / "out" / "mine.rs")


def target_of_another_crate(tree: Path) -> Path:
    (tree / "Cargo.toml").write_text("[package]\n")
    git(tree, "add", "Cargo.toml")
    git(tree, "commit", "-qm", "cargo")
    return hand(tree / "target" / "report.pdf")


def notes_in_node_modules(tree: Path) -> Path:
    return hand(makers.npm(tree) / "notes.md")


def a_patch_in_a_package(tree: Path) -> Path:
    return hand(makers.npm(tree) / "left-pad" / "index.js", "patched")


def a_backdated_file_in_a_package(tree: Path) -> Path:
    found = hand(makers.npm(tree) / "left-pad" / "mine.js")
    os.utime(found, (10**9, 10**9))
    return found


def a_package_that_is_not_listed(tree: Path) -> Path:
    modules = makers.npm(tree)
    (modules / "mine").mkdir()
    (modules / "mine" / "package.json").write_text("{}")
    return hand(modules / "mine" / "index.js")


def modules_without_a_list(tree: Path) -> Path:
    found = makers.npm(tree)
    (found / ".package-lock.json").unlink()
    return found / "left-pad" / "index.js"


def a_link_in_node_modules(tree: Path) -> Path:
    found = makers.npm(tree) / "left-pad" / "link"
    found.symlink_to("/etc/hosts")
    return found


def a_file_in_pnpms_store(tree: Path) -> Path:
    return hand(makers.pnpm(tree) / ".pnpm" / "left-pad@1.3.0" / "node_modules" / "left-pad" / "mine.js")


def a_package_that_pnpm_does_not_list(tree: Path) -> Path:
    modules = makers.pnpm(tree)
    lock = modules / ".pnpm" / "lock.yaml"
    lock.write_text(lock.read_text().replace("left-pad", "right-pad"))
    return modules / ".pnpm" / "left-pad@1.3.0" / "node_modules" / "left-pad" / "index.js"


def a_module_in_site_packages(tree: Path) -> Path:
    return hand(makers.venv(tree) / "lib/python3.11/site-packages/mine.py")


def an_edit_in_site_packages(tree: Path) -> Path:
    return hand(makers.venv(tree) / "lib/python3.11/site-packages/thing/__init__.py", "x = 2\n")


def a_key_at_the_end_of_activate(tree: Path) -> Path:
    """`python -m venv .venv && echo 'export KEY=...' >> .venv/bin/activate`: within the same second."""
    script = makers.venv(tree) / "bin" / "activate"
    script.write_text(script.read_text() + "export DATABASE_URL=postgres://me:secret@db/prod\n")
    return script


def a_note_in_pyvenv_cfg(tree: Path) -> Path:
    config = makers.venv(tree) / "pyvenv.cfg"
    config.write_text(config.read_text() + "note = the only copy\n")
    return config


def a_venv_by_name(tree: Path) -> Path:
    return hand(tree / "env" / "settings")


def a_tagged_directory(tree: Path) -> Path:
    found = hand(tree / "cache" / "only-copy")
    (found.parent / "CACHEDIR.TAG").write_text("Signature: 8a477f597d28d172789f06886806bc55\n")
    return found


def compiled_without_its_source(tree: Path) -> Path:
    (tree / "gone.py").write_text("x = 1\n")
    cache = makers.compiled(tree / "gone.py")
    (tree / "gone.py").unlink()
    return next(cache.iterdir())


def text_that_is_called_compiled(tree: Path) -> Path:
    (tree / "file.py").write_text("x = 1\n")
    git(tree, "add", "file.py")
    git(tree, "commit", "-qm", "py")
    return hand(tree / "__pycache__" / "file.cpython-311.pyc", "my notes, longer than a header")


def a_link(tree: Path) -> Path:
    (tree / "link").symlink_to("file")
    return tree / "link"


PLANTS: list[Plant] = [
    a_script_in_build, a_signature_in_dist, a_library_in_deps, results_in_htmlcov, notes_in_target, data_in_a_profile,
    a_program_of_ones_own_in_a_profile, a_file_in_a_build_scripts_output, target_of_another_crate,
    notes_in_node_modules, a_patch_in_a_package, a_backdated_file_in_a_package, a_package_that_is_not_listed,
    modules_without_a_list,
    a_link_in_node_modules, a_file_in_pnpms_store, a_package_that_pnpm_does_not_list, a_module_in_site_packages,
    an_edit_in_site_packages, a_key_at_the_end_of_activate, a_note_in_pyvenv_cfg,
    a_venv_by_name, a_tagged_directory, compiled_without_its_source,
    text_that_is_called_compiled, a_link,
]  # fmt: skip


_IGNORED = "/build/\n/dist/\n/deps/\n/htmlcov/\ntarget/\nnode_modules/\n.venv/\nenv/\ncache/\n__pycache__/\nlink\n"


BY_TURNS = [
    pytest.param(plant, ignored, id=f"{plant.__name__}-{word}", marks=() if at % 2 == ignored else pytest.mark.long)
    for at, plant in enumerate(PLANTS)
    for ignored, word in enumerate(("untracked", "ignored"))
]


@pytest.mark.parametrize(("plant", "ignored"), BY_TURNS)
def test_what_a_hand_has_made_is_never_derived(tmp_path: Path, plant: Plant, ignored: bool) -> None:
    tree = shapes.plain(tmp_path)
    commit(tree, ".gitignore", _IGNORED if ignored else "nothing\n")
    made = plant(tree)
    proof = answer("worktrees", "proof", str(tree))[1]["data"]
    assert (proof["verdict"], proof["reason"]) == ("keep", "ignored-files" if ignored else "dirty")
    assert lost(tree) != ()
    data("worktrees", "clean", "-y", "--derived-only", str(tree))
    assert os.path.lexists(made)


@pytest.mark.parametrize("ignored", [False, True], ids=["untracked", "ignored"])
def test_the_sweep_of_a_session_uses_the_same_test(own_world: Path, tmp_path: Path, ignored: bool) -> None:
    unit = session_directory(own_world / "tmp")
    clone = Path(shutil.copytree(shapes.clone_with_everything_published(tmp_path), unit / "clone", symlinks=True))
    if ignored:
        commit(clone, ".gitignore", _IGNORED)
        git(clone, "update-ref", "refs/remotes/origin/main", "HEAD")
    made = a_script_in_build(clone)
    (kept,) = [each for each in clean(now_ns=later(100)).kept if each.finding.path == str(unit)]
    assert (kept.reason, made.exists()) == (Reason.GIT_WORK, True)  # type: ignore[union-attr]
    shutil.rmtree(clone / "build")
    makers.npm(clone)
    clean(now_ns=later(200))
    assert not unit.exists()


@pytest.mark.parametrize("maker", MAKERS)
def test_what_its_maker_lists_is_derived_and_comes_back_by_undo(tmp_path: Path, maker: Plant) -> None:
    tree = shapes.plain(tmp_path)
    made = maker(tree)
    assert is_derived(str(made))
    files = shapes.hashes(made)
    told = data("worktrees", "clean", "-y", "--derived-only", str(tree))
    assert [each["path"] for each in told["removed"]] == [str(made)]
    assert (told["freed_bytes"], told["quarantined_bytes"] > 0, made.exists()) == (0, True, False)
    data("undo")
    assert shapes.hashes(made) == files


def test_who_wants_the_room_now_says_so(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    made = makers.npm(tree)
    assert answer("worktrees", "clean", "-y", "--purge", str(tree))[1]["error"]["code"] == "bad-argument"
    told = data("worktrees", "clean", "-y", "--derived-only", "--purge", str(tree))
    assert (told["freed_bytes"] >= 120_000, made.exists()) == (True, False)


def test_a_persons_word_adds_names_and_what_git_tracks_stays(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    a_script_in_build(tree)
    (tree / "sub" / "build").mkdir(parents=True)
    commit(tree, "sub/build/kept")
    assert data("worktrees", "clean", "-y", str(tree))["removed"] == []
    told = data("worktrees", "clean", "-y", "--derived-only", "--also", "build", str(tree))
    assert [each["path"] for each in told["removed"]] == [str(tree / "build")]
    assert (tree / "sub" / "build" / "kept").exists()
    data("undo")
    assert (tree / "build" / "deploy.sh").exists()
    data("worktrees", "clean", "-y", "--derived-only", "--also", "build", str(tree))
    assert [each["path"] for each in data("worktrees", "clean", "-y", str(tree))["removed"]] == [str(tree)]
    for words in (("--derived-only", "--also", "a/b"), ("--also", "build")):
        assert answer("worktrees", "clean", "-y", *words, str(tree))[1]["error"]["code"] in (
            "bad-argument",
            "not-found",
        )


def test_a_file_that_comes_while_the_question_is_on_the_screen_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tmpwarden.cli.commands import worktrees

    tree = shapes.plain(tmp_path)
    made, real = makers.npm(tree), worktrees.remove

    def work_goes_on(*arguments: object, **options: object) -> object:
        hand(made / "left-pad" / "mine.js")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(worktrees, "remove", work_goes_on)
    told = data("worktrees", "clean", "-y", "--derived-only", str(tree))
    assert (told["removed"], (made / "left-pad" / "mine.js").exists()) == ([], True)


def test_a_real_environment_of_python_is_derived_until_a_hand_touches_it(tmp_path: Path) -> None:
    made = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", str(made)], check=True, capture_output=True)
    assert is_derived(str(made))
    assert list(derived_directories(str(tmp_path))) == [str(made)]
    site = next(made.glob("lib/*/site-packages"))
    (site / "mine.pth").write_text("x")
    assert not is_derived(str(made))
    assert any(unique(str(made), with_repositories=True))


def test_what_python_compiled_beside_its_source_is_derived(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    cache = makers.compiled(tmp_path / "a.py")
    assert is_derived(str(cache))
    (cache / "notes").touch()
    assert not is_derived(str(cache))


@pytest.mark.parametrize("program", ["npm", "cargo"])
def test_what_the_real_maker_leaves_is_derived(tmp_path: Path, program: str) -> None:
    """From nothing but what lies here: no registry is asked."""
    if shutil.which(program) is None:
        pytest.skip(f"needs the program {program}")
    if program == "npm":
        (tmp_path / "dep").mkdir()
        (tmp_path / "dep" / "package.json").write_text('{"name": "dep", "version": "1.0.0", "bin": "run.js"}')
        (tmp_path / "dep" / "run.js").write_text("#!/usr/bin/env node\n")
        (tmp_path / "top").mkdir()
        (tmp_path / "top" / "package.json").write_text('{"name": "top", "version": "1.0.0"}')
        subprocess.run(["npm", "pack", "--silent"], cwd=tmp_path / "dep", check=True, capture_output=True)
        words = ["npm", "install", "--offline", "--no-audit", "--no-fund", "../dep/dep-1.0.0.tgz"]
        subprocess.run(words, cwd=tmp_path / "top", check=True, capture_output=True)
        made = tmp_path / "top" / "node_modules"
    else:
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "main.rs").write_text("fn main() {}\n")
        (tmp_path / "build.rs").write_text(
            'fn main() { std::fs::write(std::env::var("OUT_DIR").unwrap() + "/a", "").unwrap(); }\n'
        )
        (tmp_path / "Cargo.toml").write_text('[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n')
        home = pwd.getpwuid(os.getuid()).pw_dir  # where its tools are; the tests have a home of their own
        env = {"CARGO_HOME": f"{home}/.cargo", "RUSTUP_HOME": f"{home}/.rustup"} | os.environ
        words = ["cargo", "build", "--offline", "-q"]
        done = subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, check=False)
        if done.returncode:
            pytest.skip("cargo finds no toolchain here")
        made = tmp_path / "target"
    assert is_derived(str(made))
    hand(made / "notes.md")
    assert not is_derived(str(made))


# commits that only a reflog has


def amended(tree: Path) -> str:
    """A commit that nothing but the log of this worktree's HEAD remembers."""
    git(tree, "checkout", "-q", "--detach")
    commit(tree, "more")
    forgotten = git(tree, "rev-parse", "HEAD")
    git(tree, "checkout", "-q", "side")
    return forgotten


def test_a_commit_that_only_a_worktrees_reflog_has_is_given_a_ref_at_the_deed(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    forgotten = amended(tree)
    status, envelope = answer("worktrees", "proof", str(tree))
    assert (status, envelope["data"]["reason"]) == (2, "unreached")
    assert forgotten[:12] in envelope["data"]["detail"]
    assert "refs/tmpwarden" not in git(tmp_path / "project", "for-each-ref")
    assert lost(tree) == (f"commits that only the reflog of this worktree has ({forgotten[:12]})",)
    before = shapes.snapshot(tree)
    (gone,) = data("worktrees", "clean", "-y", str(tree))["removed"]
    git(tmp_path / "project", "reflog", "expire", "--expire=now", "--all")
    git(tmp_path / "project", "gc", "-q", "--prune=now")
    assert git(tmp_path / "project", "rev-parse", gone["reference"]) == forgotten
    data("undo", gone["receipt"])
    assert shapes.snapshot(tree) == before


def test_what_the_log_of_its_branch_remembers_is_given_a_ref_only_if_the_branch_goes(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    commit(tree, "more")
    forgotten = git(tree, "rev-parse", "HEAD")
    git(tree, "reset", "-q", "--hard", "HEAD~1")
    assert data("worktrees", "proof", str(tree))["verdict"] == "remove"
    before = shapes.snapshot(tree)
    (gone,) = data("worktrees", "clean", "-y", "--branches", str(tree))["removed"]
    assert (gone["branch_deleted"], git(tmp_path / "project", "rev-parse", gone["reference"])) == ("side", forgotten)
    data("undo")
    assert git(tree, "status", "--porcelain") == ""
    assert before["refs"] == git(tree, "for-each-ref")
