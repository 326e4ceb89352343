"""Locks of processes that ended, copies of the main checkout's files and droppings keep no worktree; what only looks
like one of these does."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.command import answer, data
from support.holding import ended_pid, process
from support.mounts import needs_root
from support.repos import git
from tmpwarden.cli.commands import worktrees
from tmpwarden.leases import scratch
from tmpwarden.model.belongings import Lease
from tmpwarden.oskit.proc import namespaces, procs
from worktrees import shapes

UNUSED = 4_000_000  # above what the kernel gives here, or free


def proof(tree: Path) -> tuple[str, str]:
    told = answer("worktrees", "proof", str(tree))[1]["data"]
    return told["reason"], told["detail"]


def is_taken(tree: Path) -> bool:
    data("worktrees", "clean", "-y", str(tree))
    return not tree.exists()


def locked(place: Path, reason: str) -> Path:
    tree = shapes.plain(place)
    git(tree, "worktree", "lock", "--reason", reason, ".")
    return tree


# Locks


def test_a_lock_ends_with_the_process_that_it_names_and_comes_back_with_undo(tmp_path: Path) -> None:
    tree = locked(tmp_path, f"claude agent agent-a1 (pid {ended_pid()} start 4711)")
    before = shapes.snapshot(tree)
    assert proof(tree)[0] == "nothing-to-lose"
    assert is_taken(tree)
    data("undo")
    assert shapes.snapshot(tree) == before


def test_a_lock_of_a_living_process_keeps(tmp_path: Path) -> None:
    with process("") as agent:
        found = procs.process(agent.pid)
        assert found
        tree = locked(tmp_path, f"claude session side (pid {agent.pid} start {found.start})")
        assert proof(tree) == ("locked", f"{lock_of(tree)} (that process is running)")
        assert not is_taken(tree)


def test_a_number_that_another_process_has_now_is_no_owner(tmp_path: Path) -> None:
    with process("") as other:
        tree = locked(tmp_path, f"claude session side (pid {other.pid} start 1)")
        assert is_taken(tree)


@pytest.mark.parametrize(
    "reason",
    [
        "claude agent agent-a1 (pid {gone})",
        "claude-code PID {gone}",
        "openclaw pid={gone}",
        "my own: (pid {gone} start 4711) keep it",
        "backup of claude agent x (pid {gone} start 4711)",
        "claude agent x (pid {gone} start yesterday)",
        "claude agent x (pid {gone} start 4711), and I want it",
    ],
)
def test_a_lock_without_a_start_or_in_other_words_stays_and_says_what_to_check(tmp_path: Path, reason: str) -> None:
    gone = ended_pid()
    tree = locked(tmp_path, reason.format(gone=gone))
    why, detail = proof(tree)
    assert why == "locked"
    assert f"process {gone} is not running" in detail
    assert f"git worktree unlock {tree}" in detail
    assert not is_taken(tree)


def test_a_lock_of_no_process_stays(tmp_path: Path) -> None:
    assert proof(locked(tmp_path, "mine")) == ("locked", "locked: mine")
    assert not is_taken(tmp_path / "trees" / "side")


@needs_root
def test_a_lock_of_a_process_in_a_container_keeps(tmp_path: Path) -> None:
    """The agent wrote the number that it has in there: here another process has it, or none."""
    inside = subprocess.Popen(["unshare", "--pid", "--fork", "--kill-child", "sleep", "100"], stdout=subprocess.DEVNULL)
    try:
        tree = locked(tmp_path, "claude agent agent-a1 (pid 1 start 4711)")
        while not Path(f"/proc/{inside.pid}/task/{inside.pid}/children").read_text():
            assert inside.poll() is None
        assert "could not be checked" in proof(tree)[1]
        assert not is_taken(tree)
    finally:
        inside.kill()
        inside.wait()


def test_a_pid_namespace_that_our_lease_noted_counts(tmp_path: Path, own_world: Path) -> None:
    gone = ended_pid()
    lease = Lease(
        path="", agent="claude", session="s1", pid=gone, start=4711, boot=namespaces.boot_id(),
        machine=namespaces.machine_id(), pidns="pid:[4026539999]", created=1.0,
    )  # fmt: skip
    note(lease, own_world / "tmp")
    tree = locked(tmp_path, f"claude agent agent-a1 (pid {gone} start 4711)")
    assert "could not be checked" in proof(tree)[1]
    assert not is_taken(tree)


def note(lease: Lease, root: Path) -> None:
    """As a session's start leaves it."""
    from tmpwarden.leases import lease_files
    from tmpwarden.oskit.files import own_dirs

    base = root / f"tmpwarden-{os.geteuid()}"
    own_dirs.make_private_dir(str(base))
    lease.path = str(base / "0a1b2c3d")
    (base / "0a1b2c3d").mkdir(mode=0o700)
    lease_files.write(lease)
    assert [each.pid for each in scratch.read_all((str(root),))] == [lease.pid]


