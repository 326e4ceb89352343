"""What the guard sees of the disk: parents as the kernel walks them, and names whose effect nobody can tell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.mounts import needs_root
from tmpwarden.oskit.files.disk import Disk


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    real = tmp_path.resolve()
    for name in ("a/b", "out/deep"):
        (real / name).mkdir(parents=True)
    (real / "a" / "file").write_text("x")
    (real / "a" / "link").symlink_to(real / "out" / "deep")
    (real / "a" / "relative").symlink_to("../out")
    (real / "a" / "dangling").symlink_to(real / "none" / "x")
    (real / "a" / "loop").symlink_to("loop")
    os.link(real / "a" / "file", real / "out" / "twin")
    return real


@pytest.mark.parametrize(
    ("path", "parent", "exists"),
    [
        ("a/file", "a", True),
        ("a/new", "a", False),
        ("a/link", "a", True),
        ("a/link/x", "out/deep", False),
        ("a/link/../x", "out", False),
        ("a/relative/deep/x", "out/deep", False),
        ("a/dangling/x", "none/x", False),
        ("a/none/more/x", "a/none/more", False),
        ("a/./b//x", "a/b", False),
    ],
)
def test_a_parent_is_where_the_kernel_would_walk(tree: Path, path: str, parent: str, exists: bool) -> None:
    assert Disk().look(f"{tree}/{path}") == (f"{tree}/{parent}", exists)


@pytest.mark.parametrize("path", ["a/loop/x", "a/file/.", "out/twin/_", "a/x\0y"])
def test_what_cannot_be_told_is_not_guessed(tree: Path, path: str) -> None:
    assert Disk().look(f"{tree}/{path}")[0] is None


def test_it_agrees_with_realpath(tree: Path) -> None:
    for path in ("a/link/x", "a/relative/../a/b/y", "a/dangling/z", "a/b/../../out/q", "/"):
        full = os.path.join(tree, path)
        assert Disk().look(f"{full}/_")[0] == os.path.realpath(full)


@needs_root
def test_where_mounts_cannot_be_told_there_may_be_one(tmp_path: Path) -> None:
    source = "import sys; from tmpwarden.oskit.files.disk import Disk; print(Disk().holds_mount(sys.argv[1]))"
    words = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    words += [sys.executable, "-c", source, str(tmp_path)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "True\n"
