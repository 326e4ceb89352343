"""How full a file system is, as df says it."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from support.mounts import ext4, fill_bytes, fill_inodes, mounted, needs_root, tmpfs
from tmpwarden.model.sweep import Space
from tmpwarden.oskit.files.space import percent_of_bytes, percent_of_inodes, percent_of_quota, percent_used, space_of


@needs_root
def test_a_tmpfs_is_memory_and_counts_bytes_and_inodes(tmp_path: Path) -> None:
    with tmpfs(tmp_path / "sp ace", size="4m", inodes=200) as point:
        before = space_of(str(point))
        assert (before.filesystem, before.memory_backed, before.bytes_total) == ("tmpfs", True, 4 << 20)
        fill_bytes(point)
        assert percent_used(space_of(str(point))) == 100
        (point / "filler").unlink()
        assert percent_used(space_of(str(point))) == 1, "the inode of the root itself, rounded up"
        fill_inodes(point)
        full = space_of(str(point))
        assert full.inodes_free == 0 and percent_used(full) == 100


@needs_root
def test_an_ext4_is_told_from_a_directory_inside_it(tmp_path: Path) -> None:
    with ext4(tmp_path / "m", tmp_path / "image") as point:
        (point / "a" / "b").mkdir(parents=True)
        seen = space_of(str(point / "a" / "b"))
        assert (seen.filesystem, seen.memory_backed, seen.quota_bytes) == ("ext4", False, None)


def df(point: Path) -> tuple[int, int]:
    words = ["df", "--output=pcent,ipcent", str(point)]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")[1].split()
    return int(told[0].rstrip("%")), int(told[1].rstrip("%"))


@needs_root
@pytest.mark.parametrize("reserved", [0, 5, 30])
@pytest.mark.parametrize("filled", [0, 3, 9, 64])
def test_percentages_are_those_of_df_where_blocks_are_reserved_too(tmp_path: Path, reserved: int, filled: int) -> None:
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(16 << 20)
    words = ["mkfs.ext4", "-q", "-F", "-m", str(reserved), str(image)]
    subprocess.run(words, check=True, capture_output=True)
    with mounted(tmp_path / "m", "-o", "loop", str(image)) as point:
        with contextlib.suppress(OSError), (point / "big").open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, filled << 20)
        found = space_of(str(point))
        assert (percent_of_bytes(found), percent_of_inodes(found)) == df(point)


@needs_root
def test_a_quota_counts_where_the_kernel_keeps_one(tmp_path: Path) -> None:
    options = "size=8m,usrquota,usrquota_block_hardlimit=2m,usrquota_inode_hardlimit=50"
    try:
        quota = mounted(tmp_path / "q", "-t", "tmpfs", "-o", options, "tmpfs")
        point = quota.__enter__()
    except Exception:
        pytest.skip("this kernel has no quota on tmpfs")
    try:
        source = (
            "import os, sys; os.setuid(65534)\nopen(sys.argv[1] + '/f', 'wb').write(b'x' * (1 << 20))\n"
            "from tmpwarden.oskit.files.space import *\ns = space_of(sys.argv[1])\n"
            "print(s.quota_bytes, s.quota_used, s.quota_inodes, s.quota_inodes_used, percent_of_quota(s))"
        )
        assert _as_nobody(source, str(point)) == "2097152 1048576 50 1 50\n"
    finally:
        quota.__exit__(None, None, None)


def _as_nobody(source: str, *args: str) -> str:
    """In a forked child that has our modules loaded already: uid 65534 cannot read this repository."""
    import sys

    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(writable, 1)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            sys.argv = ["-c", *args]
            exec(source, {})
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as file:
        text = file.read()
    os.waitpid(child, 0)
    return text


def space(**changes: int | None) -> Space:
    plain = {"bytes_total": 1000, "bytes_free": 1000, "inodes_total": 100, "inodes_free": 100}
    return Space(path="/", filesystem="ext4", memory_backed=False, **{**plain, **changes})  # type: ignore[arg-type]


def test_the_fullest_of_the_three_counts() -> None:
    assert percent_used(space(bytes_free=190)) == 81
    assert percent_used(space(inodes_free=5)) == 95
    assert percent_used(space(quota_bytes=100, quota_used=88)) == 88
    assert percent_used(space(quota_bytes=100, quota_used=8, quota_inodes=10, quota_inodes_used=9)) == 90
    assert percent_used(space(inodes_total=0, inodes_free=0, bytes_total=0, bytes_free=0)) == 0
    assert percent_of_quota(space()) is None


def test_a_missing_path_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        space_of("/nowhere/at/all")