def lock_of(tree: Path) -> str:
    own = Path(git(tree, "rev-parse", "--absolute-git-dir"))
    return f"locked: {(own / 'locked').read_text().rstrip()}"


# Copies


def with_copies(place: Path) -> tuple[Path, Path]:
    """(main checkout, worktree): the same `.env` and settings in both, as `.worktreeinclude` copies them."""
    tree = shapes.plain(place)
    main = place / "project"
    for top in (main, tree):
        (top / ".env").write_text("KEY=1\n")
        (top / ".claude").mkdir()
        (top / ".claude" / "settings.local").write_text("{}")
        (top / ".claude" / "agent.local").write_bytes(bytes(range(256)) * 9000)
    return main, tree


def test_copies_of_the_main_checkouts_files_keep_nothing_and_come_back(tmp_path: Path) -> None:
    main, tree = with_copies(tmp_path)
    before = shapes.snapshot(tree)
    assert proof(tree)[0] == "nothing-to-lose"
    assert is_taken(tree)
    assert (main / ".env").read_text() == "KEY=1\n"
    data("undo")
    assert shapes.snapshot(tree) == before


def differs(main: Path, tree: Path) -> None:
    (tree / ".env").write_text("KEY=2\n")


def differs_at_its_end(main: Path, tree: Path) -> None:
    with (tree / ".claude" / "agent.local").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"x")


def is_not_there(main: Path, tree: Path) -> None:
    (main / ".env").unlink()


def is_a_link_in_the_main_checkout(main: Path, tree: Path) -> None:
    (main / ".env").unlink()
    (main / ".env").symlink_to(tree / ".env")


def is_a_link_in_the_worktree(main: Path, tree: Path) -> None:
    (tree / ".env").unlink()
    (tree / ".env").symlink_to(main / ".env")


def is_a_hard_link(main: Path, tree: Path) -> None:
    (main / ".env").unlink()
    (main / ".env").hardlink_to(tree / ".env")


def has_a_link_on_the_way(main: Path, tree: Path) -> None:
    shutil.rmtree(main / ".claude")
    (main / ".claude").symlink_to(tree / ".claude")


def is_a_fifo(main: Path, tree: Path) -> None:
    (main / ".env").unlink()
    os.mkfifo(main / ".env")


def is_untracked_and_not_ignored(main: Path, tree: Path) -> None:
    for top in (main, tree):
        (top / "notes").write_text("the same")


def has_a_main_checkout_that_is_bare(main: Path, tree: Path) -> None:
    git(main, "config", "core.bare", "true")


@pytest.mark.parametrize(
    "change",
    [
        differs, differs_at_its_end, is_not_there, is_a_link_in_the_main_checkout, is_a_link_in_the_worktree,
        is_a_hard_link, has_a_link_on_the_way, is_a_fifo, is_untracked_and_not_ignored,
        has_a_main_checkout_that_is_bare,
    ],
)  # fmt: skip
def test_what_is_no_copy_keeps(tmp_path: Path, change: Callable[[Path, Path], None]) -> None:
    main, tree = with_copies(tmp_path)
    change(main, tree)
    assert proof(tree)[0] in ("ignored-files", "dirty", "uninspectable")
    assert not is_taken(tree)


