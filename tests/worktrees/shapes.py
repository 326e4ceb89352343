"""Real repositories with one worktree (or clone) of a known shape each, and everything git and the disk say of them."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from support import makers
from support.repos import commit, git

URL = "https://git.example/origin.git"
Shape = Callable[[Path], Path]  # makes it below a directory; the path of the checkout


def project(place: Path, *options: str) -> Path:
    """A repository that a user works in; what it has on main is published."""
    main = place / "project"
    main.mkdir(parents=True)
    if options:
        return made(main, *options)
    if not _files:
        made(main, "--template=")
        _files.update({path.relative_to(main): _content(path) for path in main.rglob("*")})
        return main
    for name, (mode, content) in _files.items():
        (main / name).mkdir() if content is None else (main / name).write_bytes(content)
        (main / name).chmod(mode)
    git(main, "update-index", "-q", "--refresh")
    return main


_files: dict[Path, tuple[int, bytes | None]] = {}  # of the first project; git would be started eight times for each


def _content(path: Path) -> tuple[int, bytes | None]:
    return path.stat().st_mode & 0o777, None if path.is_dir() else path.read_bytes()


def made(main: Path, *options: str) -> Path:
    git(main, "init", "-q", "-b", "main", *options)
    commit(main, "file", "1\n2\n3\n")
    (main / "package.json").write_text("{}")
    git(main, "add", "package.json")
    commit(main, ".gitignore", "node_modules/\n.env\n*.local\n*.sqlite\n__pycache__/\n")
    git(main, "remote", "add", "origin", URL)
    publish(main)
    return main


def publish(main: Path) -> None:
    git(main, "update-ref", "refs/remotes/origin/main", "main")


def worktree(main: Path, name: str = "side", *options: str) -> Path:
    tree = main.parent / "trees" / name
    git(main, "worktree", "add", "-q", *(options or ("-b", name)), str(tree))
    return tree


def plain(place: Path) -> Path:
    return worktree(project(place))


def with_derived_files(place: Path) -> Path:
    tree = plain(place)
    commit(tree, "a.py", "x = 1\n")
    makers.compiled(tree / "a.py")
    makers.npm(tree)
    return tree


def squash_merged(place: Path) -> Path:
    main = project(place)
    tree = worktree(main)
    commit(tree, "one")
    commit(tree, "two")
    git(main, "merge", "-q", "--squash", "side")
    git(main, "commit", "-qm", "both at once")
    commit(main, "later")
    publish(main)
    return tree


def grown_apart(place: Path) -> tuple[Path, Path]:
    main = project(place)
    tree = worktree(main)
    commit(tree, "one")
    commit(main, "meanwhile")
    return main, tree


def rebased(place: Path) -> Path:
    main, tree = grown_apart(place)
    git(main, "branch", "copy", "side")
    git(main, "rebase", "-q", "main", "copy")
    git(main, "checkout", "-q", "main")
    git(main, "merge", "-q", "--ff-only", "copy")
    git(main, "branch", "-q", "-D", "copy")
    publish(main)
    return tree


def cherry_picked(place: Path) -> Path:
    main, tree = grown_apart(place)
    git(main, "cherry-pick", "side")
    publish(main)
    return tree


def unmerged(place: Path) -> Path:
    tree = plain(place)
    commit(tree, "one")
    return tree


def detached(place: Path) -> Path:
    return worktree(project(place), "side", "--detach")


def detached_with_commits(place: Path) -> Path:
    tree = detached(place)
    commit(tree, "one")
    return tree


def shallow(place: Path) -> Path:
    main = project(place)
    git(place, "clone", "-q", "--depth=1", f"file://{main}", "shallow")
    git(place / "shallow", "remote", "set-url", "origin", URL)
    return worktree(place / "shallow")


def partial(place: Path) -> Path:
    main = project(place)
    git(main, "config", "uploadpack.allowFilter", "true")
    git(place, "clone", "-q", "--filter=blob:none", f"file://{main}", "partial")
    tree = worktree(place / "partial")
    git(place / "partial", "remote", "set-url", "origin", URL)
    return tree


def with_submodule(place: Path) -> Path:
    main = project(place)
    library = project(place / "library")
    git(main, "submodule", "add", "-q", str(library), "sub")
    git(main, "commit", "-qm", "sub")
    publish(main)
    tree = worktree(main)
    git(tree, "submodule", "update", "-q", "--init")
    git(tree / "sub", "remote", "set-url", "origin", URL)
    return tree


def with_work_in_a_submodule(place: Path) -> Path:
    tree = with_submodule(place)
    commit(tree / "sub", "more")
    git(tree, "add", "sub")
    git(tree, "commit", "-qm", "newer sub")
    return tree


def with_lfs(place: Path) -> Path:
    """A pointer in the index, the content in the tree, as `git lfs checkout` leaves it."""
    main = project(place)
    content = b"large" * 1000
    digest = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(content)}\n"
    (main / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    commit(main, "large.bin", pointer)
    git(main, "add", ".gitattributes")
    git(main, "commit", "-qm", "lfs")
    publish(main)
    tree = worktree(main)
    filter_program = place / "lfs-clean"
    filter_program.write_text(f"#!/bin/sh\ntouch {place}/lfs-was-run\ncat > /dev/null\nprintf '{pointer}'\n")
    filter_program.chmod(0o755)
    git(main, "config", "filter.lfs.clean", str(filter_program))
    git(main, "config", "filter.lfs.required", "true")
    (tree / "large.bin").write_bytes(content)
    return tree


def sparse(place: Path) -> Path:
    main = project(place)
    (main / "kept").mkdir()
    (main / "left").mkdir()
    commit(main, "kept/a")
    commit(main, "left/b")
    publish(main)
    tree = worktree(main)
    git(tree, "sparse-checkout", "set", "kept")
    return tree


def of_a_bare_repository(place: Path) -> Path:
    main = project(place)
    git(place, "clone", "-q", "--bare", str(main), "bare.git")
    return worktree(place / "bare.git")


def sha256(place: Path) -> Path:
    return worktree(project(place, "--object-format=sha256"))


def with_a_read_only_directory(place: Path) -> Path:
    main = project(place)
    (main / "deep").mkdir()
    commit(main, "deep/a")
    publish(main)
    tree = worktree(main)
    (tree / "deep").chmod(0o500)
    return tree


def plain_with(place: Path, name: str, text: str = "x") -> Path:
    tree = plain(place)
    (tree / name).write_text(text)
    return tree


def modified(place: Path) -> Path:
    return plain_with(place, "file", "changed")


def staged(place: Path) -> Path:
    tree = modified(place)
    git(tree, "add", "file")
    return tree


def untracked(place: Path) -> Path:
    return plain_with(place, "new\nname")


def with_an_env_file(place: Path) -> Path:
    return plain_with(place, ".env", "KEY=1")


def with_a_database(place: Path) -> Path:
    return plain_with(place, "data.sqlite")


def with_local_settings(place: Path) -> Path:
    return plain_with(place, "settings.local")


def stashed(place: Path) -> Path:
    tree = modified(place)
    git(tree, "stash", "-q")
    return tree


def locked(place: Path) -> Path:
    tree = plain(place)
    git(tree, "worktree", "lock", "--reason", "agent 4711", ".")
    return tree


def rebasing(place: Path) -> Path:
    tree = plain(place)
    (Path(git(tree, "rev-parse", "--absolute-git-dir")) / "rebase-merge").mkdir()
    return tree


def corrupt_index(place: Path) -> Path:
    tree = plain(place)
    (Path(git(tree, "rev-parse", "--absolute-git-dir")) / "index").write_bytes(b"DIRC" + b"\xff" * 40)
    return tree


def missing_objects(place: Path) -> Path:
    tree = detached_with_commits(place)
    shutil.rmtree(place / "project" / ".git" / "objects" / git(tree, "rev-parse", "HEAD")[:2])
    return tree


def broken_ref(place: Path) -> Path:
    tree = plain(place)
    (place / "project" / ".git" / "refs" / "heads" / "broken").write_text("")
    return tree


def lost_repository(place: Path) -> Path:
    tree = plain(place)
    shutil.rmtree(place / "project")
    return tree


def clone_with_everything_published(place: Path) -> Path:
    main = project(place)
    git(place, "clone", "-q", str(main), "clone")
    git(place / "clone", "remote", "set-url", "origin", URL)
    return place / "clone"


def clone_with_commits(place: Path) -> Path:
    clone = clone_with_everything_published(place)
    commit(clone, "more")
    return clone


def snapshot(tree: Path) -> dict[str, object]:
    """All that must be bit for bit the same after it came back."""
    return {
        "status": git(tree, "status", "--porcelain=v2", "--branch", "--ignored"),
        "refs": git(tree, "for-each-ref"),
        "stash": git(tree, "stash", "list"),
        "listed": git(tree, "worktree", "list", "--porcelain"),
        "files": hashes(tree),
        "entry": hashes(Path(git(tree, "rev-parse", "--absolute-git-dir"))),
    }


def hashes(directory: Path) -> dict[str, tuple[int, str]]:
    found = {}
    for path in sorted(directory.rglob("*")):
        mode = path.lstat().st_mode
        content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        content = os.fsencode(os.readlink(path)) if path.is_symlink() else content
        found[os.fsencode(path.relative_to(directory)).hex()] = (mode, hashlib.sha256(content).hexdigest())
    return found
