"""A worktree on another mount than the state directory, or on a bind mount, goes where undo can bring it back from."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.command import answer, data
from support.litter import in_quarantine, later
from support.mounts import needs_root
from tmpwarden.oskit.files import same_mount
from tmpwarden.sweep.compose import clean
from worktrees import shapes

pytestmark = needs_root


@pytest.fixture(params=["tmpfs", "bind"])
def elsewhere(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    place, source = tmp_path / "elsewhere", tmp_path / "source"
    place.mkdir()
    source.mkdir()
    words = ["--bind", str(source)] if request.param == "bind" else ["-t", "tmpfs", "tmpfs"]
    subprocess.run(["mount", *words, str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_it_waits_on_its_own_mount_and_comes_back(elsewhere: Path) -> None:
    tree = shapes.with_derived_files(elsewhere)
    before = shapes.snapshot(tree)
    data("worktrees", "clean", "-y", str(tree))
    assert not tree.exists()
    (stored,) = (elsewhere / f"tmpwarden-{os.geteuid()}" / "q").glob("*/node_modules")
    assert same_mount.mount_id(str(stored)) == same_mount.mount_id(str(elsewhere))
    data("undo")
    assert shapes.snapshot(tree) == before


def test_its_quarantine_expires_like_every_other(
    elsewhere: Path, own_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMPWARDEN_ROOTS")
    monkeypatch.setattr("tmpwarden.oskit.files.places._COMMON_ROOTS", ())
    data("worktrees", "clean", "-y", str(shapes.plain(elsewhere)))
    quarantine = elsewhere / f"tmpwarden-{os.geteuid()}" / "q"
    assert len(in_quarantine(quarantine.parents[1])) == 2
    clean(now_ns=later(25))
    assert list(quarantine.iterdir()) == []


def test_one_with_something_mounted_in_it_stays(tmp_path: Path) -> None:
    tree = shapes.plain(tmp_path)
    (tree / "node_modules").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(tree / "node_modules")], check=True)
    try:
        status, envelope = answer("worktrees", "proof", str(tree))
        assert (status, envelope["data"]["reason"]) == (2, "in-use")
        assert data("worktrees", "clean", "-y", str(tree))["removed"] == []
    finally:
        subprocess.run(["umount", str(tree / "node_modules")], check=True)


def test_what_turns_out_to_lie_on_another_mount_is_not_removed_where_it_is(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No undo without a rename: not even a wrong guess about mounts may cost a worktree."""
    tree = shapes.plain(elsewhere)
    before = shapes.snapshot(tree)
    monkeypatch.setattr(same_mount, "mount_id", lambda path: 1)
    status, envelope = answer("worktrees", "clean", "-y", str(tree))
    assert (status, envelope["data"]["removed"]) == (2, [])
    assert shapes.snapshot(tree) == before