def test_a_file_that_differs_is_named(tmp_path: Path) -> None:
    main, tree = with_copies(tmp_path)
    differs(main, tree)
    assert proof(tree) == (
        "ignored-files",
        "1 ignored file that cannot be created again: .env (the main checkout's differs)",
    )


def test_a_main_checkout_in_a_temp_root_is_no_copy_that_lasts(own_world: Path) -> None:
    _, tree = with_copies(own_world / "tmp" / "x")
    assert proof(tree)[0] == "ignored-files"
    assert not is_taken(tree)


def test_a_main_checkout_in_the_worktree_goes_with_it(tmp_path: Path) -> None:
    main, tree = with_copies(tmp_path)
    shutil.move(main, tree / "project.local")
    git(tree / "project.local", "worktree", "repair", str(tree))
    assert not is_taken(tree)


@needs_root
@pytest.mark.parametrize("where", [".claude", ".env"])
def test_a_mount_of_the_worktrees_own_files_is_no_copy(tmp_path: Path, where: str) -> None:
    main, tree = with_copies(tmp_path)
    subprocess.run(["mount", "--bind", str(tree / where), str(main / where)], check=True)
    try:
        assert not is_taken(tree)
    finally:
        subprocess.run(["umount", str(main / where)], check=True)


@needs_root
def test_an_overlay_over_the_worktrees_own_files_is_no_copy(tmp_path: Path) -> None:
    """The same file under another device and number."""
    main, tree = with_copies(tmp_path)
    (tmp_path / "empty").mkdir()
    lower = f"lowerdir={tree / '.claude'}:{tmp_path / 'empty'}"
    done = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", lower, str(main / ".claude")], check=False)
    if done.returncode:
        pytest.skip("this kernel mounts no overlay here")
    try:
        assert proof(tree)[0] == "ignored-files"
        assert not is_taken(tree)
    finally:
        subprocess.run(["umount", str(main / ".claude")], check=True)


def test_a_copy_that_changes_between_the_question_and_the_deed_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main, tree = with_copies(tmp_path)
    real = worktrees.remove

    def goes_on(*arguments: Any, **options: Any) -> object:
        (main / ".env").write_text("KEY=3\n")
        return real(*arguments, **options)

    monkeypatch.setattr(worktrees, "remove", goes_on)
    told = data("worktrees", "clean", "-y", str(tree))
    assert told["removed"] == []
    assert (tree / ".env").read_text() == "KEY=1\n"


# Droppings


def test_droppings_of_programs_keep_nothing(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    (tree / "deep").mkdir()
    (tree / "deep" / ".DS_Store").write_bytes(b"\0\0\0\1Bud1" + bytes(100))
    (tree / ".metadata_never_index").touch()
    (tree / "tmpclaude-1a2b-cwd").write_text("/home/me/project\n")
    (tree / ".bashrc").touch()
    (tree / ".bashrc").chmod(0o444)
    before = shapes.snapshot(tree)
    assert is_taken(tree)
    data("undo")
    assert shapes.snapshot(tree) == before


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".DS_Store", b"my notes"),
        (".metadata_never_index", b"x"),
        ("tmpclaude-1a2b-cwd", b"not a path\nbut two lines"),
        (".bashrc", b""),  # not read-only: no mount point
        ("deep/.bashrc", b""),
        (".DS_Store.txt", b"\0\0\0\1Bud1"),
    ],
)
def test_what_only_has_the_name_of_a_dropping_keeps(tmp_path: Path, name: str, content: bytes) -> None:
    tree = shapes.plain(tmp_path)
    (tree / name).parent.mkdir(exist_ok=True)
    (tree / name).write_bytes(content)
    assert proof(tree)[0] == "dirty"
    assert not is_taken(tree)


def test_a_link_or_a_second_name_is_no_dropping(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    (tree / "a").mkdir()
    (tmp_path / "store").write_bytes(b"\0\0\0\1Bud1")
    (tree / "a" / ".DS_Store").symlink_to(tmp_path / "store")
    assert not is_taken(tree)
    (tree / "a" / ".DS_Store").unlink()
    (tree / "a" / ".DS_Store").hardlink_to(tmp_path / "store")
    assert not is_taken(tree)
